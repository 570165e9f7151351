// Applies verified callbacks: the only code that makes a payment and its order paid (spec.md, States and transitions,
// rule 1).
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { change, transact } from '../../lib/database/db.js';
import { announce } from '../../lib/redis/changes.js';
import { cancelPayments } from './payment.js';
import {
  flagWithin,
  isRefundedElsewhere,
  maxNotified,
  notifyAttention,
  renewDoubts,
  renewPaid,
} from './payment-attention.js';
import {
  countExtraNumbers,
  isKnownExtraNumber,
  lockAttempt,
  lockOrder,
  markAttempt,
  readAttempt,
  type LockedAttempt,
  type LockedOrder,
  type PaymentAttempt,
  type Settlement,
} from './payment-attempt.js';
import type { CallbackKey } from './payment-callback.js';
import { claimNumber } from './third-party-number.js';

/**
 * Applies a verified callback in one transaction, with the locks order → payment → callback. Repeating it, even
 * concurrently, changes nothing more.
 */
export async function settle(callback: CallbackKey): Promise<Settlement> {
  const verdict = await transact((t) => apply(callback, t));
  announce(['orders', 'payments']);
  return verdict;
}

async function apply(callback: CallbackKey, t: Transaction): Promise<Settlement> {
  const attempt = await readAttempt(callback, t);
  if (!attempt) return 'gone';
  const order = await lockOrder(attempt.order_no, t);
  const payment = await lockAttempt(attempt, t);
  if (!payment) return 'gone';
  if (payment.state === 'refused') return payment.verdict as Settlement;
  if (payment.state === 'settled') return 'already_paid';
  // The number was claimed with the attempt; should that row be gone, it is claimed again.
  const owner = attempt.owner ?? (await claimNumber(attempt, t));
  if (owner !== attempt.payment_no) return numberUsed(attempt, t);
  if (payment.status !== 'paid')
    return order && canBePaid(order, attempt) ? pay(attempt, order, payment, t) : orderNotPayable(attempt, t);
  return payment.third_party_no === attempt.third_party_no ? alreadyPaid(attempt, t) : paidTwice(attempt, t);
}

// Money reported before the order was cancelled or expired is in time. What counts is when this service received the
// report, not the clock of the company.
function canBePaid(
  { status, deleted_at, cancelled_at }: LockedOrder,
  { created_at }: PaymentAttempt,
): boolean {
  if (deleted_at !== null) return false;
  return (
    status === 'pending' || (status === 'cancelled' && cancelled_at !== null && cancelled_at > created_at)
  );
}

async function pay(
  attempt: PaymentAttempt,
  order: LockedOrder,
  payment: LockedAttempt,
  t: Transaction,
): Promise<Settlement> {
  // A person must still look at a refund that was not made here.
  const isRefunded = payment.needs_attention && (await isRefundedElsewhere(payment.payment_no, t));
  await payPayment(attempt, 'paid', isRefunded ? 'refunded_elsewhere' : null, t);
  const { order_no, period } = order;
  const { payment_no, created_at, paid_at } = attempt;
  await change(
    `UPDATE orders o SET o.status = 'paid', o.paid_at = :paid_at, o.payment_no = :payment_no, o.cancelled_at = NULL,
       o.updated_at = :at
     WHERE o.order_no = :order_no AND o.period = :period AND o.status <> 'paid'`,
    { paid_at: paid_at ?? created_at, payment_no, at: now(), order_no, period },
    t,
  );
  await cancelPayments(order, t);
  if (payment.needs_attention) await renewPaid(payment_no, t);
  return 'paid';
}

/** The money arrived, but its order can no longer be paid: a person refunds it. */
async function orderNotPayable(attempt: PaymentAttempt, t: Transaction): Promise<Settlement> {
  await payPayment(attempt, 'paid_needs_attention', 'order_not_payable', t);
  await renewDoubts(attempt.payment_no, t);
  await notifyAttention(attempt.payment_no, 'order_not_payable', t);
  return 'paid_needs_attention';
}

async function alreadyPaid(attempt: PaymentAttempt, t: Transaction): Promise<Settlement> {
  await markAttempt(attempt, 'settled', 'already_paid', t);
  return 'already_paid';
}

/** The payment was already paid under another number, which stays: a person refunds this one. */
async function paidTwice(attempt: PaymentAttempt, t: Transaction): Promise<Settlement> {
  if (await isKnownExtraNumber(attempt, t)) return alreadyPaid(attempt, t);
  await markAttempt(attempt, 'settled', 'paid_twice', t);
  const nth = await countExtraNumbers(attempt, maxNotified, t);
  await flagWithin(attempt.payment_no, 'paid_twice', t, { nth });
  return 'paid_twice';
}

async function numberUsed(attempt: PaymentAttempt, t: Transaction): Promise<Settlement> {
  await markAttempt(attempt, 'refused', 'payment_third_party_no_used', t);
  await flagWithin(attempt.payment_no, 'third_party_no_used', t);
  return 'payment_third_party_no_used';
}

/**
 * Ends the attempt with the payment, which gets the company's payment time if the callback states one.
 *
 * @param reason why a person must look at it; null for none
 */
async function payPayment(
  attempt: PaymentAttempt,
  verdict: Settlement,
  reason: 'order_not_payable' | 'refunded_elsewhere' | null,
  t: Transaction,
): Promise<void> {
  const { id, period, payment_no } = attempt;
  await change(
    `UPDATE payments p JOIN payment_callbacks c ON c.id = :id AND c.period = :period
     SET p.status = 'paid', p.third_party_no = c.third_party_no, p.pay_time = COALESCE(c.paid_at, c.created_at),
       p.notify_data = c.body, p.needs_attention = :isFlagged, p.fail_reason = :reason, p.updated_at = :at,
       c.state = 'settled', c.verdict = :verdict, c.settled_at = :at
     WHERE p.payment_no = :payment_no AND p.period = :period AND p.status <> 'paid' AND c.state = 'pending'`,
    { id, period, verdict, isFlagged: reason !== null, reason, at: now(), payment_no },
    t,
  );
}
