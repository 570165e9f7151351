// The only code that makes a payment and its order paid (spec.md, States and transitions, rule 1).
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { requireChanged, payments } from '../../lib/database/db.js';
import { isIncomplete, isRerunnable } from '../../lib/database/errors.js';
import { orderPeriod, paymentPeriod } from '../../lib/numbers.js';
import { deliverStored } from '../office/notification.js';
import { journalStatement, journalChanges } from '../tables/list-journal.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import { execute, over } from '../tables/sql.js';
import { countSeconds, recordSecond } from './second-payment.js';
import { cancelPayments } from './payment.js';
import { Order, Payment, PaymentCallback } from './tables.js';
import { maxTold, notifyAttention, renewEvents, type AttentionReason } from './payment-attention.js';
import {
  lockAttempt,
  markSettled,
  readPending,
  refuse,
  type Pending,
  type Settlement,
  type Unsettled,
} from './payment-attempt.js';
import type { CallbackKey } from './payment-callback.js';
import { claimNumber } from './third-party-number.js';
import { announcing } from '../tables/versions.js';

type Named = Required<Unsettled>;

/** Why the payment of a settled attempt needs review. */
const reasons: Partial<Record<Settlement, AttentionReason>> = {
  paid_needs_attention: 'order_not_payable',
  paid_twice: 'paid_twice',
};

/**
 * Applies a verified callback: in one transaction the payment and its order become paid, the order's other payments are
 * cancelled and the attempt is marked. Repeating it, also at the same time, changes nothing more. Locks in the order
 * order → payment.
 */
export async function settle(callback: Unsettled): Promise<Settlement> {
  const [result] = await settleTogether([callback]);
  if (result instanceof Error) throw result;
  return result ?? 'gone';
}

/**
 * Applies several verified callbacks: the usual ones in one transaction, every other one by itself.
 *
 * @returns the verdict of each, or the error that prevented it
 */
export async function settleTogether(callbacks: readonly Unsettled[]): Promise<(Settlement | Error)[]> {
  const usual = onePerOrder(callbacks);
  const isPaid = usual.length > 0 && (await announcingPaid(() => payUsual(usual)));
  const paid = new Set<Unsettled>(isPaid ? usual : []);
  const settled = callbacks.map(async (callback) => (paid.has(callback) ? 'paid' : settleWithCare(callback)));
  return (await Promise.allSettled(settled)).map((one) =>
    one.status === 'fulfilled' ? one.value : (one.reason as Error),
  );
}

const announcingPaid = <T>(write: () => Promise<T>): Promise<T> => announcing(['orders', 'payments'], write);

/** Callbacks with known numbers, one per order: a second payment of one order is not the usual case. */
function onePerOrder(callbacks: readonly Unsettled[]): Named[] {
  const byOrder = new Map<string, Named>();
  for (const callback of callbacks)
    if (isNamed(callback) && !byOrder.has(callback.order_no)) byOrder.set(callback.order_no, callback);
  return [...byOrder.values()];
}

const isNamed = (callback: Unsettled): callback is Named => callback.payment_no !== undefined;

// Any one of them may make the transaction fail: then each is settled by itself.
async function payUsual(callbacks: readonly Named[]): Promise<boolean> {
  try {
    return await payTogether(callbacks, 'fails');
  } catch (error) {
    if (isRerunnable(error)) return false;
    throw error;
  }
}

async function settleWithCare(callback: CallbackKey): Promise<Settlement> {
  const pending = await readPending(callback);
  if (!pending) return 'gone';
  if (pending.state === 'refused') return pending.verdict as Settlement;
  if (pending.state === 'settled') return 'already_paid';
  // Attempts of earlier releases were stored without claiming their number.
  const owner = pending.owner ?? (await claimNumber(pending));
  if (owner !== pending.payment_no) return refuse(callback, pending.payment_no);
  // Paid is final, so repeats of a callback need no lock.
  const isRepeat = pending.payment_status === 'paid' && pending.paid_by === pending.third_party_no;
  if (isRepeat) return markSettled(callback, 'already_paid');
  const { payment_no, order_no } = pending;
  const { result, notifications } = await announcingPaid(async () => {
    const isUsual = pending.payment_status === 'pending';
    if (isUsual && (await payTogether([{ ...callback, payment_no, order_no }])))
      return { result: 'paid' as const, notifications: [] };
    return payments.transact((t) => payAndNotify(callback, pending, t));
  });
  await deliverStored(notifications);
  return result;
}

