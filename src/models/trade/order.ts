// orders: what users are to pay for; lists, changes, cancelling. Only payment-settlement.ts makes an order paid.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { change, select, transact } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { Where, type ListQuery, type Page, type TimeRange } from '../../lib/list-query.js';
import type { Money } from '../../lib/money.js';
import { orderPeriod, periodOf } from '../../lib/numbers.js';
import { stepOf } from '../tables/amount-steps.js';
import { journals, noteChanges } from '../tables/list-journal.js';
import { monthlyPage } from '../tables/month-pages.js';
import { selectOrders, type OrderRecord, type OrderStatus } from './order-record.js';
import { cancelPayments } from './payment.js';
import { isBeingPaid } from './payment-callback.js';
import { Totals } from '../tables/totals.js';
import { announcing } from '../tables/versions.js';

export interface OrderCriteria extends TimeRange {
  order_no?: string;
  user_id?: number;
  status?: OrderStatus;
  min_amount?: Money;
  max_amount?: Money;
  keyword?: string;
}

export type OrderFilter = OrderCriteria & ListQuery;

export const orderSortable = [
  'id',
  'amount',
  'status',
  'paid_at',
  'expire_at',
  'created_at',
  'updated_at',
] as const;

/** Totals of order lists, month by month. */
export const orderTotals = new Totals({
  table: 'orders',
  scope: 'orders',
  alias: 'o',
  month: 'o.period',
  journal: journals.orders,
});

/** Paid orders and what they come to, by when they were paid. Paid is final, so the order itself says when. */
export const orderSales = new Totals({
  table: 'orders',
  scope: 'orders',
  alias: 'o',
  month: 'o.period',
  journal: `(SELECT c.epoch, c.sign, c.id, c.period, c.status, c.amount, paid.paid_at
    FROM ${journals.orders} c JOIN orders paid ON paid.id = c.id AND paid.period = c.period)`,
});

export async function listOrders(query: OrderFilter, mark?: string): Promise<Page<OrderRecord>> {
  const where = ordersWhere(query);
  const months = await orderTotals.months(where, mark);
  const list = { table: 'orders', alias: 'o', rows: selectOrders };
  return monthlyPage(list, where, query, months, {
    matching: () => orderTotals.keys(where, mark),
    steps: () => orderTotals.groups({ where, by: stepOf('o') }, mark),
  });
}

/** The condition of a list over `orders o`. */
export function ordersWhere(criteria: OrderCriteria): Where {
  const from = criteria.start_time ?? criteria.start_date;
  const to = criteria.end_time ?? criteria.end_date;
  return new Where()
    .and('o.deleted_at IS NULL')
    .numbered('o.order_no', criteria.order_no, 'o.period')
    .equals('o.user_id', criteria.user_id)
    .equals('o.status', criteria.status)
    .between('o.amount', criteria.min_amount?.toString(), criteria.max_amount?.toString())
    .contains('o.remark', criteria.keyword)
    .during('o.created_at', criteria)
    .between('o.period', from && periodOf(from), to && periodOf(to));
}

/**
 * The order of that number or numeric id.
 *
 * @throws order_not_found
 */
export async function findOrder(reference: string): Promise<OrderRecord> {
  const where = byReference(reference);
  const [order] = await selectOrders(where.sql, where.values);
  return order ?? fail('order_not_found');
}

export interface OrderRevision {
  remark?: string | null;
  /** The one it has, or cancelled. */
  status?: OrderStatus;
}

/** Changes the remark, or cancels a pending order together with its pending payments. */
export async function reviseOrder(reference: string, changes: OrderRevision): Promise<void> {
  const where = byReference(reference);
  await changingOrders(async (t) => {
    const order = await lockOrder(where, t);
    if (changes.status !== undefined && changes.status !== order.status) {
      if (changes.status !== 'cancelled') fail('order_status_unsettable', { field: 'status' });
      if (order.status !== 'pending') fail('order_not_cancellable');
      if (await isBeingPaid(order.order_no, t)) fail('order_being_paid');
      await cancel(order, t);
    }
    if (changes.remark === undefined) return;
    await change(
      'UPDATE orders SET remark = ?, updated_at = ? WHERE id = ? AND period = ?',
      [changes.remark || null, now(), ...keyOf(order)],
      t,
    );
    await noteChanges('orders', rowOf(order), { remark: order.remark }, t);
  });
}

