// payments: ways to pay an order, each over one method. Only payment-settlement.ts makes a payment paid.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { change, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, Where, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { id, textFilter } from '../../lib/input/schema.js';
import type { Channel } from '../../lib/channels/channel.js';
import { isEnabled } from '../../lib/channels/index.js';
import { Money } from '../../lib/values/money.js';
import { announce } from '../../lib/redis/changes.js';
import {
  newPaymentNumber,
  orderKey,
  orderPeriod,
  paymentPeriod,
  periodOf,
  startOfPeriod,
} from '../../lib/values/numbers.js';
import { Admin } from '../access/tables.js';
import { withPartition } from '../tables/partitions.js';
import { insertRow, lockRows } from '../tables/rows.js';
import { blank } from '../tables/table.js';
import { columnsOf, joined, selection, sumWhere, type RowOf } from '../tables/selection.js';
import { beingPaid } from './payment-callback.js';
import { assertFitsChannel, toPayable, type Payable } from './payment-placement.js';
import { Order, Payment, PaymentMethod, paymentStatuses, User } from './tables.js';

/** Ten years. */
export const maxPendingMinutes = 5_256_000;

export const paymentFilters = {
  payment_no: textFilter(64),
  order_no: textFilter(64),
  third_party_no: textFilter(64),
  payment_method_id: id(),
  user_id: id(),
  status: Joi.string().valid(...paymentStatuses),
  needs_attention: Joi.boolean(),
  assignee_id: id(),
  /** Minutes; only payments that have been pending for longer. */
  pending_longer_than: Joi.number().integer().min(1).max(maxPendingMinutes),
  time_field: Joi.string().valid('created_at', 'pay_time').default('created_at'),
};

export type PaymentCriteria = Criteria<typeof paymentFilters> & { time_field: string };

type PaymentFilter = PaymentCriteria & ListQuery;

/** The query of the list. */
export const paymentQuery = listQuery<PaymentFilter>(
  ['id', 'amount', 'status', 'pay_time', 'created_at', 'updated_at'],
  paymentFilters,
);

const shown = {
  ...columnsOf(Payment, 'p'),
  payment_method: joined(columnsOf(PaymentMethod, 'm', 'id', 'name', 'code', 'type')),
  assignee: joined(columnsOf(Admin, 'a', 'id', 'username')),
};

const joins = `LEFT JOIN payment_methods m ON m.id = p.payment_method_id
  LEFT JOIN admins a ON a.id = p.assignee_id`;
const records = selection(shown, 'payments p', joins);

const withUser = { ...shown, user: joined(columnsOf(User, 'u', 'id', 'username')) };
const listed = selection(withUser, 'payments p', `${joins} LEFT JOIN users u ON u.id = p.user_id`);

/** A payment in answers. */
export type PaymentRecord = RowOf<typeof shown>;

export interface NewPayment {
  order_no: string;
  payment_method_id: number;
  amount?: Money;
  remark?: string | null;
}

/** As `PaymentRecord`, with the user whose order it pays. */
type ListedPayment = RowOf<typeof withUser>;

export const listPayments = (query: PaymentFilter): Promise<Page<ListedPayment>> =>
  listed.page(query, paymentsWhere(query));

/** The payment of that number or numeric id, locked in a transaction. @throws payment_record_not_found */
export async function getPayment(reference: string, t?: Transaction): Promise<PaymentRecord> {
  const where = byReference(reference);
  if (t) await lockRows('payments p', where, t);
  return (await records.first(where.sql, where.values, { t })) ?? fail('payment_record_not_found');
}

/** The same with the user whose order it pays. */
export async function getPaymentOfUser(reference: string): Promise<ListedPayment> {
  const where = byReference(reference);
  return (await listed.first(where.sql, where.values)) ?? fail('payment_record_not_found');
}

const byReference = (reference: string): Where =>
  new Where().byReference('p', 'payment_no', reference, paymentPeriod(reference)) ??
  fail('payment_record_not_found');

/** The condition of a list over `payments p`. */
export function paymentsWhere(criteria: PaymentCriteria): Where {
  const where = new Where()
    .numbered('p.payment_no', criteria.payment_no, 'p.period')
    .numbered('p.order_no', criteria.order_no)
    .containsAscii('p.third_party_no', criteria.third_party_no?.trim())
    .equals('p.payment_method_id', criteria.payment_method_id)
    .equals('p.user_id', criteria.user_id)
    .equals('p.status', criteria.status)
    .equals('p.needs_attention', criteria.needs_attention)
    .equals('p.assignee_id', criteria.assignee_id)
    .duringField('p', criteria);
  const { pending_longer_than: minutes } = criteria;
  if (minutes === undefined) return where;
  return where.and(`p.status = 'pending' AND p.created_at < ?`, wholeMinutesAgo(minutes));
}