interface Paid {
  result: Settlement;
  /** Ids to be delivered. */
  notifications: number[];
}

async function payAndNotify(callback: CallbackKey, pending: Pending, t: Transaction): Promise<Paid> {
  const result = await payWithCare(callback, pending, t);
  const reason = reasons[result];
  if (!reason) return { result, notifications: [] };
  const { payment_no } = pending;
  const key = { payment_no, period: paymentPeriod(payment_no) as number };
  const nth = result === 'paid_twice' ? await countSeconds(key, maxTold, t) : 1;
  return { result, notifications: await notifyAttention(payment_no, reason, t, nth) };
}

// The usual case, in one round trip: one conditional statement updates attempts, payments and orders together, and the packet is
// undone unless it has updated all of them.
async function payTogether(callbacks: readonly Named[], meetingLocks?: 'reruns' | 'fails'): Promise<boolean> {
  const at = now();
  const [ids, periods] = [callbacks.map(({ id }) => id), distinct(callbacks.map(({ period }) => period))];
  const numbers = callbacks.map(({ payment_no }) => payment_no);
  const orders = callbacks.map(({ order_no }) => order_no);
  const orderMonths = distinct(orders.map((order) => orderPeriod(order) as number));
  const firstMonth = Math.min(...orderMonths);
  const pay = sql(
    `UPDATE orders o STRAIGHT_JOIN payments p ON p.order_no = o.order_no
        STRAIGHT_JOIN payment_callbacks c ON c.payment_no = p.payment_no AND c.period = p.period
      SET o.status = 'paid', o.paid_at = c.created_at, o.payment_no = p.payment_no, o.updated_at = :at,
        p.status = 'paid', p.third_party_no = c.third_party_no, p.pay_time = c.created_at, p.notify_data = c.body,
        p.fail_reason = NULL, p.updated_at = :at,
        c.state = 'settled', c.verdict = 'paid', c.settled_at = :at
      WHERE o.order_no IN (:orders) AND o.period IN (:orderMonths) AND o.status = 'pending' AND o.deleted_at IS NULL
        AND p.payment_no IN (:numbers) AND p.period IN (:periods) AND p.status = 'pending' AND p.needs_attention = 0
        AND c.id IN (:ids) AND c.period IN (:periods) AND c.state = 'pending'`,
    { at, orders, orderMonths, numbers, periods, ids },
  );
  const cancelOthers = sql(
    `UPDATE payments p SET p.status = 'cancelled', p.updated_at = :at
      WHERE p.order_no IN (:orders) AND p.period >= :firstMonth AND p.status = 'pending'`,
    { at, orders, firstMonth },
  );
  // Of a pending order no payment had been cancelled before.
  const touched = changed(
    `r.order_no IN (:orders) AND r.period >= :firstMonth
      AND (r.payment_no IN (:numbers) OR (r.status = 'cancelled' AND r.updated_at = :at))`,
    { orders, firstMonth, numbers, at },
  );
  const paidOrders = changed('r.order_no IN (:orders) AND r.period IN (:orderMonths)', {
    orders,
    orderMonths,
  });
  const statements = [
    pay,
    // An order, a payment and an attempt each.
    requireChanged(3 * callbacks.length),
    cancelOthers,
    journalStatement('orders', paidOrders, { status: 'pending' }),
    journalStatement('payments', touched, {
      status: 'pending',
      third_party_no: changed('IF(r.payment_no IN (:numbers), NULL, r.third_party_no)', { numbers }),
      pay_time: changed('IF(r.payment_no IN (:numbers), NULL, r.pay_time)', { numbers }),
    }),
  ];
  try {
    await payments.packet(statements, meetingLocks);
    return true;
  } catch (error) {
    if (isIncomplete(error)) return false;
    throw error;
  }
}

