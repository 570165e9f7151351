// The connection pool, transactions that are rerun when the database asks for it, and plain SELECTs.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { BaseError, QueryTypes, UniqueConstraintError, type Transaction } from 'sequelize';
import { Sequelize } from 'sequelize-typescript';
import { config } from '../../config/index.js';
import { fail } from './errors.js';
import type { ErrorSlug } from './error-catalogue.js';

const { host, port, user, password, name, poolSize, acquireTimeoutMs, lockWaitSeconds } = config.database;

const sqlMode =
  'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

export const db = new Sequelize({
  dialect: 'mysql',
  host,
  port,
  username: user,
  password,
  database: name,
  timezone: '+00:00',
  logging: false,
  pool: { max: poolSize, min: 0, acquire: acquireTimeoutMs, idle: 30_000, evict: 10_000 },
  dialectOptions: { charset: 'utf8mb4_unicode_ci', connectTimeout: 2000, supportBigNumbers: true },
  define: { underscored: true, timestamps: true, createdAt: 'created_at', updatedAt: 'updated_at' },
  hooks: {
    afterConnect: async (connection) => {
      const session = (connection as { promise(): { query(sql: string): Promise<unknown> } }).promise();
      await session.query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
      await session.query(
        `SET SESSION innodb_lock_wait_timeout = ${lockWaitSeconds}, sql_mode = '${sqlMode}'`,
      );
    },
  },
});

/** A value that may stand in a statement; an object or array that slipped through a schema never does. */
export type SqlValue = string | number | boolean | Date | null | readonly (string | number)[];

/** Aggregated JSON of a row: text from MariaDB, already parsed from MySQL, NULL when there was nothing to aggregate. */
export function jsonColumn<T>(value: unknown): T[] {
  return (typeof value === 'string' ? JSON.parse(value) : (value ?? [])) as T[];
}

/** Runs a SELECT with `?` places and returns plain rows. */
export async function select<T extends object>(
  sql: string,
  values: SqlValue[] = [],
  t?: Transaction,
): Promise<T[]> {
  return db.query<T>(sql, {
    type: QueryTypes.SELECT,
    replacements: values.map(literal),
    raw: true,
    transaction: t,
  });
}

/** Runs an UPDATE or DELETE with `?` places. @returns how many rows its WHERE matched */
export async function change(sql: string, values: SqlValue[] = [], t?: Transaction): Promise<number> {
  return db.query(sql, { type: QueryTypes.BULKUPDATE, replacements: values.map(literal), transaction: t });
}

/** Runs an INSERT with `?` places. @returns the generated id */
export async function insert(sql: string, values: SqlValue[] = [], t?: Transaction): Promise<number> {
  const [id] = await db.query(sql, {
    type: QueryTypes.INSERT,
    replacements: values.map(literal),
    transaction: t,
  });
  return id;
}

// Sequelize would write a Date without its milliseconds.
function literal(value: SqlValue): unknown {
  return value instanceof Date ? value.toISOString().slice(0, 23).replace('T', ' ') : value;
}

const rerunnable = new Set([1213, 1205]);
const mostRuns = 5;

/**
 * Runs the closure in one transaction. A deadlock (1213, also at COMMIT) or a lock timeout (1205) rolls everything
 * back and reruns the whole closure, at most 5 times with jitter; so nothing outside the database may happen in it.
 */
export async function transact<T>(run: (t: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(run);
    } catch (error) {
      if (attempt === mostRuns || !rerunnable.has(errno(error) ?? 0)) throw error;
      await sleep(Math.random() * 20 * 2 ** attempt);
    }
  }
}

/** The server's error number of a failed statement, if the error comes from the server. */
export function errno(error: unknown): number | undefined {
  const inner = error instanceof BaseError ? (error as { original?: unknown }).original : error;
  return (inner as { errno?: number } | undefined)?.errno;
}

/** Turns a violated unique key into the outcome that belongs to it: index name → slug and field. */
export async function refuseDuplicates<T>(
  write: Promise<T>,
  keys: Record<string, { slug: ErrorSlug; field: string }>,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!(error instanceof UniqueConstraintError)) throw error;
    const message = error.parent.message;
    for (const [key, { slug, field }] of Object.entries(keys))
      if (message.includes(key)) fail(slug, { field });
    throw error;
  }
}

// What mysql2 and Sequelize report when the server is gone, refuses, is restarting or has no connection left.
const unreachable = new Set([1040, 1053, 1077, 1152, 1158, 1159, 1160, 1161, 1203, 1205, 1927, 2006, 2013]);

/** True when the error says that the database cannot be reached or used now, so that a later try may succeed. */
export function isDatabaseDown(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  if (/^SequelizeConnection|^SequelizeHost|^SequelizeAccessDenied/.test(error.name)) return true;
  const original = (error as { original?: NodeJS.ErrnoException & { fatal?: boolean } }).original;
  return (
    original?.fatal === true || unreachable.has(errno(error) ?? 0) || error.name === 'SequelizeTimeoutError'
  );
}
