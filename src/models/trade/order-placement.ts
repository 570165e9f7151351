// Placing an order: its amount, its lines, its number, once per Idempotency-Key.
import { blankToNull } from '../../lib/input/schema.js';
import { now } from '../../lib/values/clock.js';
import { change, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { Money } from '../../lib/values/money.js';
import { announce } from '../../lib/redis/changes.js';
import { newOrderNumber, periodOf } from '../../lib/values/numbers.js';
import { refuseField } from '../../lib/input/validation.js';
import { withPartition } from '../tables/partitions.js';
import { insertRow, insertSql } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import { blank } from '../tables/table.js';
import type { LineRecord, OrderFields, OrderRecord } from './order.js';
import { Order, OrderDetail, User } from './tables.js';

export interface OrderLine {
  product_id?: number | null;
  product_name: string;
  price: Money;
  quantity: number;
}

export interface NewOrder extends OrderFields {
  user_id: number;
  details: OrderLine[];
  amount?: Money;
  expire_in_seconds?: number;
}

/**
 * Places an order. The amount is the sum of its lines; a given amount must equal it.
 *
 * @throws order_amount_mismatch, user_unknown, user_disabled
 */
export async function placeOrder(order: NewOrder): Promise<OrderRecord> {
  const { user_id, details: ordered, amount: stated, expire_in_seconds: lifetime, ...fields } = order;
  const at = now();
  const amount = ordered.map(subtotal).reduce((sum, part) => sum.plus(part), Money.zero);
  if (!amount.withinLimit) refuseField('value_not_acceptable', 'amount', 'number.unsafe');
  if (stated && !stated.equals(amount)) fail('order_amount_mismatch', { field: 'amount' });
  const order_no = newOrderNumber(at);
  const period = periodOf(at);
  const user = await ableUser(user_id);
  const head = {
    ...blank(Order),
    ...blankToNull(fields),
    order_no,
    user_id: user.id,
    amount,
    expire_at: lifetime ? new Date(at.getTime() + lifetime * 1000) : null,
    created_at: at,
    updated_at: at,
  };
  const details = ordered.map(toDetail);
  const lines = details.map((line) => ({ ...line, period, order_no }));
  const make = (): Promise<number> =>
    transact(async (t) => {
      const id = await insertRow(Order, { ...head, period }, t);
      const { sql, values } = insertSql(OrderDetail, lines);
      await change(sql, values, t);
      return id;
    });
  const id = await withPartition(['orders', 'order_details'], period, make);
  announce(['orders']);
  return {
    id,
    ...head,
    status: 'pending',
    user,
    details,
  };
}

const users = selection(columnsOf(User, 'u', 'id', 'username', 'status'), 'users u');

async function ableUser(id: number): Promise<{ id: number; username: string }> {
  const user = await users.first('WHERE u.id = :id AND u.deleted_at IS NULL', { id });
  if (!user) fail('user_unknown', { field: 'user_id' });
  if (user.status !== 1) fail('user_disabled');
  return { id, username: user.username };
}

function toDetail(line: OrderLine): LineRecord {
  const { product_id, product_name, price, quantity } = line;
  return { product_id: product_id || null, product_name, price, quantity, subtotal: subtotal(line) };
}

function subtotal({ price, quantity }: OrderLine): Money {
  return price.times(quantity);
}
