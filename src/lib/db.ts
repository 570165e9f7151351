// The connection pool, transactions that are rerun when the database asks for it, and plain SELECTs.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import { BaseError, UniqueConstraintError, type Transaction } from 'sequelize';
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
  // The driver's own conversion of columns; with Sequelize's function it would compile a parser for every statement.
  dialectOptions: {
    charset: 'utf8mb4_unicode_ci',
    connectTimeout: 2000,
    supportBigNumbers: true,
    typeCast: true,
  },
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

/** A statement that the server refused, or whose connection was lost. */
export class StatementFailed extends Error {
  /** Number of the server's error, if the server answered. */
  readonly errno: number | undefined;
  /** The connection is gone. */
  readonly fatal: boolean;

  constructor(cause: Error & { errno?: number; fatal?: boolean }) {
    super(cause.message, { cause });
    this.errno = cause.errno;
    this.fatal = cause.fatal === true;
  }
}

/** Runs a SELECT with `?` places and returns plain rows; DECIMAL columns are texts, DATETIME columns UTC dates. */
export function select<T extends object>(
  sql: string,
  values: SqlValue[] = [],
  t?: Transaction,
): Promise<T[]> {
  return run<T[]>(sql, values, t);
}

/** Runs an UPDATE, a DELETE or an INSERT of many rows with `?` places. @returns how many rows it changed or made */
export async function change(sql: string, values: SqlValue[] = [], t?: Transaction): Promise<number> {
  return (await run<Outcome>(sql, values, t)).affectedRows;
}

/** Runs an INSERT with `?` places. @returns the generated id, 0 when no row was made */
export async function insert(sql: string, values: SqlValue[] = [], t?: Transaction): Promise<number> {
  return (await run<Outcome>(sql, values, t)).insertId;
}

interface Outcome {
  affectedRows: number;
  insertId: number;
}

interface Driver {
  query(
    query: { sql: string; values: unknown[] },
    done: (error: Error | null, result: unknown) => void,
  ): void;
}

interface Connections {
  getConnection(options: { type: 'read' | 'write' }): Promise<Driver>;
  releaseConnection(connection: Driver): void;
}

const connections = (db as unknown as { connectionManager: Connections }).connectionManager;

// Statements go to the driver over a connection of Sequelize's pool: its own query layer would cost as much again.
async function run<T>(sql: string, values: SqlValue[], t?: Transaction): Promise<T> {
  const own = (t as unknown as { connection: Driver } | undefined)?.connection;
  const connection = own ?? (await connections.getConnection({ type: 'write' }));
  try {
    return await new Promise<T>((resolve, reject) => {
      connection.query({ sql, values: values.map(literal) }, (error, result) => {
        if (error) reject(new StatementFailed(error));
        else resolve(result as T);
      });
    });
  } finally {
    if (!own) connections.releaseConnection(connection);
  }
}

/** How a value is handed to the driver: times as UTC texts. */
export function literal(value: SqlValue): unknown {
  return value instanceof Date ? value.toISOString().slice(0, 23).replace('T', ' ') : value;
}

const rerunnable = new Set([1213, 1205]);
const mostRuns = 5;

/**
 * Runs the closure in one transaction. A deadlock (1213, also at COMMIT) or a lock timeout (1205) rolls everything
 * back and reruns the whole closure, at most 5 times with jitter; so nothing outside the database may happen in it.
 */
export async function transact<T>(closure: (t: Transaction) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.transaction(closure);
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

const duplicateEntry = 1062;

/** Whether a statement failed because a unique key has that value already. */
export const isDuplicate = (error: unknown): boolean => errno(error) === duplicateEntry;

/** Turns a violated unique key into the outcome that belongs to it: index name → slug and field. */
export async function refuseDuplicates<T>(
  write: Promise<T>,
  keys: Record<string, { slug: ErrorSlug; field: string }>,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    const message = error instanceof UniqueConstraintError ? error.parent.message : (error as Error).message;
    const violated = Object.keys(keys).find((key) => message.includes(key));
    if (!violated) throw error;
    const { slug, field } = keys[violated] as { slug: ErrorSlug; field: string };
    return fail(slug, { field });
  }
}

// What the server answers when it refuses connections, is going down or has no room left.
const unreachable = new Set([1040, 1053, 1077, 1152, 1158, 1159, 1160, 1161, 1203, 1205, 1927, 2006, 2013]);

/** True when the error says that the database cannot be reached or used now, so that a later try may succeed. */
export function isDatabaseDown(error: unknown): boolean {
  if (error instanceof StatementFailed) return error.fatal || unreachable.has(error.errno ?? 0);
  if (!(error instanceof BaseError)) return false;
  if (/^Sequelize(Connection|Host|AccessDenied|Timeout)/.test(error.name)) return true;
  const original = (error as { original?: { fatal?: boolean } }).original;
  return original?.fatal === true || unreachable.has(errno(error) ?? 0);
}
