// What callbacks are held against: the callback by hand on bare koa and mysql2, in one transaction of eight trips.
//
// The leanest statements: find the payment with its method, check the signature, store the attempt, pay order and payment,
// mark the attempt, take the third-party number. It has no queue, so it also has none of what the queue is for: an attempt
// that stays stored when settling fails, retries, work apart from the answer. Nor does it cancel other payments of the order.
import { json } from 'node:stream/consumers';
import type { ResultSetHeader, RowDataPacket } from 'mysql2';
import type { PoolConnection } from 'mysql2/promise';
import { callbackOf } from '../support/payments.js';
import { pool, serve } from './bare.js';

serve(async ({ req, ip }) => {
  const callback = (await json(req)) as { out_trade_no: string };
  const connection = await pool.getConnection();
  await connection.beginTransaction();
  const order_no = await settle(connection, callback.out_trade_no, JSON.stringify(callback), ip);
  await connection.commit();
  connection.release();
  return { payment_no: callback.out_trade_no, order_no, status: 'paid' };
});

async function settle(db: PoolConnection, paymentNo: string, body: string, ip: string): Promise<string> {
  const at = new Date();
  const period = Number(paymentNo.slice(3, 9));
  const [[payment]] = await db.query<RowDataPacket[]>(
    `SELECT p.order_no, p.amount, p.status, p.third_party_no, m.type, m.config, m.secrets
     FROM payments p JOIN payment_methods m ON m.id = p.payment_method_id
     WHERE p.payment_no = :paymentNo AND p.period = :period`,
    { paymentNo, period },
  );
  if (body !== callbackOf(paymentNo, payment?.amount as string)) throw new Error('wrong signature');
  const orderNo = payment?.order_no as string;
  const orderPeriod = Number(orderNo.slice(3, 9));
  const values = { at, period, paymentNo, orderNo, orderPeriod, body, ip, thirdPartyNo: `MOCK-${paymentNo}` };
  const change = async (sql: string, more = {}): Promise<number> => {
    const [{ affectedRows, insertId }] = await db.query<ResultSetHeader>(sql, { ...values, ...more });
    if (affectedRows === 0) throw new Error('the order is not payable');
    return insertId;
  };
  const attempt = await change(
    `INSERT INTO payment_callbacks (period, type, payment_no, third_party_no, body, ip, state, verdict, trace_id, created_at, settled_at)
     VALUES (:period, 'mock', :paymentNo, :thirdPartyNo, :body, :ip, 'pending', 'verified', '', :at, NULL)`,
  );
  await change(
    `UPDATE orders SET status = 'paid', paid_at = :at, payment_no = :paymentNo, updated_at = :at
     WHERE order_no = :orderNo AND period = :orderPeriod AND status = 'pending' AND deleted_at IS NULL`,
  );
  await change(
    `UPDATE payments SET status = 'paid', third_party_no = :thirdPartyNo, pay_time = :at, notify_data = :body,
       needs_attention = 0, fail_reason = NULL, updated_at = :at
     WHERE payment_no = :paymentNo AND period = :period AND status IN ('pending', 'failed', 'cancelled')`,
  );
  await change(
    `UPDATE payment_callbacks SET state = 'settled', verdict = 'paid', settled_at = :at
     WHERE id = :attempt AND period = :period AND state = 'pending'`,
    { attempt },
  );
  await change(
    `INSERT INTO third_party_numbers (type, third_party_no, payment_no) VALUES ('mock', :thirdPartyNo, :paymentNo)`,
  );
  return orderNo;
}
