// What bench:http is held against: the same lists by hand on bare koa and mysql2, in a process of its own.
//
// It does what nobody can leave out of a signed-in list: check the token (jsonwebtoken with a KeyObject), ask Redis once
// for the session, read the page in one statement and count. It has no validation, language, zone, log or error handling.
// The statements are the service's own; when those change, they change here, so that a ratio tells what the service adds.
import { createSecretKey } from 'node:crypto';
import { Redis } from 'ioredis';
import jwt from 'jsonwebtoken';
import Koa, { type Context } from 'koa';
import { createPool, type RowDataPacket } from 'mysql2/promise';
import { config } from '../config/index.js';

const { host, port, user, password, name, poolSize } = config.database;
const { jwtSecret, jwtIssuer, jwtAudience } = config.auth;

const pool = createPool({
  ...{ host, port, user, password, database: name, connectionLimit: poolSize },
  ...{ charset: 'utf8mb4_unicode_ci', timezone: 'Z', supportBigNumbers: true },
});
const redis = new Redis(config.redis.url);
const secret = createSecretKey(Buffer.from(jwtSecret, 'utf8'));

const columns = `o.id, o.order_no, o.user_id, u.username, o.amount, o.status, o.remark, o.expire_at, o.paid_at, o.payment_no`;
const page =
  'FROM orders o LEFT JOIN users u ON u.id = o.user_id WHERE o.deleted_at IS NULL ORDER BY o.id DESC LIMIT ? OFFSET ?';
const orderTotal = 'SELECT COUNT(*) AS total FROM orders o WHERE o.deleted_at IS NULL';

// Page, users and lines in one statement.
const orders = `SELECT ${columns},
    (SELECT JSON_ARRAYAGG(JSON_OBJECT('id', d.id, 'product_id', d.product_id, 'product_name', d.product_name,
       'price', CAST(d.price AS CHAR), 'quantity', d.quantity, 'subtotal', CAST(d.subtotal AS CHAR)))
     FROM order_details d WHERE d.order_no = o.order_no AND d.period = o.period) AS details,
    o.created_at, o.updated_at ${page}`;

// The same in two statements.
const plainOrders = `SELECT ${columns}, o.created_at, o.updated_at ${page}`;
const linesOf = `SELECT id, order_no, product_id, product_name, price, quantity, subtotal FROM order_details
  WHERE order_no IN (?) AND period IN (?)`;

const admins = `SELECT a.id, a.username, a.nickname, a.email, a.phone, a.avatar, a.status, a.department_id,
    d.name AS department_name,
    (SELECT JSON_ARRAYAGG(JSON_OBJECT('id', r.id, 'name', r.name, 'slug', r.slug))
     FROM admin_roles ar JOIN roles r ON r.id = ar.role_id WHERE ar.admin_id = a.id) AS roles,
    a.created_at, a.updated_at, a.last_login_at
  FROM admins a LEFT JOIN departments d ON d.id = a.department_id ORDER BY a.id DESC LIMIT ? OFFSET ?`;

interface List {
  total: string;
  read(this: void, limit: [number, number]): Promise<object[]>;
}

const lists: Record<string, List> = {
  '/api/admin/orders': {
    total: orderTotal,
    read: async (limit) => (await rows(orders, limit)).map((row) => toOrder(row, parsed<Line>(row.details))),
  },
  '/two-statements/orders': {
    total: orderTotal,
    async read(limit) {
      const found = await rows(plainOrders, limit);
      const numbers = found.map((row) => row.order_no as string);
      const lines = (await rows(linesOf, [
        numbers,
        [...new Set(numbers.map((number) => number.slice(3, 9)))],
      ])) as Line[];
      return found.map((row) =>
        toOrder(
          row,
          lines.filter((line) => line.order_no === row.order_no),
        ),
      );
    },
  },
  '/api/admin/admins': {
    total: 'SELECT COUNT(*) AS total FROM admins a',
    read: async (limit) => (await rows(admins, limit)).map(toAdmin),
  },
};

interface Line {
  id: number;
  order_no?: string;
  product_id: number | null;
  product_name: string;
  price: string;
  quantity: number;
  subtotal: string;
}

function toOrder({ username, amount, details: _, ...row }: RowDataPacket, lines: Line[]): object {
  return {
    ...row,
    user: username === null ? null : { id: row.user_id as number, username: username as string },
    amount: Number(amount),
    details: lines
      .sort((one, other) => one.id - other.id)
      .map(({ product_id, product_name, price, quantity, subtotal }) => ({
        ...{ product_id, product_name, quantity },
        ...{ price: Number(price), subtotal: Number(subtotal) },
      })),
  };
}

function toAdmin({ department_name, roles, ...row }: RowDataPacket): object {
  const held = parsed<{ id: number; slug: string }>(roles).sort((one, other) => one.id - other.id);
  const department = row.department_id && {
    id: row.department_id as number,
    name: department_name as string,
  };
  return { ...row, department, roles: held, is_super_admin: held.some(({ slug }) => slug === 'super-admin') };
}

const app = new Koa();
app.use(async (ctx) => {
  const list = lists[ctx.path];
  if (!list || !(await isSignedIn(ctx))) return ctx.throw(list ? 401 : 404);
  const [page, size] = [Number(ctx.query.page ?? 1), Number(ctx.query.page_size ?? 10)];
  const [found, [counted]] = await Promise.all([list.read([size, (page - 1) * size]), rows(list.total)]);
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

function parsed<T>(column: unknown): T[] {
  return (typeof column === 'string' ? JSON.parse(column) : (column ?? [])) as T[];
}

app.listen(config.app.port, config.app.host, () => process.send?.('ready'));
