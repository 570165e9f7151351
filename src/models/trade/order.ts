// orders: what users are to pay for; lists, records, changes, cancelling. Only payment-settlement.ts makes an order
// paid.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { blankToNull, money, textFilter } from '../../lib/input/schema.js';
import { now } from '../../lib/values/clock.js';
import { reports, select, transact, type SqlValue } from '../../lib/database/db.js';
import { announce } from '../../lib/redis/changes.js';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, Where, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import type { Money } from '../../lib/values/money.js';
import { orderPeriod } from '../../lib/values/numbers.js';
import { addFilters, filtersOf } from '../tables/filters.js';
import { listPage } from '../tables/page.js';
import { columnsOf, joined, selection, sumWhere, type RowOf, type Run } from '../tables/selection.js';
import { lockRows, updateRows } from '../tables/rows.js';
import type { Fields, Listed } from '../tables/table.js';
import { Order, OrderDetail, User, type OrderStatus } from './tables.js';
import { cancelPayments } from './payment.js';
import { isBeingPaid } from './payment-callback.js';
import { closeBeforeExpiry } from './payment-follow-up.js';

export const orderFilters = {
  order_no: textFilter(64),
  ...filtersOf(Order),
  min_amount: money(0n),
  max_amount: money(0n),
  keyword: textFilter(100),
  time_field: Joi.string().valid('created_at', 'paid_at').default('created_at'),
};

/** `user_id` is one of the filters that the class declares. */
export type OrderCriteria = Criteria<typeof orderFilters> & { user_id?: number; time_field: string };

type OrderFilter = OrderCriteria & ListQuery;

/** The query of the list. */
export const orderQuery = listQuery<OrderFilter>(
  ['id', 'amount', 'status', 'paid_at', 'expire_at', 'created_at', 'updated_at'],
  orderFilters,
);

const head = { ...columnsOf(Order, 'o'), user: joined(columnsOf(User, 'u', 'id', 'username')) };

/** A line of an order in answers. */
export type LineRecord = Listed<OrderDetail>;

/** An order in answers. */
export type OrderRecord = RowOf<typeof head> & { details: LineRecord[] };

const heads = selection(
  { ...head, ...columnsOf(Order, 'o', 'period') },
  'orders o',
  'LEFT JOIN users u ON u.id = o.user_id',
);

const lines = selection(
  { ...columnsOf(OrderDetail, 'd'), ...columnsOf(OrderDetail, 'd', 'order_no') },
  'order_details d',
);

/**
 * The orders that `tail` selects from `orders o`, in its order: one statement for them and their users, one for the
 * lines of all of them. (With lines as JSON in the first one, MariaDB would build a table on disk for every call.)
 *
 * @param tail WHERE, ORDER BY and LIMIT
 */
async function selectOrders(tail: string, values: SqlValue[], run: Run): Promise<OrderRecord[]> {
  const rows = await heads.rows(tail, values, run);
  if (rows.length === 0) return [];
  const months = [...new Set(rows.map(({ period }) => period))];
  const numbers = rows.map(({ order_no }) => order_no);
  const found = await lines.rows(
    'WHERE d.period IN (:months) AND d.order_no IN (:numbers) ORDER BY d.id',
    { months, numbers },
    run,
  );
  const details = new Map<string, LineRecord[]>(numbers.map((number) => [number, []]));
  for (const { order_no, ...line } of found) details.get(order_no)?.push(line);
  return rows.map(({ period: _, ...order }) => ({ ...order, details: details.get(order.order_no) ?? [] }));
}

export function listOrders(query: OrderFilter): Promise<Page<OrderRecord>> {
  const read = (tail: string, values: SqlValue[]) => selectOrders(tail, values, { on: reports });
  return listPage('orders o', read, ordersWhere(query), query);
}

export const sumOrders = (criteria: OrderCriteria): Promise<Money | undefined> =>
  sumWhere(columnsOf(Order, 'o').amount, 'orders o', ordersWhere(criteria));

/** The condition of a list over `orders o`. */
export function ordersWhere(criteria: OrderCriteria): Where {
  const visible = new Where().and('o.deleted_at IS NULL');
  return addFilters(visible, Order, 'o', criteria)
    .numbered('o.order_no', criteria.order_no, 'o.period')
    .between('o.amount', criteria.min_amount?.toString(), criteria.max_amount?.toString())
    .contains('o.remark', criteria.keyword)
    .duringField('o', criteria);
}

