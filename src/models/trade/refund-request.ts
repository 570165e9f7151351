// Requests for refunds: their amount is reserved first; large ones wait for approval (refund-decision.ts).
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import type { RefundLimits } from '../../lib/channels/channel.js';
import { channelOf, hasOpenResults, isEnabled } from '../../lib/channels/index.js';
import { now } from '../../lib/values/clock.js';
import { change, select, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { announce } from '../../lib/redis/changes.js';
import { Money } from '../../lib/values/money.js';
import { newRefundNumber, paymentPeriod, periodOf, startOfPeriod } from '../../lib/values/numbers.js';
import { notifyWithin } from '../office/notification.js';
import { withPartition } from '../tables/partitions.js';
import { insertRow } from '../tables/rows.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import type { Operator } from './balance.js';
import { payOut } from './refund-booking.js';
import { assertNoneElsewhere } from './refund-elsewhere.js';
import { Payment, PaymentMethod } from './tables.js';
import { Refund, type RefundDestination } from './channel-tables.js';

export interface NewRefund {
  payment_no: string;
  /** By default all that is left. */
  amount?: Money;
  destination: RefundDestination;
  reason: string;
}

const source = {
  ...columnsOf(Payment, 'p', 'payment_no', 'period', 'order_no', 'user_id', 'payment_method_id'),
  ...columnsOf(Payment, 'p', 'amount', 'status', 'pay_time', 'refund_reserved'),
  type: columnsOf(PaymentMethod, 'm', 'type').type,
};

const sources = selection(source, 'payments p', 'JOIN payment_methods m ON m.id = p.payment_method_id');

type RefundSource = RowOf<typeof source>;

/** Lists on open pages that change with refunds. */
export const refundLists = ['refunds', 'payments', 'user_balance_logs', 'users'] as const;

const day = 86_400_000;

/**
 * Creates a refund and reserves its amount. One that needs approval waits, one to the balance is paid in the same
 * transaction, any other is due.
 *
 * @returns its id and number
 * @throws payment_unknown, payment_not_refundable, payment_refunded_elsewhere, refund_exceeds_payment, refund_too_late, refund_too_many,
 * payment_gateway_disabled, payment_gateway_not_implemented, balance_limit_exceeded, user_unknown
 */
export async function requestRefund(
  wanted: NewRefund,
  by: Operator,
): Promise<{ id: number; refund_no: string; isDue: boolean }> {
  const { destination, reason } = wanted;
  const payment = await getSource(wanted.payment_no);
  if (payment.status !== 'paid') fail('payment_not_refundable');
  const limits = destination === 'channel' ? limitsOf(payment) : undefined;
  const amount = wanted.amount ?? payment.amount.minus(payment.refund_reserved);
  if (amount.cents <= 0n) exceeds(payment);
  // A refund is never in an earlier month than its payment.
  const at = new Date(Math.max(now().getTime(), startOfPeriod(payment.period).getTime()));
  const { payment_no, order_no, user_id, payment_method_id } = payment;
  const refund_no = newRefundNumber(at);
  const key = { refund_no, period: periodOf(at) };
  const refund = {
    ...key,
    payment_no,
    order_no,
    user_id,
    payment_method_id,
    amount,
    destination,
    reason,
    requested_by: by.adminId,
    created_at: at,
    updated_at: at,
  };
  const make = () =>
    transact(async (t) => {
      await assertNoneElsewhere(payment_no, t);
      await reserve(payment, amount, t);
      if (limits) await assertFewer(payment, limits, t);
      const isWaiting = await needsApproval(payment, t);
      const isDue = !isWaiting && destination === 'channel';
      const status = isWaiting ? ('waiting' as const) : ('pending' as const);
      const id = await insertRow(Refund, { ...refund, status, due_at: isDue ? now() : null }, t);
      if (!isWaiting && destination === 'balance') await payOut(refund, by, t);
      if (isWaiting) await notifyApprovers(refund, t);
      return { id, isDue };
    });
  const made = await withPartition(['refunds'], key.period, make);
  announce(refundLists);
  return { ...made, refund_no };
}

async function getSource(paymentNo: string, t?: Transaction): Promise<RefundSource> {
  const period = paymentPeriod(paymentNo) ?? fail('payment_unknown', { field: 'payment_no' });
  const found = await sources.first(
    'WHERE p.payment_no = :paymentNo AND p.period = :period',
    { paymentNo, period },
    { t },
  );
  return found ?? fail('payment_unknown', { field: 'payment_no' });
}

function limitsOf({ type, pay_time }: RefundSource): RefundLimits {
  if (!isEnabled(type)) fail('payment_gateway_disabled');
  const channel = channelOf(type);
  if (!channel?.refunds || !hasOpenResults(channel)) return fail('payment_gateway_not_implemented');
  const { limits } = channel.refunds;
  const isLate = pay_time !== null && pay_time.getTime() + limits.withinDays * day < now().getTime();
  if (isLate) fail('refund_too_late', { params: { days: limits.withinDays } });
  return limits;
}

/**
 * Whether the refunds of the payment, with the one just reserved, come to more than one administrator may decide. All of
 * them count: a large refund may not be divided into small ones.
 */
async function needsApproval({ payment_no }: RefundSource, t: Transaction): Promise<boolean> {
  const { refundApprovalAbove: above } = config.payments;
  if (above === undefined) return false;
  const { refund_reserved } = await getSource(payment_no, t);
  return refund_reserved.cents > Money.from(above).cents;
}

const exceeds = ({ amount, refund_reserved }: Pick<RefundSource, 'amount' | 'refund_reserved'>): never =>
  fail('refund_exceeds_payment', {
    field: 'amount',
    params: { left: amount.minus(refund_reserved).toString() },
  });

/** Reserves the amount if so much is left; in one statement, so that concurrent requests never take more. */
async function reserve({ payment_no, period }: RefundSource, amount: Money, t: Transaction): Promise<void> {
  const reserved = await change(
    `UPDATE payments p SET p.refund_reserved = p.refund_reserved + CAST(:amount AS DECIMAL(18,2)), p.updated_at = :at
     WHERE p.payment_no = :payment_no AND p.period = :period AND p.status = 'paid'
       AND p.refund_reserved + CAST(:amount AS DECIMAL(18,2)) <= p.amount`,
    { payment_no, period, amount: amount.toString(), at: now() },
    t,
  );
  if (reserved === 0) exceeds(await getSource(payment_no, t));
}

// The reservation has locked the payment: concurrent requests are counted or wait.
async function assertFewer(
  { payment_no, period }: RefundSource,
  { maxRefunds }: RefundLimits,
  t: Transaction,
): Promise<void> {
  const [counted] = await select<{ count: number }>(
    `SELECT COUNT(*) AS count FROM refunds r
     WHERE r.payment_no = :payment_no AND r.period >= :period AND r.destination = 'channel' AND r.status <> 'rejected'`,
    { payment_no, period },
    t,
  );
  if ((counted?.count ?? 0) >= maxRefunds) fail('refund_too_many', { params: { max: maxRefunds } });
}

function notifyApprovers(
  { refund_no, payment_no, amount }: { refund_no: string; payment_no: string; amount: Money },
  t: Transaction,
): Promise<void> {
  return notifyWithin(t, {
    type: 'system',
    title: { zh: '退款待审批', en: 'A refund waits for approval' },
    content: `${refund_no}: ¥${amount.toString()}, ${payment_no}`,
    eventKey: `refund-${refund_no}-waiting`,
  });
}