/** Hides a pending or cancelled order for good; pending payments for it are cancelled. */
export async function removeOrder(reference: string): Promise<void> {
  const where = byReference(reference);
  await changingOrders(async (t) => {
    const order = await lockOrder(where, t);
    if (order.status === 'paid') fail('order_not_deletable');
    if (await isBeingPaid(order.order_no, t)) fail('order_being_paid');
    if (order.status === 'pending') await cancel(order, t);
    const sql = 'UPDATE orders SET deleted_at = ? WHERE id = ? AND period = ?';
    await change(sql, [now(), ...keyOf(order)], t);
    await noteChanges('orders', rowOf(order), { deleted_at: null }, t);
  });
}

/** Cancels an order whose time is up; does nothing when it is no longer pending. */
export async function expireOrder(orderNo: string): Promise<'cancelled' | 'not_due'> {
  const period = orderPeriod(orderNo);
  if (period === undefined) return 'not_due';
  return changingOrders(async (t) => {
    const [order] = await select<LockedOrder>(
      `SELECT id, order_no, period, status, remark FROM orders
       WHERE order_no = ? AND period = ? AND status = 'pending' AND expire_at <= ? AND deleted_at IS NULL FOR UPDATE`,
      [orderNo, period, now()],
      t,
    );
    // Money that was reported in time is settled first.
    if (!order || (await isBeingPaid(orderNo, t))) return 'not_due';
    await cancel(order, t);
    return 'cancelled';
  });
}

/** Numbers of pending orders whose time was up before that instant, the most overdue first; read 500 at a time. */
export async function* overdueOrders(before: Date): AsyncGenerator<string> {
  let last = { expire_at: new Date(0), order_no: '' };
  for (;;) {
    const rows = await select<typeof last>(
      `SELECT order_no, expire_at FROM orders
       WHERE status = 'pending' AND deleted_at IS NULL AND expire_at >= ? AND expire_at < ?
         AND (expire_at > ? OR order_no > ?) ORDER BY expire_at, order_no LIMIT 500`,
      [last.expire_at, before, last.expire_at, last.order_no],
    );
    for (const { order_no } of rows) yield order_no;
    if (rows.length < 500) return;
    last = rows.at(-1) as typeof last;
  }
}

interface LockedOrder {
  id: number;
  order_no: string;
  period: number;
  status: OrderStatus;
  remark: string | null;
}

// Cancelling an order cancels its payments, so lists of both change.
const changingOrders = <T>(write: (t: Transaction) => Promise<T>): Promise<T> =>
  announcing(['orders', 'payments'], () => transact(write));

const keyOf = ({ id, period }: LockedOrder): number[] => [id, period];

const rowOf = (order: LockedOrder) => ({ sql: 'r.id = ? AND r.period = ?', values: keyOf(order) });

function byReference(reference: string): Where {
  const where = new Where().and('o.deleted_at IS NULL');
  const period = orderPeriod(reference);
  if (period !== undefined) return where.and('o.order_no = ? AND o.period = ?', reference, period);
  return /^[1-9]\d{0,15}$/.test(reference)
    ? where.and('o.id = ?', Number(reference))
    : fail('order_not_found');
}

async function lockOrder(where: Where, t: Transaction): Promise<LockedOrder> {
  const [order] = await select<LockedOrder>(
    `SELECT o.id, o.order_no, o.period, o.status, o.remark FROM orders o ${where.sql} FOR UPDATE`,
    where.values,
    t,
  );
  return order ?? fail('order_not_found');
}

async function cancel(order: LockedOrder, t: Transaction): Promise<void> {
  const at = now();
  await change(
    `UPDATE orders SET status = 'cancelled', cancelled_at = ?, updated_at = ? WHERE id = ? AND period = ?`,
    [at, at, ...keyOf(order)],
    t,
  );
  await noteChanges('orders', rowOf(order), { status: 'pending' }, t);
  await cancelPayments(order, t);
}
