// users: the customers who place orders.
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { db, refuseDuplicates, select } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../lib/list-query.js';
import { Money } from '../lib/money.js';
import { hashPassword } from '../lib/password.js';
import { Totals } from './totals.js';

export interface UserFields {
  username: string;
  password?: string;
  nickname?: string | null;
  avatar?: string | null;
  email?: string | null;
  phone?: string | null;
  status?: number;
}

export interface UserFilter extends ListQuery {
  username?: string;
  nickname?: string;
  email?: string;
  phone?: string;
  status?: number;
}

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
export const userTotals = new Totals('users', 'users u');

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

  static async list(query: UserFilter, mark?: string): Promise<Page<UserRecord>> {
    const where = new Where()
      .and('u.deleted_at IS NULL')
      .contains('u.username', query.username)
      .contains('u.nickname', query.nickname)
      .contains('u.email', query.email)
      .contains('u.phone', query.phone)
      .equals('u.status', query.status)
      .during('u.created_at', query);
    const [rows, total] = await Promise.all([
      select<UserRow>(`${recordSql} ${where.sql} ${pageSql(query, 'u')}`, where.values),
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
    const user = await refuseDuplicates(User.create(columns), {
      uq_users_username: { slug: 'user_name_exists', field: 'username' },
    });
    await userTotals.changed();
    return user.id;
  }
}

db.addModels([User]);

interface UserRow extends Omit<UserRecord, 'balance'> {
  balance: string;
}

function toRecord({ balance, ...row }: UserRow): UserRecord {
  return { ...row, balance: Money.from(balance) };
}
