// What bench:http is held against: the list of orders by hand on bare koa and mysql2, in a process of its own.
//
// It does what nobody can leave out of a signed-in list: check the token (jsonwebtoken with a KeyObject), ask Redis once
// for the session, read the page with what belongs to it, and count. It has no validation, language, zone, log or error handling.
// Asked with `uncounted` it does not count either, which no list that shows a total could leave out.
// The statements are the service's own; when those change, they change here, so that a ratio tells what the service adds.
import { createSecretKey } from 'node:crypto';
import jwt from 'jsonwebtoken';
import Koa, { type Context } from 'koa';
import { createPool, type RowDataPacket } from 'mysql2/promise';
import { config } from '../../config/index.js';
import { openConnection } from '../../src/lib/redis/connection.js';

const { host, port, user, password, name, poolSize } = config.database;
const { jwtSecret, jwtIssuer, jwtAudience } = config.auth;

const pool = createPool({
  ...{ host, port, user, password, database: name, connectionLimit: poolSize },
  ...{ charset: 'utf8mb4_unicode_ci', timezone: 'Z', supportBigNumbers: true },
});
const redis = openConnection('commands', {});
const secret = createSecretKey(Buffer.from(jwtSecret, 'utf8'));

const columns = `o.id, o.order_no, o.user_id, u.username, o.amount, o.status, o.remark, o.expire_at, o.paid_at, o.cancelled_at, o.payment_no`;
const page =
  'FROM orders o LEFT JOIN users u ON u.id = o.user_id WHERE o.deleted_at IS NULL ORDER BY o.id DESC LIMIT ? OFFSET ?';
const orderTotal = 'SELECT COUNT(*) AS total FROM orders o WHERE o.deleted_at IS NULL';

const orders = `SELECT ${columns}, o.created_at, o.updated_at ${page}`;
const linesOf = `SELECT order_no, product_id, product_name, price, quantity, subtotal FROM order_details
  WHERE period IN (?) AND order_no IN (?) ORDER BY id`;

async function read(limit: [number, number]): Promise<object[]> {
  const found = await rows(orders, limit);
  const numbers = found.map((row) => row.order_no as string);
  const months = [...new Set(numbers.map((number) => number.slice(3, 9)))];
  const lines = await rows(linesOf, [months, numbers]);
  return found.map((row) =>
    toOrder(
      row,
      lines.filter((line) => line.order_no === row.order_no),
    ),
  );
}

function toOrder({ username, amount, ...row }: RowDataPacket, lines: RowDataPacket[]): object {
  return {
    ...row,
    user: username === null ? null : { id: row.user_id as number, username: username as string },
    amount: Number(amount),
    details: lines.map(({ product_id, product_name, price, quantity, subtotal }) => ({
      ...{
        product_id: product_id as number,
        product_name: product_name as string,
        quantity: quantity as number,
      },
      ...{ price: Number(price), subtotal: Number(subtotal) },
    })),
  };
}

const app = new Koa();
app.use(async (ctx) => {
  if (!(await isSignedIn(ctx))) return ctx.throw(401);
  const [page, size] = [Number(ctx.query.page ?? 1), Number(ctx.query.page_size ?? 10)];
  const counting = ctx.query.uncounted === undefined ? rows(orderTotal) : [{ total: 0 }];
  const [found, [counted]] = await Promise.all([read([size, (page - 1) * size]), counting]);
  const data = { list: found, page, page_size: size, total: counted?.total as number };
  ctx.body = { code: 200, message: '操作成功', data };
});

async function isSignedIn(ctx: Context): Promise<boolean> {
  const token = ctx.get('Authorization').slice('Bearer '.length);
  const claims = jwt.verify(token, secret, {
    algorithms: ['HS256'],
    issuer: jwtIssuer,
    audience: jwtAudience,
  });
  return (
    typeof claims === 'object' &&
    (await redis.get(`{${config.redis.prefix}}:baseline:${claims.jti}`)) !== null
  );
}

async function rows(sql: string, values: unknown[] = []): Promise<RowDataPacket[]> {
  return (await pool.query<RowDataPacket[]>(sql, values))[0];
}

app.listen(config.app.port, config.app.host, () => process.send?.('ready'));
