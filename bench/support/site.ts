// A site: one deployment of the service with a database and a Redis prefix of its own, made for one run and removed after it.
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';

export interface Site {
  /** Settings of its processes. */
  env: Record<string, string>;
  db: Connection;
}

export const adminPassword = 'bench-Password-1';

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
};

/** Makes an empty database; the first API process that starts there lays out its tables. */
export async function makeSite(name: string): Promise<Site> {
  const { DB_NAME: database, ...server } = { ...databaseServer(), DB_NAME: `bench_${run}_${name}` };
  const { DB_HOST: host, DB_PORT: port, DB_USER: user, DB_PASSWORD: password } = server;
  const db = await createConnection({
    host,
    port: Number(port),
    user,
    password,
    timezone: 'Z',
    charset: 'utf8mb4_unicode_ci',
  });
  await db.query(`CREATE DATABASE ${database} DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`);
  await db.changeUser({ database });
  const redis = { REDIS_URL: redisUrl(), REDIS_PREFIX: `bench-${run}-${name}` };
  const site = { db, env: { ...common, ...server, DATABASE_URL: '', DB_NAME: database, ...redis } };
  sites.push(site);
  return site;
}

/** Drops the databases and Redis keys of this run. */
export async function removeSites(): Promise<void> {
  for (const { db, env } of sites.splice(0)) {
    await db.query(`DROP DATABASE IF EXISTS ${env.DB_NAME}`);
    await db.end();
  }
  await withRedis(async (redis) => {
    for await (const keys of redis.scanStream({ match: `{bench-${run}-*`, count: 1000 })) {
      if ((keys as string[]).length > 0) await redis.unlink(...(keys as string[]));
    }
  });
}

/** The rows of a SELECT. */
export async function rows<T>(db: Connection, sql: string, values: unknown[] = []): Promise<T[]> {
  const [found] = await db.query<RowDataPacket[]>(sql, values);
  return found as T[];
}

/** The one number a SELECT answers. */
export async function count(db: Connection, sql: string, values: unknown[] = []): Promise<number> {
  const [row] = await rows<Record<string, number>>(db, sql, values);
  return Number(Object.values(row ?? {})[0]);
}

/** Uses a Redis connection and closes it. */
export async function withRedis<T>(use: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(redisUrl());
  try {
    return await use(redis);
  } finally {
    redis.disconnect();
  }
}

const redisUrl = (): string => process.env.REDIS_URL || 'redis://127.0.0.1:6379';

function databaseServer() {
  const { DATABASE_URL, DB_HOST, DB_PORT, DB_USER, DB_PASSWORD } = process.env;
  if (!DATABASE_URL) {
    return {
      DB_HOST: DB_HOST || '127.0.0.1',
      DB_PORT: DB_PORT || '3306',
      DB_USER: DB_USER || 'root',
      DB_PASSWORD: DB_PASSWORD ?? '',
    };
  }
  const { hostname, port, username, password } = new URL(DATABASE_URL);
  const [user, secret] = [username, password].map(decodeURIComponent) as [string, string];
  return { DB_HOST: hostname, DB_PORT: port || '3306', DB_USER: user, DB_PASSWORD: secret };
}
