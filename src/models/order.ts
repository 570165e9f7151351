// orders and order_details: what a user is to pay for. Only payment-settlement.ts makes an order paid.
import type { Transaction } from 'sequelize';
import { now } from '../lib/clock.js';
import { change, insert, select, transact } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../lib/list-query.js';
import { Money } from '../lib/money.js';
import { newOrderNumber, orderPeriod, periodOf } from '../lib/numbers.js';
import { problem } from '../lib/validation.js';
import { claimKey, type Repeatable } from './idempotency-key.js';
import { selectOrders, type OrderRecord, type OrderStatus } from './order-record.js';
import { paymentTotals } from './payment.js';
import { withPartition } from './partitions.js';
import { Totals } from './totals.js';

export interface OrderLine {
  product_id?: number | null;
  product_name: string;
  price: Money;
  quantity: number;
}

export interface NewOrder {
  user_id: number;
  details: OrderLine[];
  amount?: Money;
  remark?: string | null;
  expire_in_seconds?: number;
}

export interface OrderFilter extends ListQuery {
  order_no?: string;
  user_id?: number;
  status?: OrderStatus;
  min_amount?: Money;
  max_amount?: Money;
  keyword?: string;
}

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
  const from = query.start_time ?? query.start_date;
  const to = query.end_time ?? query.end_date;
  const where = new Where()
    .and('o.deleted_at IS NULL')
    .contains('o.order_no', query.order_no)
    .equals('o.user_id', query.user_id)
    .equals('o.status', query.status)
    .between('o.amount', query.min_amount?.toString(), query.max_amount?.toString())
    .contains('o.remark', query.keyword)
    .during('o.created_at', query)
    .between('o.period', from && periodOf(from), to && periodOf(to));
  const [list, total] = await Promise.all([
    selectOrders(`${where.sql} ${pageSql(query, 'o')}`, where.values),
    orderTotals.count(where, mark),
  ]);
  return toPage(query, list, total);
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

/**
 * Places an order. The amount is the sum of its lines; a given amount must equal it.
 *
 * @returns the number of the new order, or of the one made earlier under the same Idempotency-Key
 */
export async function placeOrder(
  order: NewOrder,
  repeatable: Repeatable,
): Promise<{ orderNo: string; expireAt?: Date }> {
  const at = now();
  const amount = order.details.map(subtotal).reduce((sum, part) => sum.plus(part), new Money(0n));
  if (!amount.withinLimit) fail('value_not_acceptable', { fields: { amount: [problem('number.unsafe')] } });
  if (order.amount && !order.amount.equals(amount)) fail('order_amount_mismatch', { field: 'amount' });
  const orderNo = newOrderNumber(at);
  const period = periodOf(at);
  const expireAt = order.expire_in_seconds
    ? new Date(at.getTime() + order.expire_in_seconds * 1000)
    : undefined;
  const made = await withPartition(['orders', 'order_details'], period, () =>
    transact(async (t) => {
      const earlier = await claimKey('order', repeatable, orderNo, t);
      if (earlier) return earlier;
      await userMustBeAble(order.user_id, t);
      await insert(
        `INSERT INTO orders (period, order_no, user_id, amount, remark, expire_at, created_at, updated_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
        [period, orderNo, order.user_id, amount.toString(), order.remark || null, expireAt ?? null, at, at],
        t,
      );
      await insertLines(period, orderNo, order.details, t);
      return orderNo;
    }),
  );
  if (made !== orderNo) return { orderNo: made };
  await orderTotals.changed(period);
  return { orderNo, expireAt };
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

/** Numbers of pending orders whose time was up before that instant, at most 500. */
export async function overdueOrders(before: Date): Promise<string[]> {
  const rows = await select<{ order_no: string }>(
    `SELECT order_no FROM orders WHERE status = 'pending' AND deleted_at IS NULL AND expire_at < ? LIMIT 500`,
    [before],
  );
  return rows.map(({ order_no }) => order_no);
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

async function userMustBeAble(userId: number, t: Transaction): Promise<void> {
  const [user] = await select<{ status: number }>(
    'SELECT status FROM users WHERE id = ? AND deleted_at IS NULL',
    [userId],
    t,
  );
  if (!user) fail('user_unknown', { field: 'user_id' });
  if (user.status !== 1) fail('user_disabled');
}

function subtotal({ price, quantity }: OrderLine): Money {
  return price.times(quantity);
}

async function insertLines(
  period: number,
  orderNo: string,
  lines: OrderLine[],
  t: Transaction,
): Promise<void> {
  const values = lines.flatMap((line) => [
    ...[period, orderNo, line.product_id ?? null, line.product_name],
    ...[line.price.toString(), line.quantity, subtotal(line).toString()],
  ]);
  await change(
    `INSERT INTO order_details (period, order_no, product_id, product_name, price, quantity, subtotal)
     VALUES ${lines.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    values,
    t,
  );
}
