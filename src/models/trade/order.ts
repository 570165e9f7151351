// orders: what users are to pay for; lists, changes, cancelling. Only payment-settlement.ts makes an order paid.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { Where, type ListQuery, type Page, type TimeRange } from '../../lib/input/list-query.js';
import type { Money } from '../../lib/money.js';
import { orderPeriod, periodOf } from '../../lib/numbers.js';
import { id, money } from '../../lib/input/schema.js';
import { stepOf } from '../tables/amount-steps.js';
import { journals, journalChanges } from '../tables/list-journal.js';
import { monthlyPage } from '../tables/month-pages.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import { updateRows } from '../tables/rows.js';
import { over } from '../tables/sql.js';
import { selectOrders, type OrderRecord } from './order-record.js';
import { Order, orderStatuses, type OrderStatus } from './tables.js';
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

/** The filters of the list and of its export. */
export const orderFilters = {
  order_no: Joi.string().allow('').max(64),
  user_id: id(),
  status: Joi.string().valid(...orderStatuses),
  min_amount: money(0n),
  max_amount: money(0n),
  keyword: Joi.string().allow('').max(100),
};

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

/** Counts and amounts of paid orders by time of payment. Paid is final, so the row is enough. */
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

export interface OrderUpdate {
  remark?: string | null;
  /** The one it has, or cancelled. */
  status?: OrderStatus;
}

/** Changes the remark, or cancels a pending order together with its pending payments. */
export async function updateOrder(reference: string, changes: OrderUpdate): Promise<void> {
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
    await updateRows(Order, { remark: changes.remark || null, updated_at: now() }, keyOf(order), t);
    await journalChanges('orders', rowOf(order), { remark: order.remark }, t);
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
    await updateRows(Order, { deleted_at: now() }, keyOf(order), t);
    await journalChanges('orders', rowOf(order), { deleted_at: null }, t);
  });
}

/** Cancels an order whose time is up; does nothing when it is no longer pending. */
export async function expireOrder(orderNo: string): Promise<'cancelled' | 'not_due'> {
  const period = orderPeriod(orderNo);
  if (period === undefined) return 'not_due';
  return changingOrders(async (t) => {
    const due = sql(
      `WHERE o.order_no = :orderNo AND o.period = :period AND o.status = 'pending' AND o.expire_at <= :at
         AND o.deleted_at IS NULL FOR UPDATE`,
      { orderNo, period, at: now() },
    );
    const order = await lockable.one(due, { t });
    // A callback that came in time is settled first.
    if (!order || (await isBeingPaid(orderNo, t))) return 'not_due';
    await cancel(order, t);
    return 'cancelled';
  });
}

/** Numbers of pending orders whose time was up before that instant, the most overdue first; read 500 at a time. */
export async function* overdueOrders(before: Date): AsyncGenerator<string> {
  let last: RowOf<typeof overdue> | undefined = { order_no: '', expire_at: new Date(0) };
  while (last) {
    const { order_no, expire_at } = last;
    const rows: RowOf<typeof overdue>[] = await overdueKeys.where(
      sql(
        `WHERE o.status = 'pending' AND o.deleted_at IS NULL AND o.expire_at >= :expire_at AND o.expire_at < :before
           AND (o.expire_at > :expire_at OR o.order_no > :order_no) ORDER BY o.expire_at, o.order_no LIMIT 500`,
        { before, order_no, expire_at },
      ),
    );
    for (const row of rows) yield row.order_no;
    last = rows.length < 500 ? undefined : rows.at(-1);
  }
}

const sql = over({ 'orders o': Order });
const overdue = columnsOf(Order, 'o', 'order_no', 'expire_at');
const overdueKeys = selection(overdue, 'orders o');
const locked = columnsOf(Order, 'o', 'id', 'order_no', 'period', 'status', 'remark');
const lockable = selection(locked, 'orders o');

type LockedOrder = RowOf<typeof locked>;

// Cancelling an order cancels its payments, so lists of both change.
const changingOrders = <T>(write: (t: Transaction) => Promise<T>): Promise<T> =>
  announcing(['orders', 'payments'], () => transact(write));

const keyOf = ({ id, period }: LockedOrder) => ({ id, period });

const rowOf = ({ id, period }: LockedOrder) => changed('r.id = :id AND r.period = :period', { id, period });

const changed = over({ 'orders r': Order });

function byReference(reference: string): Where {
  const where = new Where().and('o.deleted_at IS NULL');
  const period = orderPeriod(reference);
  if (period !== undefined) return where.and('o.order_no = ? AND o.period = ?', reference, period);
  return /^[1-9]\d{0,15}$/.test(reference)
    ? where.and('o.id = ?', Number(reference))
    : fail('order_not_found');
}

async function lockOrder(where: Where, t: Transaction): Promise<LockedOrder> {
  const order = await lockable.first(`${where.sql} FOR UPDATE`, where.values, { t });
  return order ?? fail('order_not_found');
}

async function cancel(order: LockedOrder, t: Transaction): Promise<void> {
  const at = now();
  await updateRows(Order, { status: 'cancelled', cancelled_at: at, updated_at: at }, keyOf(order), t);
  await journalChanges('orders', rowOf(order), { status: 'pending' }, t);
  await cancelPayments(order, t);
}
