// How a refund ends: it succeeds, or its reserved amount is released. Each happens once.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { change } from '../../lib/database/db.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import type { Money } from '../../lib/values/money.js';
import { paymentKey } from '../../lib/values/numbers.js';
import { applyChange, type Operator } from './balance.js';

/** The part of a refund that is booked. */
interface BookedRefund {
  refund_no: string;
  period: number;
  payment_no: string;
  amount: Money;
}

/** The channel's final answer. */
interface FinalAnswer {
  /** When the money was given back; null: now. */
  at: Date | null;
  code: string | null;
  channelNo: string | null;
}

/** Books a successful refund. @returns false when it had ended before */
export async function bookSuccess(
  { refund_no, period, payment_no, amount }: BookedRefund,
  { at, code, channelNo }: FinalAnswer,
  t: Transaction,
): Promise<boolean> {
  const booked = await change(
    `UPDATE refunds r SET r.status = 'succeeded', r.finished_at = :finishedAt, r.accepted_at = COALESCE(r.accepted_at, :finishedAt),
       r.code = :code, r.channel_refund_no = COALESCE(:channelNo, r.channel_refund_no), r.due_at = NULL,
       r.is_refused = 0, r.needs_attention = 0, r.fail_reason = NULL, r.updated_at = :now
     WHERE r.refund_no = :refund_no AND r.period = :period AND r.status IN ('pending', 'processing')`,
    { refund_no, period, finishedAt: at ?? now(), code, channelNo, now: now() },
    t,
  );
  if (booked === 0) return false;
  await change(
    `UPDATE payments p SET p.refunded_amount = p.refunded_amount + CAST(:amount AS DECIMAL(18,2)), p.updated_at = :at
     WHERE p.payment_no = :payment_no AND p.period = :period`,
    { ...paymentKey(payment_no), amount: amount.toString(), at: now() },
    t,
  );
  return true;
}

/**
 * Ends an unsuccessful refund and releases its amount.
 *
 * @param ending its state before and after, and why
 * @returns false when it had left that state before
 */
export async function release(
  { refund_no, period, payment_no, amount }: BookedRefund,
  ending: {
    from: 'waiting' | 'processing';
    to: 'rejected' | 'failed';
    reason: string | null;
    code: string | null;
    by: number | null;
  },
  t: Transaction,
): Promise<boolean> {
  const { from, to, reason, code, by } = ending;
  const at = now();
  const ended = await change(
    `UPDATE refunds r SET r.status = :to, r.finished_at = :at, r.due_at = NULL, r.needs_attention = :isFlagged,
       r.fail_reason = :reason, r.code = COALESCE(:code, r.code), r.approved_by = COALESCE(:by, r.approved_by), r.updated_at = :at
     WHERE r.refund_no = :refund_no AND r.period = :period AND r.status = :from`,
    { refund_no, period, from, to, isFlagged: to === 'failed', reason, code, by, at },
    t,
  );
  if (ended === 0) return false;
  await change(
    `UPDATE payments p SET p.refund_reserved = p.refund_reserved - CAST(:amount AS DECIMAL(18,2)), p.updated_at = :at
     WHERE p.payment_no = :payment_no AND p.period = :period`,
    { ...paymentKey(payment_no), amount: amount.toString(), at },
    t,
  );
  return true;
}

/**
 * Pays a refund to the balance of the user, within the caller's transaction.
 *
 * @throws balance_limit_exceeded; user_unknown when the user was deleted
 */
export async function payOut(
  refund: BookedRefund & { user_id: number; reason: string },
  by: Operator,
  t: Transaction,
): Promise<void> {
  const at = now();
  if (!(await bookSuccess(refund, { at, code: null, channelNo: null }, t))) return;
  const { refund_no, user_id, amount, reason } = refund;
  const source = { source: 'refund', source_id: refund_no, request_id: refund_no };
  await applyChange(user_id, { type: 'refund', amount, description: reason, ...source }, by, at, t).catch(
    (error: unknown) => {
      if (error instanceof AppError && error.slug === 'user_not_found')
        fail('user_unknown', { field: 'destination' });
      throw error;
    },
  );
}
