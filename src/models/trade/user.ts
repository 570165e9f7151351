// users: the customers who place orders.
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { blankToNull } from '../../lib/blank-to-null.js';
import { now } from '../../lib/clock.js';
import { change, db, refuseDuplicates, reports, select, transact } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page, type TimeRange } from '../../lib/list-query.js';
import { Money } from '../../lib/money.js';
import { hashPassword } from '../../lib/password.js';
import { Totals } from '../tables/totals.js';
import { announcing, changing } from '../tables/versions.js';

export interface UserFields {
  username: string;
  password?: string;
  nickname?: string | null;
  avatar?: string | null;
  email?: string | null;
  phone?: string | null;
  status?: number;
}

export interface UserCriteria extends TimeRange {
  username?: string;
  nickname?: string;
  email?: string;
  phone?: string;
  status?: number;
}

export type UserFilter = UserCriteria & ListQuery;

export const userSortable = [
  ...['id', 'username', 'nickname', 'balance', 'status', 'last_login_at', 'created_at', 'updated_at'],
] as const;

export interface UserRecord {
  id: number;
  username: string;
  nickname: string;
  avatar: string | null;
  email: string | null;
  phone: string | null;
  balance: Money;
  status: number;
  last_login_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

const recordSql = `SELECT u.id, u.username, u.nickname, u.avatar, u.email, u.phone, u.balance, u.status, u.last_login_at,
    u.created_at, u.updated_at
  FROM users u`;

/** Total of the user list. */
export const userTotals = new Totals({ table: 'users', scope: 'users', alias: 'u' });

@Table({ tableName: 'users', defaultScope: { attributes: { exclude: ['password_hash'] } } })
export class User extends Model {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: number;
  @Column(DataType.STRING(50)) declare username: string;
  @Column(DataType.STRING(100)) declare password_hash: string | null;
  @Column(DataType.STRING(50)) declare nickname: string;
  @Column(DataType.STRING(500)) declare avatar: string | null;
  @Column(DataType.STRING(100)) declare email: string | null;
  @Column(DataType.STRING(30)) declare phone: string | null;
  @Column(DataType.TINYINT) declare status: number;
  @Column(DataType.DATE(3)) declare created_at: Date;
  @Column(DataType.DATE(3)) declare updated_at: Date;
  @Column(DataType.DATE(3)) declare deleted_at: Date | null;

  static async list(query: UserFilter, mark?: string): Promise<Page<UserRecord>> {
    const where = usersWhere(query);
    const [rows, total] = await Promise.all([
      reports.select<UserRow>(`${recordSql} ${where.sql} ${pageSql(query, 'u')}`, where.values),
      userTotals.count(where, mark),
    ]);
    return toPage(query, rows.map(toRecord), total);
  }

  /** @throws user_not_found */
  static async record(id: number): Promise<UserRecord> {
    const [row] = await select<UserRow>(`${recordSql} WHERE u.id = ? AND u.deleted_at IS NULL`, [id]);
    return row ? toRecord(row) : fail('user_not_found');
  }

  static async register({ password, ...fields }: UserFields): Promise<number> {
    const password_hash = password === undefined ? null : await hashPassword(password);
    const columns = { ...fields, nickname: fields.nickname || fields.username, password_hash };
    return refuseDuplicates(
      announcing(['users'], () => transact(async (t) => (await User.create(columns, { transaction: t })).id)),
      duplicates,
    );
  }

  /** Changes only the fields given; an empty text clears a field, an empty nickname becomes the username. */
  static async revise(id: number, fields: Partial<Omit<UserFields, 'password'>>): Promise<void> {
    const columns = blankToNull(fields);
    await refuseDuplicates(
      changing(['users'], async (t) => {
        const user = await User.findOne({
          where: { id, deleted_at: null },
          lock: t.LOCK.UPDATE,
          transaction: t,
        });
        if (!user) fail('user_not_found');
        if (columns.nickname === null) columns.nickname = columns.username ?? user.username;
        await user.update(columns, { transaction: t });
      }),
      duplicates,
    );
  }

  /** Sets a new password. @throws user_not_found */
  static async resetPassword(id: number, password: string): Promise<void> {
    const changed = await change(
      'UPDATE users SET password_hash = ?, updated_at = ? WHERE id = ? AND deleted_at IS NULL',
      [await hashPassword(password), now(), id],
    );
    if (changed === 0) fail('user_not_found');
  }

  /**
   * Hides a user for good. Their name stays taken, because orders, logs and files name them by it; pending orders stay
   * payable until they expire. @throws user_has_balance while they own money
   */
  static async remove(id: number): Promise<void> {
    await changing(['users'], async (t) => {
      const [user] = await select<{ balance: string }>(
        'SELECT balance FROM users WHERE id = ? AND deleted_at IS NULL FOR UPDATE',
        [id],
        t,
      );
      if (!user) fail('user_not_found');
      if (Money.from(user.balance).cents !== 0n) fail('user_has_balance');
      await change('UPDATE users SET deleted_at = ? WHERE id = ?', [now(), id], t);
    });
  }
}

db.addModels([User]);

const duplicates = { uq_users_username: { slug: 'user_name_exists', field: 'username' } } as const;

/** The condition of a list over `users u`. */
export function usersWhere(criteria: UserCriteria): Where {
  return new Where()
    .and('u.deleted_at IS NULL')
    .contains('u.username', criteria.username)
    .contains('u.nickname', criteria.nickname)
    .contains('u.email', criteria.email)
    .contains('u.phone', criteria.phone)
    .equals('u.status', criteria.status)
    .during('u.created_at', criteria);
}

interface UserRow extends Omit<UserRecord, 'balance'> {
  balance: string;
}

function toRecord({ balance, ...row }: UserRow): UserRecord {
  return { ...row, balance: Money.from(balance) };
}
