// Balances of users: every change is a log row, written in the transaction that changes the balance.
import type { Transaction } from 'sequelize';
import { now } from '../lib/clock.js';
import { change, insert, isDuplicate, select, transact } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { Money } from '../lib/money.js';
import { periodOf } from '../lib/numbers.js';
import { balanceLogTotals } from './balance-log.js';
import { userTotals } from './user.js';

export const balanceChangeTypes = ['income', 'expense', 'refund'] as const;

export type BalanceChangeType = (typeof balanceChangeTypes)[number];

export interface BalanceChange {
  /** Above zero. A refund gives money back to the user, as an income does; only an expense takes it. */
  amount: Money;
  type: BalanceChangeType;
  /** Where it comes from. */
  source: string;
  source_id?: string | null;
  description?: string | null;
  /** The same id never applies twice. */
  request_id?: string;
}

export interface BalanceChanged {
  balance: Money;
  logId: number;
}

/**
 * Changes the balance of a user who is not deleted; a disabled one may still be paid out. One request_id counts once,
 * however often and at however many processes it arrives: the repeats get the first answer.
 *
 * @throws user_not_found, insufficient_balance, balance_limit_exceeded
 * @throws request_id_reused when the id was used for another change
 */
export async function changeBalance(
  userId: number,
  wanted: BalanceChange,
  operatorId: number,
): Promise<BalanceChanged> {
  const at = now();
  try {
    const changed = await transact((t) => apply(userId, wanted, operatorId, at, t));
    await Promise.all([balanceLogTotals.changed(periodOf(at)), userTotals.changed()]);
    return changed;
  } catch (error) {
    // Two users under one request_id at the same time: the unique key lets one through.
    if (!isDuplicate(error)) throw error;
    return (await appliedBefore(userId, wanted)) ?? fail('internal_error', { cause: error });
  }
}

async function apply(
  userId: number,
  wanted: BalanceChange,
  operatorId: number,
  at: Date,
  t: Transaction,
): Promise<BalanceChanged> {
  const [user] = await select<{ balance: string }>(
    'SELECT balance FROM users WHERE id = ? AND deleted_at IS NULL FOR UPDATE',
    [userId],
    t,
  );
  // Asked only now: whoever sent the same request first has committed, or waits for this lock.
  const earlier = await appliedBefore(userId, wanted, t);
  if (earlier) return earlier;
  if (!user) fail('user_not_found');
  const before = Money.from(user.balance);
  const after = wanted.type === 'expense' ? before.minus(wanted.amount) : before.plus(wanted.amount);
  if (after.isNegative) fail('insufficient_balance');
  if (!after.withinLimit) fail('balance_limit_exceeded');
  const logId = await insert(
    `INSERT INTO user_balance_logs (period, user_id, type, amount, balance_before, balance_after, source, source_id,
       description, operator_id, request_id, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[periodOf(at), userId, wanted.type, wanted.amount.toString(), before.toString(), after.toString()],
      ...[wanted.source, wanted.source_id || null, wanted.description || null, operatorId],
      ...[wanted.request_id ?? null, at],
    ],
    t,
  );
  await change(
    'UPDATE users SET balance = ?, updated_at = ? WHERE id = ?',
    [after.toString(), at, userId],
    t,
  );
  return { balance: after, logId };
}

interface Applied {
  id: number;
  user_id: number;
  type: string;
  amount: string;
  source: string;
  source_id: string | null;
  description: string | null;
  balance_after: string;
}

async function appliedBefore(
  userId: number,
  wanted: BalanceChange,
  t?: Transaction,
): Promise<BalanceChanged | undefined> {
  if (wanted.request_id === undefined) return undefined;
  const [log] = await select<Applied>(
    `SELECT id, user_id, type, amount, source, source_id, description, balance_after
     FROM user_balance_logs WHERE request_id = ?`,
    [wanted.request_id],
    t,
  );
  if (!log) return undefined;
  const isSame =
    log.user_id === userId &&
    log.type === wanted.type &&
    log.amount === wanted.amount.toString() &&
    log.source === wanted.source &&
    log.source_id === (wanted.source_id || null) &&
    log.description === (wanted.description || null);
  if (!isSame) fail('request_id_reused', { field: 'request_id' });
  return { balance: Money.from(log.balance_after), logId: log.id };
}
