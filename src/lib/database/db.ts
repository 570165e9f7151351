// The connection pools, statements over them, and transactions that are rerun on deadlocks and lock timeouts.
import 'reflect-metadata';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'sequelize';
import type { Sequelize } from 'sequelize-typescript';
import { config } from '../../../config/index.js';
import { fail } from '../errors/app-error.js';
import type { ErrorSlug } from '../errors/catalogue.js';
import { committing, currentDeadline, currentUnit } from '../process/context.js';
import { processTime } from '../process/timers.js';
import { deadlineOf, getConnection, isOpen, openPool, releaseConnection } from './connection.js';
import type { DriverConnection } from './deadline.js';
import { DatabaseBusy, DatabaseTimeout, isDuplicate, isRerunnable, StatementFailed } from './errors.js';

/** A value in a statement; objects and nested arrays are excluded. */
export type SqlValue = string | number | boolean | Date | null | readonly (string | number)[];

interface Outcome {
  affectedRows: number;
  insertId: number;
}

/** The values of a statement, for its places `?` or by name for `:name`. */
export type SqlValues = readonly SqlValue[] | Readonly<Record<string, SqlValue>>;

/** A transaction is rerun for this long, with pauses up to `maxPauseMs`. */
const rerunMs = 7000;
const maxPauseMs = 300;
/** A transaction of a request that has less time left does not begin. */
const minTransactionMs = 500;

/** Statements and transactions over a pool. Inside a transaction, `t` decides which connection is used. */
export class Database {
  readonly pool: Sequelize;
  readonly #selectSeconds: number | undefined;

  /** @param selectSeconds max duration of a SELECT, if shorter than that of the pool's statements */
  constructor(pool: Sequelize, selectSeconds?: number) {
    this.pool = pool;
    this.#selectSeconds = selectSeconds;
  }

  /** Runs a SELECT and returns plain rows; DECIMAL columns are strings, DATETIME columns UTC dates. */
  select<T extends object>(sql: string, values: SqlValues = [], t?: Transaction): Promise<T[]> {
    return this.#run<T[]>(sql, values, t, this.#selectSeconds);
  }

