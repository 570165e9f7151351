// orders: what users are to pay for; lists, changes, cancelling. Only payment-settlement.ts makes an order paid.
import type { Transaction } from 'sequelize';
import { now } from '../lib/clock.js';
import { change, select, transact } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { Where, type ListQuery, type Page, type TimeRange } from '../lib/list-query.js';
import type { Money } from '../lib/money.js';
import { orderPeriod, periodOf } from '../lib/numbers.js';
import { monthlyPage } from './month-pages.js';
import { selectOrders, type OrderRecord, type OrderStatus } from './order-record.js';
import { paymentTotals } from './payment.js';
import { Totals } from './totals.js';

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
export const orderTotals = new Totals('orders', 'orders o', 'o.period');

export async function listOrders(query: OrderFilter, mark?: string): Promise<Page<OrderRecord>> {
  const where = ordersWhere(query);
  const months = await orderTotals.months(where, mark);
  return monthlyPage({ table: 'orders', alias: 'o', rows: selectOrders }, where, query, months);
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

/** Changes the remark, or cancels a pending order together with its pending payments. */
export async function reviseOrder(
  reference: string,
  changes: { remark?: string | null; status?: 'cancelled' },
): Promise<void> {
  const where = byReference(reference);
  const touched = await transact(async (t) => {
    const order = await lockOrder(where, t);
    let paymentMonths: number[] = [];
    if (changes.status === 'cancelled' && order.status !== 'cancelled') {
      if (order.status !== 'pending') fail('order_not_cancellable');
      paymentMonths = await cancel(order, t);
    }
    if (changes.remark !== undefined) {
      await change(
        'UPDATE orders SET remark = ?, updated_at = ? WHERE order_no = ? AND period = ?',
        [changes.remark || null, now(), order.order_no, order.period],
        t,
      );
    }
    return { month: order.period, paymentMonths };
  });
  await totalsChanged(touched);
}

/** Hides a pending or cancelled order for good; pending payments for it are cancelled. */
export async function removeOrder(reference: string): Promise<void> {
  const where = byReference(reference);
  const touched = await transact(async (t) => {
    const order = await lockOrder(where, t);
    if (order.status === 'paid') fail('order_not_deletable');
    const paymentMonths = order.status === 'pending' ? await cancel(order, t) : [];
    await change(
      'UPDATE orders SET deleted_at = ? WHERE order_no = ? AND period = ?',
      [now(), order.order_no, order.period],
      t,
    );
    return { month: order.period, paymentMonths };
  });
  await totalsChanged(touched);
}

/** Cancels an order whose time is up; does nothing when it is no longer pending. */
export async function expireOrder(orderNo: string): Promise<'cancelled' | 'not_due'> {
  const period = orderPeriod(orderNo);
  if (period === undefined) return 'not_due';
  const paymentMonths = await transact(async (t) => {
    const [order] = await select<LockedOrder>(
      `SELECT order_no, period, status FROM orders
       WHERE order_no = ? AND period = ? AND status = 'pending' AND expire_at <= ? AND deleted_at IS NULL FOR UPDATE`,
      [orderNo, period, now()],
      t,
    );
    return order && cancel(order, t);
  });
  if (!paymentMonths) return 'not_due';
  await totalsChanged({ month: period, paymentMonths });
  return 'cancelled';
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

export interface LockedOrder {
  order_no: string;
  period: number;
  status: OrderStatus;
}

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
    `SELECT o.order_no, o.period, o.status FROM orders o ${where.sql} FOR UPDATE`,
    where.values,
    t,
  );
  return order ?? fail('order_not_found');
}

/** Cancels an order with its pending payments. @returns the months of those payments */
async function cancel({ order_no, period }: LockedOrder, t: Transaction): Promise<number[]> {
  const at = now();
  await change(
    `UPDATE orders SET status = 'cancelled', updated_at = ? WHERE order_no = ? AND period = ? AND status = 'pending'`,
    [at, order_no, period],
    t,
  );
  // A payment is never older than its order, so months before the order's need no look.
  const pending = await select<{ period: number }>(
    `SELECT period FROM payments WHERE order_no = ? AND period >= ? AND status = 'pending' FOR UPDATE`,
    [order_no, period],
    t,
  );
  if (pending.length === 0) return [];
  await change(
    `UPDATE payments SET status = 'cancelled', updated_at = ? WHERE order_no = ? AND period >= ? AND status = 'pending'`,
    [at, order_no, period],
    t,
  );
  return pending.map((payment) => payment.period);
}

async function totalsChanged(touched: { month: number; paymentMonths: number[] }): Promise<void> {
  const { month, paymentMonths } = touched;
  const payments = paymentMonths.length > 0 ? paymentTotals.changed(...paymentMonths) : undefined;
  await Promise.all([orderTotals.changed(month), payments]);
}
