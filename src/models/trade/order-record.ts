// An order in answers: its columns, its user and its lines.
import type { SqlValue } from '../../lib/database/db.js';
import { columnsOf, joined, selection, type RowOf, type Run } from '../tables/selection.js';
import type { Listed } from '../tables/table.js';
import { Order, OrderDetail, User } from './tables.js';

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
export async function selectOrders(tail: string, values: SqlValue[], run: Run): Promise<OrderRecord[]> {
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
