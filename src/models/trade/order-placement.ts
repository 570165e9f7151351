// Placing an order: its amount, its lines, its number, once per Idempotency-Key.
import { now } from '../../lib/clock.js';
import { payments, select, type Statement } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { Money } from '../../lib/money.js';
import { newOrderNumber, periodOf } from '../../lib/numbers.js';
import { problem } from '../../lib/validation.js';
import type { OrderDetail, OrderRecord } from './order-record.js';
import { withPartition } from '../tables/partitions.js';
import { announcing } from '../tables/versions.js';

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

/**
 * Places an order. The amount is the sum of its lines; a given amount must equal it.
 *
 * @throws order_amount_mismatch, user_unknown, user_disabled
 */
export async function placeOrder(order: NewOrder): Promise<OrderRecord> {
  const at = now();
  const amount = order.details.map(subtotal).reduce((sum, part) => sum.plus(part), new Money(0n));
  if (!amount.withinLimit) fail('value_not_acceptable', { fields: { amount: [problem('number.unsafe')] } });
  if (order.amount && !order.amount.equals(amount)) fail('order_amount_mismatch', { field: 'amount' });
  const order_no = newOrderNumber(at);
  const period = periodOf(at);
  const { expire_in_seconds: lifetime } = order;
  const remark = order.remark || null;
  const expire_at = lifetime ? new Date(at.getTime() + lifetime * 1000) : null;
  const user = await ableUser(order.user_id);
  const head: Statement = {
    sql: `INSERT INTO orders (period, order_no, user_id, amount, remark, expire_at, created_at, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    values: [period, order_no, user.id, amount.toString(), remark, expire_at, at, at],
  };
  const found = {
    sql: 'SELECT id FROM orders WHERE order_no = ? AND period = ?',
    values: [order_no, period],
  };
  const make = (): Promise<number> =>
    payments.make(head, [linesStatement(period, order_no, order.details)], found);
  const id = await announcing(['orders'], () => withPartition(['orders', 'order_details'], period, make));
  return {
    ...{ id, order_no, user_id: user.id, user, amount, status: 'pending', remark, expire_at },
    ...{ paid_at: null, payment_no: null, details: order.details.map(toDetail) },
    ...{ created_at: at, updated_at: at },
  };
}

async function ableUser(id: number): Promise<{ id: number; username: string }> {
  const [user] = await select<{ username: string; status: number }>(
    'SELECT username, status FROM users WHERE id = ? AND deleted_at IS NULL',
    [id],
  );
  if (!user) fail('user_unknown', { field: 'user_id' });
  if (user.status !== 1) fail('user_disabled');
  return { id, username: user.username };
}

function toDetail(line: OrderLine): OrderDetail {
  const { product_id = null, product_name, price, quantity } = line;
  return { product_id, product_name, price, quantity, subtotal: subtotal(line) };
}

function subtotal({ price, quantity }: OrderLine): Money {
  return price.times(quantity);
}

function linesStatement(period: number, orderNo: string, lines: OrderLine[]): Statement {
  return {
    sql: `INSERT INTO order_details (period, order_no, product_id, product_name, price, quantity, subtotal)
      VALUES ${lines.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    values: lines.flatMap((line) => [
      ...[period, orderNo, line.product_id ?? null, line.product_name],
      ...[line.price.toString(), line.quantity, subtotal(line).toString()],
    ]),
  };
}
