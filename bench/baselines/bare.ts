// What baselines share: connections to the database of their site as the service makes them, and a bare koa.
import Koa, { type Context } from 'koa';
import { createPool } from 'mysql2';
import { config } from '../../config/index.js';

const { host, port, user, password, name: database, poolSize } = config.database;

export const address = { host, port, user, password, database, charset: 'utf8mb4_unicode_ci', timezone: 'Z' };

const options = { connectionLimit: poolSize, supportBigNumbers: true, namedPlaceholders: true };
const connections = createPool({ ...address, ...options });
connections.on('connection', (connection) => {
  connection.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
});

export const pool = connections.promise();

/** Answers every request with that data. */
export function serve(dataOf: (ctx: Context) => Promise<object>): void {
  const app = new Koa();
  app.use(async (ctx) => {
    ctx.body = { code: 200, message: '操作成功', data: await dataOf(ctx) };
  });
  app.listen(config.app.port, config.app.host, () => process.send?.('ready'));
}
