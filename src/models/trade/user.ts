// users: the customers who place orders.
import type { Transaction } from 'sequelize';
import { blankToNull, status, textFilter } from '../../lib/input/schema.js';
import { now } from '../../lib/values/clock.js';
import { refuseDuplicates, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, Where, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { announce } from '../../lib/redis/changes.js';
import { hashPassword } from '../../lib/secrets/password.js';
import { type Fields, type Listed, listed } from '../tables/table.js';
import { columnsOf, selection } from '../tables/selection.js';
import { User } from './tables.js';

export type UserFields = Fields<
  User,
  'password_hash' | 'balance' | 'last_login_at' | 'deleted_at' | 'nickname'
> & {
  nickname?: string | null;
  password?: string;
};

export const userFilters = {
  username: textFilter(50),
  nickname: textFilter(50),
  email: textFilter(100),
  phone: textFilter(30),
  status: status(),
};

export type UserCriteria = Criteria<typeof userFilters>;

type UserFilter = UserCriteria & ListQuery;

/** The query of the list. */
export const userQuery = listQuery<UserFilter>(
  ['id', 'username', 'nickname', 'balance', 'status', 'last_login_at', 'created_at', 'updated_at'],
  userFilters,
);

type UserRecord = Listed<User>;

const users = selection(columnsOf(User, 'u'), 'users u');

export const listUsers = (query: UserFilter): Promise<Page<UserRecord>> =>
  users.page(query, usersWhere(query));

/** A user, locked in a transaction. @throws user_not_found */
export const getUser = async (id: number, t?: Transaction): Promise<UserRecord> =>
  listed(await getUserRow(id, t));

async function getUserRow(id: number, t?: Transaction): Promise<User> {
  const user = await User.findOne({ where: { id, deleted_at: null }, transaction: t, lock: t !== undefined });
  return user ?? fail('user_not_found');
}

export async function createUser({ password, ...fields }: UserFields): Promise<number> {
  const password_hash = password === undefined ? null : await hashPassword(password);
  const columns = { ...blankToNull(fields), nickname: fields.nickname || fields.username, password_hash };
  const id = await refuseDuplicates(
    transact(async (t) => (await User.create(columns, { transaction: t })).id),
    duplicates,
  );
  announce(['users']);
  return id;
}

/** Changes only the fields given; an empty text clears a field, an empty nickname becomes the username. */
export async function updateUser(id: number, fields: Partial<Omit<UserFields, 'password'>>): Promise<void> {
  const { nickname, ...columns } = blankToNull(fields);
  await refuseDuplicates(
    transact(async (t) => {
      const user = await getUserRow(id, t);
      const named = nickname ?? columns.username ?? user.username;
      await user.update(nickname === undefined ? columns : { ...columns, nickname: named }, {
        transaction: t,
      });
    }),
    duplicates,
  );
  announce(['users']);
}

/** Sets a new password. @throws user_not_found */
export async function resetUserPassword(id: number, password: string): Promise<void> {
  const password_hash = await hashPassword(password);
  await transact(async (t) => {
    const user = await getUserRow(id, t);
    await user.update({ password_hash }, { transaction: t });
  });
}

/**
 * Soft-deletes a user. The username stays taken, because orders, logs and files refer to it; pending orders stay
 * payable until they expire.
 *
 * @throws user_not_found; user_has_balance while the balance is not zero
 */
export async function deleteUser(id: number): Promise<void> {
  await transact(async (t) => {
    const user = await getUserRow(id, t);
    if (user.balance.cents !== 0n) fail('user_has_balance');
    await user.update({ deleted_at: now() }, { transaction: t });
  });
  announce(['users']);
}

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