/** The order of that number or numeric id, locked in a transaction. @throws order_not_found */
export async function getOrder(reference: string, t?: Transaction): Promise<OrderRecord> {
  const where = byReference(reference);
  if (t) await lockRows('orders o', where, t);
  const [order] = await selectOrders(where.sql, where.values, { t });
  return order ?? fail('order_not_found');
}

/** Columns that the service sets. */
type OwnColumn =
  | 'period'
  | 'order_no'
  | 'user_id'
  | 'amount'
  | 'status'
  | 'expire_at'
  | 'paid_at'
  | 'payment_no'
  | 'deleted_at'
  | 'cancelled_at';

/** Columns that callers set. */
export type OrderFields = Partial<Fields<Order, OwnColumn>>;

export interface OrderUpdate extends OrderFields {
  /** The present one, or cancelled. */
  status?: OrderStatus;
}

/** Changes the fields given, or cancels a pending order together with its pending payments. */
export async function updateOrder(reference: string, { status, ...fields }: OrderUpdate): Promise<void> {
  const where = byReference(reference);
  await transact(async (t) => {
    const order = await lockOrder(where, t);
    if (status !== undefined && status !== order.status) {
      if (status !== 'cancelled') fail('order_status_unsettable', { field: 'status' });
      if (order.status !== 'pending') fail('order_not_cancellable');
      if (await isBeingPaid(order.order_no, t)) fail('order_being_paid');
      await cancel(order, t);
    }
    if (Object.keys(fields).length === 0) return;
    await updateRows(Order, { ...blankToNull(fields), updated_at: now() }, keyOf(order), t);
  });
  announce(orderLists);
}

/** Soft-deletes a pending or cancelled order; its pending payments are cancelled. */
export async function deleteOrder(reference: string): Promise<void> {
  const where = byReference(reference);
  await transact(async (t) => {
    const order = await lockOrder(where, t);
    if (order.status === 'paid') fail('order_not_deletable');
    if (await isBeingPaid(order.order_no, t)) fail('order_being_paid');
    if (order.status === 'pending') await cancel(order, t);
    await updateRows(Order, { deleted_at: now() }, keyOf(order), t);
  });
  announce(orderLists);
}

/**
 * Cancels an expired order that is still pending.
 *
 * @returns closing: it first waits, for ten minutes at most, until its payments are closed at their companies
 */
export async function expireOrder(orderNo: string): Promise<'cancelled' | 'closing' | 'not_due'> {
  const period = orderPeriod(orderNo);
  if (period === undefined) return 'not_due';
  const outcome = await transact(async (t) => {
    const order = await lockable.first(
      `WHERE o.order_no = :orderNo AND o.period = :period AND o.status = 'pending' AND o.expire_at <= :at
         AND o.deleted_at IS NULL FOR UPDATE`,
      { orderNo, period, at: now() },
      { t },
    );
    // A callback that arrived in time is settled first.
    if (!order || (await isBeingPaid(orderNo, t))) return 'not_due';
    // Nobody must pay for an order that has expired.
    if (await closeBeforeExpiry(orderNo, t)) return 'closing';
    await cancel(order, t);
    return 'cancelled';
  });
  announce(orderLists);
  return outcome;
}

/** Numbers of pending orders that expired before that instant, the most overdue first, 100,000 at most: some wait for their company. */
export async function overdueOrders(before: Date): Promise<string[]> {
  const rows = await select<{ order_no: string }>(
    `SELECT order_no FROM orders WHERE status = 'pending' AND deleted_at IS NULL AND expire_at < :before
     ORDER BY expire_at LIMIT 100000`,
    { before },
  );
  return rows.map(({ order_no }) => order_no);
}

const locked = columnsOf(Order, 'o', 'id', 'order_no', 'period', 'status');
const lockable = selection(locked, 'orders o');

type LockedOrder = RowOf<typeof locked>;

// Cancelling an order cancels its payments, so lists of both change.
const orderLists = ['orders', 'payments'] as const;

const keyOf = ({ id, period }: LockedOrder) => ({ id, period });

function byReference(reference: string): Where {
  const where = new Where().and('o.deleted_at IS NULL');
  return where.byReference('o', 'order_no', reference, orderPeriod(reference)) ?? fail('order_not_found');
}

async function lockOrder(where: Where, t: Transaction): Promise<LockedOrder> {
  const order = await lockable.first(`${where.sql} FOR UPDATE`, where.values, { t });
  return order ?? fail('order_not_found');
}

async function cancel(order: LockedOrder, t: Transaction): Promise<void> {
  const at = now();
  await updateRows(Order, { status: 'cancelled', cancelled_at: at, updated_at: at }, keyOf(order), t);
  await cancelPayments(order, t);
}
