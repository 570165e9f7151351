// Pending payments, each of an order of its own, and the callbacks that pay them.
import { createHmac } from 'node:crypto';
import type { RowDataPacket } from 'mysql2';
import { periodOf } from '../../src/lib/values/numbers.js';
import type { Process } from './processes.js';
import { call, signIn } from './session.js';
import type { Site } from './site.js';

const secret = 'bench shared secret';
export const notifyPath = '/api/payment/notify/mock';

/** @returns the id of a new payment method of the mock channel */
export async function makeMethod({ url }: Process): Promise<number> {
  const method = { type: 'mock', shared_secret: secret };
  const { id } = await call<{ id: number }>(`${url}/api/admin/payment-methods`, await signIn(url), method);
  return id;
}

/** Inserts a payment for each of so many pending orders of the site. @returns the bodies of their callbacks */
export async function pendingPayments({ db }: Site, api: Process, total: number): Promise<string[]> {
  const at = new Date();
  const day = at.toISOString().slice(0, 10).replaceAll('-', '');
  const values = { at, period: periodOf(at), day, methodId: await makeMethod(api), total };
  const sql = `INSERT INTO payments (period, payment_no, order_no, user_id, payment_method_id, amount, created_at, updated_at)
    SELECT :period, CONCAT('PAY', :day, SUBSTR(order_no, 10)), order_no, user_id, :methodId, amount, :at, :at
    FROM orders WHERE status = 'pending' ORDER BY id LIMIT :total`;
  await db.query({ sql, namedPlaceholders: true, values });
  await db.query('ANALYZE TABLE payments');
  const [payments] = await db.query<RowDataPacket[]>('SELECT payment_no, amount FROM payments');
  return payments.map(({ payment_no, amount }) => callbackOf(payment_no as string, amount as string));
}

/** Body of a mock callback (spec.md, Payment callback, rule 3). */
export function callbackOf(paymentNo: string, amount: string): string {
  const sign = createHmac('sha256', secret).update(`${paymentNo}|SUCCESS|${amount}`).digest('hex');
  return JSON.stringify({ out_trade_no: paymentNo, trade_status: 'SUCCESS', sign });
}

/** Sends a callback. @returns the milliseconds until it was answered as paid @throws Error when it was not */
export async function pay({ url }: Process, callback = ''): Promise<number> {
  const startedAt = performance.now();
  const { status } = await call<{ status: string }>(url + notifyPath, {}, JSON.parse(callback) as object);
  if (status !== 'paid') throw new Error(`a callback was answered ${status}`);
  return performance.now() - startedAt;
}