  /** As `select`. @returns also the milliseconds the statement took, without the wait for a connection */
  async timed<T extends object>(sql: string, values: SqlValues): Promise<{ rows: T[]; tookMs: number }> {
    const connection = await getConnection(this.pool);
    const sentAt = performance.now();
    try {
      const rows = await send<T[]>(connection, sql, values, this.#selectSeconds);
      return { rows, tookMs: performance.now() - sentAt };
    } finally {
      releaseConnection(this.pool, connection);
    }
  }

  /**
   * Runs an UPDATE, DELETE or multi-row INSERT: on its own connection; in a logged request as a transaction,
   * so that the log entry commits with it.
   *
   * @returns number of rows changed
   */
  async change(sql: string, values: SqlValues = [], t?: Transaction): Promise<number> {
    if (t || !currentUnit()) return (await this.#run<Outcome>(sql, values, t)).affectedRows;
    const { affectedRows } = await this.transact((own) => this.#run<Outcome>(sql, values, own));
    return affectedRows;
  }

  /** As `change`, for an INSERT. @returns the generated id, 0 when no row was inserted */
  async insert(sql: string, values: SqlValues = [], t?: Transaction): Promise<number> {
    if (t || !currentUnit()) return (await this.#run<Outcome>(sql, values, t)).insertId;
    return this.transact(async (own) => (await this.#run<Outcome>(sql, values, own)).insertId);
  }

  /**
   * Runs the closure in one transaction. A deadlock or a lock timeout (`isRerunnable`, also at COMMIT) rolls
   * everything back and reruns the closure for up to 7 s, with jitter; so the closure must have no effect
   * outside the database. A request's transaction ends before its deadline: it is not begun shortly before,
   * and rolled back rather than committed after it.
   *
   * @throws DatabaseBusy when the last run failed as well; DatabaseTimeout at the deadline
   */
  transact<T>(closure: (t: Transaction) => Promise<T>): Promise<T> {
    return rerun(async () => {
      assertTimeLeft(minTransactionMs);
      const unit = currentUnit();
      const t = await this.pool.transaction();
      let result: T;
      let wasCommitted: (() => Promise<boolean>) | undefined;
      try {
        await unit?.begin(t);
        result = await closure(t);
        wasCommitted = await unit?.end(t, result);
        assertTimeLeft(0);
      } catch (error) {
        await this.#rollBack(t).catch(() => undefined);
        throw error;
      }
      await committing(t.commit()).catch(async (error: unknown) => {
        // The reply was lost, not necessarily the commit.
        if (isRerunnable(error) || !(await wasCommitted?.().catch(() => false))) throw error;
      });
      unit?.committed();
      for (const follow of following.get(t) ?? []) await follow();
      return result;
    });
  }

  // The server rolls back what a lost connection has left; Sequelize would print that it could not ask for that.
  #rollBack(t: Transaction): Promise<void> {
    const held = t as unknown as { connection: DriverConnection; forceCleanup(): Promise<void> };
    return isOpen(this.pool, held.connection) ? t.rollback() : held.forceCleanup();
  }

  // Statements bypass Sequelize's query layer, which would double their cost.
  async #run<T>(sql: string, values: SqlValues, t?: Transaction, seconds?: number): Promise<T> {
    const own = (t as unknown as { connection: DriverConnection } | undefined)?.connection;
    const connection = own ?? (await getConnection(this.pool));
    try {
      return await send<T>(connection, sql, values, seconds);
    } finally {
      if (!own) releaseConnection(this.pool, connection);
    }
  }
}

function send<T>(connection: DriverConnection, sql: string, values: SqlValues, seconds?: number): Promise<T> {
  const statement = seconds ? { sql: ended(sql, seconds), deadlineMs: deadlineOf(seconds) } : { sql };
  return new Promise<T>((resolve, reject) => {
    connection.query({ ...statement, values: forDriver(values) }, (error: Error | null, result: unknown) => {
      if (error) reject(new StatementFailed(error));
      else resolve(result as T);
    });
  });
}

// MariaDB reads the first comment, MySQL the second.
const ended = (sql: string, seconds: number): string =>
  sql.replace(
    /^SELECT/,
    `/*M!100103 SET STATEMENT max_statement_time = ${seconds} FOR */ SELECT /*+ MAX_EXECUTION_TIME(${seconds * 1000}) */`,
  );

/** What follows the commits of transactions. */
const following = new WeakMap<Transaction, (() => Promise<void>)[]>();

/**
 * Runs `follow`, which must not throw, once the transaction has been committed, before `transact` returns. The hook of
 * Sequelize also runs after a failed COMMIT.
 */
export function afterCommit(t: Transaction, follow: () => Promise<void>): void {
  following.set(t, [...(following.get(t) ?? []), follow]);
}

async function rerun<T>(run: () => Promise<T>): Promise<T> {
  const begun = processTime();
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (await currentUnit()?.mend(error)) continue;
      if (!isRerunnable(error)) throw error;
      if (processTime() - begun > rerunMs || currentDeadline() - performance.now() < minTransactionMs)
        throw new DatabaseBusy(`${attempt} runs of a transaction met a lock`, { cause: error });
      await sleep(Math.random() * Math.min(20 * 2 ** attempt, maxPauseMs));
    }
  }
}

function assertTimeLeft(neededMs: number): void {
  const leftMs = currentDeadline() - performance.now();
  if (leftMs < neededMs) throw new DatabaseTimeout('the request has no time left for its transaction');
}

const areNamed = (values: SqlValues): values is Readonly<Record<string, SqlValue>> => !Array.isArray(values);

// The driver would send NULL for a name without a value.
function forDriver(values: SqlValues): unknown {
  if (!areNamed(values)) return values.map(literal);
  return new Proxy(values, {
    get(target, name: string) {
      if (target[name] === undefined) throw new Error(`the statement has no value for :${name}`);
      return literal(target[name]);
    },
  });
}

/** A value as passed to the driver: times become UTC texts. */
export function literal(value: SqlValue): unknown {
  return value instanceof Date ? value.toISOString().slice(0, 23).replace('T', ' ') : value;
}

const { poolSize, statementSeconds, reportSeconds, bulkSeconds } = config.database;

/** Quick statements of requests and payment jobs. Models use it. */
export const db = openPool({ name: 'requests', max: poolSize, statementSeconds });

const quick = new Database(db);

export const select = quick.select.bind(quick);
export const change = quick.change.bind(quick);
export const insert = quick.insert.bind(quick);
export const transact = quick.transact.bind(quick);

/** Connections of their own, so that payments never wait for long work. */
const long = openPool({
  name: 'long',
  max: Math.max(4, Math.floor(poolSize / 3)),
  statementSeconds: bulkSeconds,
});

/** Reads of requests that may take long, such as counting a filter over all months. */
export const reports = new Database(long, reportSeconds);

/** Statements of jobs over very many rows: import batches, retention. */
export const bulk = new Database(long);

export async function closeDatabase(): Promise<void> {
  await Promise.all([db.close(), long.close()]);
}

/** Converts a violated unique key to its outcome: index name → slug and field. */
export async function refuseDuplicates<T>(
  write: Promise<T>,
  keys: Record<string, { slug: ErrorSlug; field: string }>,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const violated = Object.keys(keys).find((key) => isDuplicate(error, key));
    if (!violated) throw error;
    const { slug, field } = keys[violated] as { slug: ErrorSlug; field: string };
    return fail(slug, { field });
  }
}
