// What bench:callback is held against: the callback by hand on bare koa and mysql2, in a process of its own.
//
// One transaction of the leanest statements without temporary tables: find the payment with its method, check
// the signature, keep the attempt, pay order and payment, mark the attempt, take the third-party number. It has no queue, so
// it also has none of what the queue is for: an attempt that stays stored when settling fails, retries, work apart from the
// answer. Nor does it cancel other payments of the order, or keep totals of lists exact.
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import Koa from 'koa';
import { createPool, type ResultSetHeader, type RowDataPacket } from 'mysql2';
import type { PoolConnection } from 'mysql2/promise';
import { config } from '../../config/index.js';

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
  const changes: [string, unknown[]][] = [
    [
      `UPDATE orders SET status = 'paid', paid_at = ?, payment_no = ?, updated_at = ?
       WHERE order_no = ? AND period = ? AND status = 'pending' AND deleted_at IS NULL`,
      [at, paymentNo, at, orderNo, orderPeriod],
    ],
    [
      `UPDATE payments SET status = 'paid', third_party_no = ?, pay_time = ?, notify_data = ?, needs_attention = 0,
         fail_reason = NULL, updated_at = ?
       WHERE payment_no = ? AND period = ? AND status IN ('pending', 'failed', 'cancelled')`,
      [thirdPartyNo, at, body, at, paymentNo, period],
    ],
    [
      `UPDATE payment_callbacks SET state = 'settled', verdict = 'paid', settled_at = ?
       WHERE id = ? AND period = ? AND state = 'pending'`,
      [at, attempt.insertId, period],
    ],
  ];
  for (const [sql, values] of changes) {
    const [moved] = await connection.query<ResultSetHeader>(sql, values);
    if (moved.affectedRows === 0) throw new Error('the order is not payable');
  }
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
