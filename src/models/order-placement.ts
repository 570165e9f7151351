// Placing an order: its amount, its lines, its number, once per Idempotency-Key.
import type { Transaction } from 'sequelize';
import { now } from '../lib/clock.js';
import { change, insert, select, transact } from '../lib/db.js';
import { fail } from '../lib/errors.js';
import { Money } from '../lib/money.js';
import { newOrderNumber, periodOf } from '../lib/numbers.js';
import { problem } from '../lib/validation.js';
import { claimKey, type Repeatable } from './idempotency-key.js';
import { orderTotals } from './order.js';
import { withPartition } from './partitions.js';

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