const distinct = (months: readonly number[]): number[] => [...new Set(months)];

const sql = over({ 'orders o': Order, 'payments p': Payment, 'payment_callbacks c': PaymentCallback });

/** Rows that a statement has changed. */
const changed = over({ 'orders r': Order, 'payments r': Payment });

const lockedOrder = columnsOf(Order, 'o', 'status', 'deleted_at', 'cancelled_at');
const lockedPayment = columnsOf(Payment, 'p', 'status', 'third_party_no', 'needs_attention');
const lockableOrders = selection(lockedOrder, 'orders o');
const lockablePayments = selection(lockedPayment, 'payments p');

// Every other case, step by step under locks.
async function payWithCare(callback: CallbackKey, pending: Pending, t: Transaction): Promise<Settlement> {
  const { payment_no, order_no, third_party_no, created_at } = pending;
  const orderKey = { order_no, period: orderPeriod(order_no) as number };
  const key = { payment_no, period: paymentPeriod(payment_no) as number };
  const order = await lockableOrders.one(
    sql('WHERE o.order_no = :order_no AND o.period = :period FOR UPDATE', orderKey),
    { t },
  );
  const payment = await lockablePayments.one(
    sql('WHERE p.payment_no = :payment_no AND p.period = :period FOR UPDATE', key),
    { t },
  );
  const isDone = !(await lockAttempt(callback, t)) || payment?.third_party_no === third_party_no;
  if (!payment || isDone) return markSettled(callback, 'already_paid', t);
  if (payment.status === 'paid') return recordSecond(callback, { key, third_party_no, payment }, t);
  const isPayable = order !== undefined && canBePaid(order, created_at);
  const at = now();
  const pay = sql(
    `UPDATE payments p JOIN payment_callbacks c ON c.id = :id AND c.period = :period
     SET p.status = 'paid', p.third_party_no = c.third_party_no, p.pay_time = c.created_at, p.notify_data = c.body,
       p.needs_attention = :isLate, p.fail_reason = :reason, p.updated_at = :at
     WHERE p.payment_no = :payment_no AND p.period = :month`,
    {
      id: callback.id,
      period: callback.period,
      isLate: !isPayable,
      reason: isPayable ? null : 'order_not_payable',
      at,
      payment_no,
      month: key.period,
    },
  );
  await execute(pay, { t });
  const { status, needs_attention } = payment;
  const before = { status, needs_attention, third_party_no: null, pay_time: null };
  const paymentRow = changed('r.payment_no = :payment_no AND r.period = :period', key);
  await journalChanges('payments', paymentRow, before, t);
  if (!isPayable) return markSettled(callback, 'paid_needs_attention', t);
  const payOrder = sql(
    `UPDATE orders o SET o.status = 'paid', o.paid_at = :created_at, o.payment_no = :payment_no, o.cancelled_at = NULL,
       o.updated_at = :at
     WHERE o.order_no = :order_no AND o.period = :period`,
    { created_at, payment_no, at, ...orderKey },
  );
  await execute(payOrder, { t });
  const orderRow = changed('r.order_no = :order_no AND r.period = :period', orderKey);
  await journalChanges('orders', orderRow, { status: order.status }, t);
  await cancelPayments(orderKey, t);
  if (needs_attention) await renewEvents(payment_no, t);
  return markSettled(callback, 'paid', t);
}

// Money that was reported before the order was cancelled, or expired, came in time.
function canBePaid(
  { status, deleted_at, cancelled_at }: RowOf<typeof lockedOrder>,
  reportedAt: Date,
): boolean {
  if (deleted_at !== null) return false;
  return (
    status === 'pending' || (status === 'cancelled' && cancelled_at !== null && cancelled_at > reportedAt)
  );
}
