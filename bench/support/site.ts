// A site: one deployment of the service with its own database and Redis prefix, made for one run and removed after it.
import { randomBytes } from 'node:crypto';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { config } from '../../config/index.js';
import { closeConnection, openConnection } from '../../src/lib/redis/connection.js';
import { fillOrders } from './orders.js';
import { startApi } from './processes.js';

export interface Site {
  /** Settings of its processes. */
  env: Record<string, string>;
  db: Connection;
}

export const adminPassword = 'bench-Password-1';

const { host, port, user, password } = config.database;
const server = { host, port, user, password, timezone: 'Z', charset: 'utf8mb4_unicode_ci' };
const run = randomBytes(4).toString('hex');
const sites: Site[] = [];

/** Settings of every process of this run, service and baselines alike; what is not named here has its default. */
const common = {
  NODE_ENV: 'production',
  LOG_LEVEL: 'warn',
  HOST: '127.0.0.1',
  APP_URL: 'https://back-office.example',
  JWT_SECRET: randomBytes(32).toString('hex'),
  APP_KEY: randomBytes(32).toString('hex'),
  ADMIN_PASSWORD: adminPassword,
  BCRYPT_COST: '10',
  PASSWORD_CHANGE_REQUIRED: 'false',
  LIMITS_ENABLED: 'false',
  MODULE_PAYMENTS_ENABLED: 'true',
  PAYMENT_GATEWAYS_ENABLED: '',
  TENANT_CODE: '',
  DATABASE_URL: '',
  DB_HOST: host,
  DB_PORT: String(port),
  DB_USER: user,
  DB_PASSWORD: password,
};

/** Makes a database with that many orders over so many months, and no process running. */
export async function makeSite(name: string, orders = 1000, months = 8): Promise<Site> {
  const database = `bench_${run}_${name}`;
  const db = await connectTo('');
  await db.query(`CREATE DATABASE ${database} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`);
  await db.changeUser({ database });
  const site = { db, env: { ...common, DB_NAME: database, REDIS_PREFIX: `bench-${run}-${name}` } };
  sites.push(site);
  const api = await startApi(site); // lays out the tables
  await api.stop();
  await fillOrders(db, orders, months);
  console.log(`${name} has ${orders.toLocaleString('en-US')} orders`);
  return site;
}

export function connectTo(database: string): Promise<Connection> {
  return createConnection({ ...server, database });
}

/** Drops the databases and Redis keys of this run. */
export async function removeSites(): Promise<void> {
  for (const { db, env } of sites.splice(0)) {
    await db.query(`DROP DATABASE IF EXISTS ${env.DB_NAME}`);
    await db.end();
  }
  const redis = openConnection('bench', {});
  const keys = await redis.keys(`{bench-${run}-*`);
  if (keys.length > 0) await redis.unlink(...keys);
  closeConnection(redis);
}

/** How many rows there are. @param of a table, and a condition */
export async function count(db: Connection, of: string): Promise<number> {
  const [[row]] = await db.query<RowDataPacket[]>(`SELECT COUNT(*) AS total FROM ${of}`);
  return row?.total as number;
}