// Rounded down to the minute, so that within a minute the total is counted once.
function wholeMinutesAgo(minutes: number): Date {
  return new Date((Math.floor(now().getTime() / 60_000) - minutes) * 60_000);
}

export const sumPayments = (criteria: PaymentCriteria): Promise<Money | undefined> =>
  sumWhere(columnsOf(Payment, 'p').amount, 'payments p', paymentsWhere(criteria));

const orderShown = columnsOf(Order, 'o', 'status', 'payment_no', 'expire_at', 'paid_at', 'cancelled_at');
const ordersOfPayments = selection(orderShown, 'orders o');

/** The order of a payment, even a deleted one: whether it was paid, and by which payment. */
export const orderOf = ({ order_no }: PaymentRecord): Promise<RowOf<typeof orderShown> | undefined> =>
  ordersOfPayments.first('WHERE o.order_no = :order_no AND o.period = :period', orderKey(order_no));

/**
 * Creates a pending payment for a payable order.
 *
 * @param channel where it is placed at once; it must take the amount
 * @throws order_unknown, order_not_payable, order_being_paid, payment_amount_not_equal, payment_method_unknown,
 * payment_method_disabled, payment_gateway_disabled, payment_beyond_channel, order_expires_too_soon
 */
export async function createPayment(payment: NewPayment, channel?: Channel): Promise<PaymentRecord> {
  // Any other text may not even be comparable with an order number.
  const orderMonth = orderPeriod(payment.order_no) ?? fail('order_unknown', { field: 'order_no' });
  // At the turn of a month the clock that dated the order may be ahead: a payment is never in an earlier month.
  const at = new Date(Math.max(now().getTime(), startOfPeriod(orderMonth).getTime()));
  const period = periodOf(at);
  const payment_no = newPaymentNumber(at);
  const make = (): Promise<PaymentRecord> =>
    transact(async (t) => {
      const order = await lockPayable(payment.order_no, orderMonth, at, t);
      if (channel) assertFitsChannel(channel, order);
      if (payment.amount && !payment.amount.equals(order.amount))
        fail('payment_amount_not_equal', { field: 'amount' });
      const payment_method = await usableMethod(payment.payment_method_id, t);
      const row = {
        payment_no,
        order_no: payment.order_no,
        user_id: order.userId,
        payment_method_id: payment_method.id,
        amount: order.amount,
        remark: payment.remark || null,
        created_at: at,
        updated_at: at,
      };
      const id = await insertRow(Payment, { ...row, period }, t);
      const unset = { needs_attention: false, assignee: null, refunded_amount: Money.zero };
      return { id, ...blank(Payment), ...row, ...unset, status: 'pending', payment_method };
    });
  const made = await withPartition(['payments'], period, make);
  announce(['payments']);
  return made;
}

/** Cancels the pending payments of an order, whose row is locked. */
export async function cancelPayments(
  { order_no, period }: { order_no: string; period: number },
  t: Transaction,
): Promise<void> {
  await change(
    `UPDATE payments p SET p.status = 'cancelled', p.closed_at = :at, p.updated_at = :at
     WHERE p.order_no = :order_no AND p.period >= :period AND p.status = 'pending'`,
    { order_no, period, at: now() },
    t,
  );
}

/** The order stays payable until the transaction ends. @throws order_unknown, order_not_payable, order_being_paid */
async function lockPayable(
  orderNo: string,
  period: number,
  at: Date,
  t: Transaction,
): Promise<Payable & { userId: number }> {
  const order = await payables.first(
    'WHERE o.order_no = :orderNo AND o.period = :period AND o.deleted_at IS NULL FOR UPDATE',
    {
      orderNo,
      period,
    },
    { t },
  );
  if (!order) fail('order_unknown', { field: 'order_no' });
  return { userId: order.user_id, ...toPayable(order, at) };
}

const payables = selection(
  { ...columnsOf(Order, 'o', 'user_id', 'amount', 'status', 'expire_at'), is_being_paid: beingPaid },
  'orders o',
);

// The shared lock prevents the method from being deleted before the payment that uses it is committed.
async function usableMethod(
  id: number,
  t: Transaction,
): Promise<NonNullable<PaymentRecord['payment_method']>> {
  const method = await methods.first('WHERE m.id = :id LOCK IN SHARE MODE', { id }, { t });
  if (!method) fail('payment_method_unknown', { field: 'payment_method_id' });
  const { is_active, ...named } = method;
  if (!is_active) fail('payment_method_disabled');
  if (!isEnabled(named.type)) fail('payment_gateway_disabled');
  return named;
}

const methods = selection(
  columnsOf(PaymentMethod, 'm', 'id', 'name', 'code', 'type', 'is_active'),
  'payment_methods m',
);
