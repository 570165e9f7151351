// What bench:callback is held against: the callback by hand on bare koa and mysql2, in a process of its own.
//
// One transaction with the statements of the service: find the payment with its method, check the signature, keep the
// attempt, lock the order, pay payment and order, take the third-party number, mark the attempt. It has no queue, so it
// also has none of what the queue is for: an attempt that is kept when settling fails, retries, work apart from the answer.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Koa from 'koa';
import { createPool, type ResultSetHeader, type RowDataPacket } from 'mysql2';
import type { PoolConnection } from 'mysql2/promise';
import { config } from '../config/index.js';

const { host, port, user, password, name, poolSize } = config.database;

const pool = createPool({
  ...{ host, port, user, password, database: name, connectionLimit: poolSize },
  ...{ charset: 'utf8mb4_unicode_ci', timezone: 'Z', supportBigNumbers: true },
});
pool.on('connection', (connection) => {
  connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
});

/** The secret of the one method; the service finds it sealed in the row. */
const secret = process.env.BENCH_SECRET as string;

interface Callback {
  out_trade_no: string;
  trade_status: string;
  sign: string;
}

const app = new Koa();
app.use(async (ctx) => {
  const callback = JSON.parse(await textOf(ctx.req)) as Callback;
  const connection = await pool.promise().getConnection();
  try {
    const orderNo = await settle(connection, callback, ctx.ip);
    ctx.body = {
      code: 200,
      message: '操作成功',
      data: { payment_no: callback.out_trade_no, order_no: orderNo, status: 'paid' },
    };
  } catch (error) {
    await connection.rollback();
    throw error;
  } finally {
    connection.release();
  }
});

async function settle(connection: PoolConnection, callback: Callback, ip: string): Promise<string> {
  const at = new Date();
  const paymentNo = callback.out_trade_no;
  const period = Number(paymentNo.slice(3, 9));
  const thirdPartyNo = `MOCK-${paymentNo}`;
  const body = JSON.stringify(callback);
  await connection.beginTransaction();
  const [[payment]] = await connection.query<RowDataPacket[]>(
    `SELECT p.order_no, p.amount, p.status, p.third_party_no, m.type, m.config, m.secrets
     FROM payments p JOIN payment_methods m ON m.id = p.payment_method_id WHERE p.payment_no = ? AND p.period = ?`,
    [paymentNo, period],
  );
  const sign = createHmac('sha256', secret).update(`${paymentNo}|SUCCESS|${payment?.amount}`).digest('hex');
  if (!timingSafeEqual(Buffer.from(sign), Buffer.from(callback.sign))) throw new Error('wrong signature');
  const orderNo = payment?.order_no as string;
  const orderPeriod = Number(orderNo.slice(3, 9));
  const [attempt] = await connection.query<ResultSetHeader>(
    `INSERT INTO payment_callbacks (period, type, payment_no, third_party_no, body, ip, state, verdict, trace_id, created_at, settled_at)
     VALUES (?, 'mock', ?, ?, ?, ?, 'pending', 'verified', '', ?, NULL)`,
    [period, paymentNo, thirdPartyNo, body, ip, at],
  );
  const [moved] = await connection.query<ResultSetHeader>(
    `UPDATE orders o
       JOIN payments p ON p.payment_no = ? AND p.period = ? AND p.order_no = o.order_no
       JOIN payment_callbacks c ON c.id = ? AND c.period = ? AND c.payment_no = p.payment_no
     SET o.status = 'paid', o.paid_at = c.created_at, o.payment_no = p.payment_no, o.updated_at = ?,
       p.status = 'paid', p.third_party_no = c.third_party_no, p.pay_time = c.created_at, p.notify_data = c.body,
       p.needs_attention = 0, p.fail_reason = NULL, p.updated_at = ?,
       c.state = 'settled', c.verdict = 'paid', c.settled_at = ?
     WHERE o.order_no = ? AND o.period = ? AND o.status = 'pending' AND o.deleted_at IS NULL
       AND p.status IN ('pending', 'failed', 'cancelled') AND c.state = 'pending'`,
    [paymentNo, period, attempt.insertId, period, at, at, at, orderNo, orderPeriod],
  );
  if (moved.affectedRows === 0) throw new Error('the order is not payable');
  await connection.query(
    `INSERT INTO third_party_numbers (type, third_party_no, payment_no) VALUES ('mock', ?, ?)`,
    [thirdPartyNo, paymentNo],
  );
  await connection.commit();
  return orderNo;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

app.listen(config.app.port, config.app.host, () => process.send?.('ready'));
