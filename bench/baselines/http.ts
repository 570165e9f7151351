// What the list of orders is held against: the same by hand on bare koa and mysql2.
//
// It does what nobody can leave out of a signed-in list: check the token, ask Redis once whether it is revoked, read the page
// with what belongs to it, and count. It has no validation, language, zone, log or error handling. With `uncounted` it does
// not count either, which no list that shows a total could leave out. The statements are the service's own; when those
// change, they change here, so that a ratio shows what the service adds.
import { createSecretKey } from 'node:crypto';
import jwt, { type JwtPayload } from 'jsonwebtoken';
import type { RowDataPacket } from 'mysql2';
import { config } from '../../config/index.js';
import { openConnection } from '../../src/lib/redis/connection.js';
import { pool, serve } from './bare.js';

const { jwtSecret, jwtIssuer: issuer, jwtAudience: audience } = config.auth;
const redis = openConnection('commands', {});
const secret = createSecretKey(Buffer.from(jwtSecret, 'utf8'));

const page = `SELECT o.id, o.order_no, o.user_id, u.username, o.amount, o.status, o.remark, o.expire_at, o.paid_at,
    o.cancelled_at, o.payment_no, o.created_at, o.updated_at
  FROM orders o LEFT JOIN users u ON u.id = o.user_id WHERE o.deleted_at IS NULL ORDER BY o.id DESC LIMIT ? OFFSET ?`;
const linesOf = `SELECT order_no, product_id, product_name, price, quantity, subtotal FROM order_details
  WHERE period IN (?) AND order_no IN (?) ORDER BY id`;
const count = 'SELECT COUNT(*) AS total FROM orders o WHERE o.deleted_at IS NULL';

serve(async (ctx) => {
  const token = ctx.get('Authorization').slice('Bearer '.length);
  const { jti } = jwt.verify(token, secret, { algorithms: ['HS256'], issuer, audience }) as JwtPayload;
  const revoked = await redis.get(`{${config.redis.prefix}}:revoked:${jti}`);
  if (revoked !== null) return ctx.throw(401);
  const size = Number(ctx.query.page_size);
  const counting = ctx.query.uncounted === undefined ? select(count) : [{ total: 0 }];
  const [list, [counted]] = await Promise.all([ordersOf(size), counting]);
  return { list, page: 1, page_size: size, total: counted?.total as number };
});

async function ordersOf(limit: number): Promise<object[]> {
  const orders = await select(page, [limit, 0]);
  const numbers = orders.map((order) => order.order_no as string);
  const months = [...new Set(numbers.map((number) => number.slice(3, 9)))];
  const lines = await select(linesOf, [months, numbers]);
  return orders.map(({ username, amount, ...order }) => ({
    ...order,
    user: username === null ? null : { id: order.user_id as number, username: username as string },
    amount: Number(amount),
    details: lines
      .filter((line) => line.order_no === order.order_no)
      .map(({ order_no: _, price, subtotal, ...line }) => ({
        ...line,
        price: Number(price),
        subtotal: Number(subtotal),
      })),
  }));
}

async function select(sql: string, values: unknown[] = []): Promise<RowDataPacket[]> {
  const [rows] = await pool.query<RowDataPacket[]>(sql, values);
  return rows;
}
