// Pending payments for bench:callback, each for an order of its own, and the callbacks that pay them.
import { createHmac } from 'node:crypto';
import type { Connection } from 'mysql2/promise';
import { periodOf } from '../../src/lib/values/numbers.js';
import { makeNumbers, makeUsers } from './orders.js';
import { call } from './session.js';
import { rows } from './site.js';

/**
 * Inserts that many pending orders of this month, each with a pending payment by that method.
 *
 * @returns the body of the signed callback of each payment
 */
export async function fillPayments(
  db: Connection,
  total: number,
  methodId: number,
  secret: string,
): Promise<string[]> {
  const at = new Date();
  const places = {
    at,
    period: periodOf(at),
    day: at.toISOString().slice(0, 10).replaceAll('-', ''),
    methodId,
    total,
  };
  const run = (sql: string): Promise<unknown> => db.query({ sql, namedPlaceholders: true, values: places });
  await makeNumbers(db, total);
  await makeUsers(db);
  // A running number and a hash in hexadecimal digits, which are ULID digits.
  const ulid = `LPAD(HEX(n), 10, '0'), UPPER(LEFT(MD5(n), 16))`;
  await run(
    `INSERT INTO orders (period, order_no, user_id, amount, created_at, updated_at)
     SELECT :period, CONCAT('ORD', :period, ${ulid}), 1 + n % 1000, (1000 + n % 9000) / 100, :at, :at
     FROM bench_numbers WHERE n < :total ORDER BY n`,
  );
  await run(
    `INSERT INTO order_details (period, order_no, product_name, price, quantity, subtotal)
     SELECT period, order_no, 'Tea', amount, 1, amount FROM orders ORDER BY id`,
  );
  await run(
    `INSERT INTO payments (period, payment_no, order_no, user_id, payment_method_id, amount, created_at, updated_at)
     SELECT period, REPLACE(order_no, CONCAT('ORD', :period), CONCAT('PAY', :day)), order_no, user_id, :methodId, amount, :at, :at
     FROM orders ORDER BY id`,
  );
  await db.query('ANALYZE TABLE orders, payments');
  const payments = await rows<{ payment_no: string; amount: string }>(
    db,
    'SELECT payment_no, amount FROM payments ORDER BY id',
  );
  return payments.map(({ payment_no, amount }) => callbackOf(payment_no, amount, secret));
}

/** Orders with a payment each, made through the API. @returns the bodies of their signed callbacks */
export async function callbacksFor(
  url: string,
  headers: Record<string, string>,
  total: number,
): Promise<string[]> {
  const post = <T>(path: string, body: object): Promise<T> =>
    call<T>(`${url}/api/admin${path}`, headers, body);
  const secret = 'bench shared secret';
  const { id } = await post<{ id: number }>('/payment-methods', { type: 'mock', shared_secret: secret });
  const details = [{ product_name: 'Tea', price: '2.50', quantity: 1 }];
  const made: string[] = [];
  while (made.length < total) {
    const { order_no } = await post<{ order_no: string }>('/orders', { user_id: 1, details });
    const payment = { order_no, payment_method_id: id };
    const { payment_no } = await post<{ payment_no: string }>('/payments', payment);
    made.push(callbackOf(payment_no, '2.50', secret));
  }
  return made;
}

/** Sends a callback. @returns how many milliseconds it took to be paid @throws Error when it was not */
export async function sendCallback(url: string, body: string): Promise<number> {
  const startedAt = performance.now();
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/api/payment/notify/mock`, { method: 'POST', headers, body });
  const text = await answer.text();
  if (!text.includes('"status":"paid"')) throw new Error(`a callback was answered ${text}`);
  return performance.now() - startedAt;
}

/** Body of a mock callback (spec.md, Payment callback, rule 3). */
export function callbackOf(paymentNo: string, amount: string, secret: string): string {
  const sign = createHmac('sha256', secret).update(`${paymentNo}|SUCCESS|${amount}`).digest('hex');
  return JSON.stringify({ out_trade_no: paymentNo, trade_status: 'SUCCESS', sign });
}
