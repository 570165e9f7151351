// Balances of users: every change is a log row, written in the transaction that changes the balance.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { transact } from '../../lib/database/db.js';
import { isDuplicate } from '../../lib/database/errors.js';
import { fail } from '../../lib/errors/app-error.js';
import type { Money } from '../../lib/values/money.js';
import { announce } from '../../lib/redis/changes.js';
import type { Identity } from '../access/identity.js';
import { columnsOf, selection } from '../tables/selection.js';
import { insertRow, updateRows } from '../tables/rows.js';
import { findRequest, type BalanceLogRecord } from './balance-log.js';
import { BalanceLog, User, type BalanceChangeType } from './tables.js';

export interface BalanceChange {
  /** Above zero. Incomes and refunds add to the balance, expenses subtract. */
  amount: Money;
  type: BalanceChangeType;
  /** What caused it, such as `manual` or `refund`. */
  source: string;
  source_id?: string | null;
  description?: string | null;
  /** The same id never applies twice. */
  request_id?: string;
}

interface BalanceChanged {
  balance: Money;
  log: BalanceLogRecord;
}

/**
 * Changes the balance of a user, even a disabled one. A request_id applies once, however often it is sent: repeats get
 * the first answer.
 *
 * @throws user_not_found, insufficient_balance, balance_limit_exceeded
 * @throws request_id_reused when the id was used for another change
 */
export async function changeBalance(
  userId: number,
  wanted: BalanceChange,
  operator: Operator,
): Promise<BalanceChanged> {
  const at = now();
  try {
    const log = await transact((t) => applyChange(userId, wanted, operator, at, t));
    announce(['user_balance_logs']);
    return changed(log);
  } catch (error) {
    // Concurrent requests for two users under one request_id: the unique key lets one through.
    if (!isDuplicate(error, 'uq_user_balance_logs_request')) throw error;
    return changed((await appliedBefore(userId, wanted)) ?? fail('internal_error', { cause: error }));
  }
}

/** The same within the caller's transaction. */
export async function applyChange(
  userId: number,
  wanted: BalanceChange,
  operator: Operator,
  at: Date,
  t: Transaction,
): Promise<BalanceLogRecord> {
  const user = await owners.first(
    'WHERE u.id = :userId AND u.deleted_at IS NULL FOR UPDATE',
    { userId },
    { t },
  );
  // Checked under the lock: an equal request has committed by then, or waits for it.
  const earlier = await appliedBefore(userId, wanted, t);
  if (earlier) return earlier;
  if (!user) fail('user_not_found');
  const before = user.balance;
  const after = wanted.type === 'expense' ? before.minus(wanted.amount) : before.plus(wanted.amount);
  if (after.isNegative) fail('insufficient_balance');
  if (!after.withinLimit) fail('balance_limit_exceeded');
  const { type, amount, source, source_id, description, request_id = null } = wanted;
  const log = {
    user_id: userId,
    type,
    amount,
    balance_before: before,
    balance_after: after,
    source,
    source_id: source_id || null,
    description: description || null,
    operator_id: operator.adminId,
    request_id,
    created_at: at,
  };
  const id = await insertRow(BalanceLog, log, t);
  await updateRows(User, { balance: after, updated_at: at }, { id: userId }, t);
  const by = { id: operator.adminId, username: operator.username };
  return { id, ...log, user: { id: userId, username: user.username }, operator: by };
}

const owners = selection(columnsOf(User, 'u', 'username', 'balance'), 'users u');

export const changed = (log: BalanceLogRecord): BalanceChanged => ({ balance: log.balance_after, log });

/** The administrator who acts. */
export type Operator = Pick<Identity, 'adminId' | 'username'>;

async function appliedBefore(
  userId: number,
  wanted: BalanceChange,
  t?: Transaction,
): Promise<BalanceLogRecord | undefined> {
  if (wanted.request_id === undefined) return undefined;
  const log = await findRequest(wanted.request_id, t);
  if (!log) return undefined;
  const isSame =
    log.user_id === userId &&
    log.type === wanted.type &&
    log.amount.equals(wanted.amount) &&
    log.source === wanted.source &&
    log.source_id === (wanted.source_id || null) &&
    log.description === (wanted.description || null);
  if (!isSame) fail('request_id_reused', { field: 'request_id' });
  return log;
}
