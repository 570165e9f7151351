// An order as it is answered: its columns, its user and its lines.
import { select, type SqlValue } from '../../lib/db.js';
import { Money } from '../../lib/money.js';

export const orderStatuses = ['pending', 'paid', 'cancelled'] as const;

export type OrderStatus = (typeof orderStatuses)[number];

export interface OrderRecord {
  id: number;
  order_no: string;
  user_id: number;
  user: { id: number; username: string } | null;
  amount: Money;
  status: OrderStatus;
  remark: string | null;
  expire_at: Date | null;
  paid_at: Date | null;
  payment_no: string | null;
  details: OrderDetail[];
  created_at: Date;
  updated_at: Date;
}

export interface OrderDetail {
  product_id: number | null;
  product_name: string;
  price: Money;
  quantity: number;
  subtotal: Money;
}

/**
 * The orders that `tail` selects from `orders o`, in its order: one statement for them and their users, one for the
 * lines of all of them. (Aggregating lines as JSON in the first one makes MariaDB build a table on disk for every call.)
 *
 * @param tail WHERE, ORDER BY and LIMIT
 */
export async function selectOrders(tail: string, values: SqlValue[]): Promise<OrderRecord[]> {
  const rows = await select<OrderRow>(
    `SELECT o.id, o.period, o.order_no, o.user_id, u.username, o.amount, o.status, o.remark, o.expire_at, o.paid_at,
       o.payment_no, o.created_at, o.updated_at
     FROM orders o LEFT JOIN users u ON u.id = o.user_id ${tail}`,
    values,
  );
  if (rows.length === 0) return [];
  const lines = await select<LineRow>(
    `SELECT order_no, product_id, product_name, price, quantity, subtotal FROM order_details
     WHERE period IN (?) AND order_no IN (?) ORDER BY id`,
    [[...new Set(rows.map(({ period }) => period))], rows.map(({ order_no }) => order_no)],
  );
  const details = new Map<string, OrderDetail[]>();
  for (const line of lines) {
    const known = details.get(line.order_no);
    if (known) known.push(toDetail(line));
    else details.set(line.order_no, [toDetail(line)]);
  }
  return rows.map((row) => toRecord(row, details.get(row.order_no) ?? []));
}

interface OrderRow extends Omit<OrderRecord, 'user' | 'amount' | 'details'> {
  period: number;
  username: string | null;
  amount: string;
}

interface LineRow extends Omit<OrderDetail, 'price' | 'subtotal'> {
  order_no: string;
  price: string;
  subtotal: string;
}

function toDetail({ product_id, product_name, price, quantity, subtotal }: LineRow): OrderDetail {
  const [each, all] = [Money.from(price), Money.from(subtotal)];
  return { product_id, product_name, price: each, quantity, subtotal: all };
}

function toRecord(row: OrderRow, details: OrderDetail[]): OrderRecord {
  return {
    id: row.id,
    order_no: row.order_no,
    user_id: row.user_id,
    user: row.username === null ? null : { id: row.user_id, username: row.username },
    amount: Money.from(row.amount),
    status: row.status,
    remark: row.remark,
    expire_at: row.expire_at,
    paid_at: row.paid_at,
    payment_no: row.payment_no,
    details,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}
