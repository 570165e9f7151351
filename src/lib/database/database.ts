// Statements over a connection pool, and transactions that are rerun on deadlocks and lock timeouts.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from 'sequelize';
import type { Sequelize } from 'sequelize-typescript';
import { currentUnit, isAbandoned } from '../context.js';
import { getConnection, releaseConnection } from './connection.js';
import type { DriverConnection } from './watchdog.js';
import { DatabaseBusy, DatabaseTimeout, isDatabaseDown, isRerunnable, StatementFailed } from './errors.js';
import { fail } from '../errors.js';
import { processTime } from '../process/process-time.js';

/** A value in a statement; objects and nested arrays are excluded. */
export type SqlValue = string | number | boolean | Date | null | readonly (string | number)[];

/** The result of a write. */
interface Outcome {
  affectedRows: number;
  insertId: number;
}

/** A statement with `?` placeholders and their values. */
export interface Statement {
  sql: string;
  values: readonly SqlValue[];
}

/**
 * Part of a packet: rolls it back unless the previous statement changed that many rows (`isIncomplete`).
 * Outside stored procedures SQL cannot raise an error, so a scalar subquery returns two rows.
 */
export const requireChanged = (rows: number): Statement => ({
  sql: 'SET @complete = IF(ROW_COUNT() = ?, 1, (SELECT 1 UNION SELECT 2))',
  values: [rows],
});

/** A transaction is rerun for this long, with pauses up to `maxPauseMs`. */
const rerunMs = 7000;
const maxPauseMs = 300;
/** An older transaction is rolled back instead of committed. */
const maxTransactionMs = 30_000;

/** Statements and transactions over a pool of its own. Inside a transaction, `t` decides which connection is used. */
export class Database {
  readonly pool: Sequelize;

  constructor(pool: Sequelize) {
    this.pool = pool;
  }

  /**
   * Runs a SELECT with `?` placeholders and returns plain rows; DECIMAL columns are strings, DATETIME columns
   * UTC dates.
   */
  select<T extends object>(sql: string, values: SqlValue[] = [], t?: Transaction): Promise<T[]> {
    return this.#run<T[]>(sql, values, t);
  }

  /**
   * Runs an UPDATE, DELETE or multi-row INSERT with `?` placeholders: a transaction by itself, or of several
   * statements when others commit with the current write.
   *
   * @returns number of rows changed
   */
  async change(sql: string, values: SqlValue[] = [], t?: Transaction): Promise<number> {
    if (t || !currentUnit()) return (await this.#run<Outcome>(sql, values, t)).affectedRows;
    const { affectedRows } = await this.transact((own) => this.#run<Outcome>(sql, values, own));
    return affectedRows;
  }

  /** As `change`, for an INSERT. @returns the generated id, 0 when no row was inserted */
  async insert(sql: string, values: SqlValue[] = [], t?: Transaction): Promise<number> {
    if (t || !currentUnit()) return (await this.#run<Outcome>(sql, values, t)).insertId;
    return this.transact(async (own) => (await this.#run<Outcome>(sql, values, own)).insertId);
  }

  /**
   * Runs the closure in one transaction. A deadlock or a lock timeout (`isRerunnable`, also at COMMIT) rolls
   * everything back and reruns the closure for up to 7 s, with jitter; so the closure must have no effect
   * outside the database.
   *
   * @throws DatabaseBusy when the last run failed as well
   */
  transact<T>(closure: (t: Transaction) => Promise<T>): Promise<T> {
    return rerun(async () => {
      const begun = Date.now();
      const unit = currentUnit();
      const t = await this.pool.transaction();
      let result: T;
      let wasCommitted: (() => Promise<boolean>) | undefined;
      try {
        result = await closure(t);
        wasCommitted = await unit?.end(t, result);
        assertYoung(begun);
      } catch (error) {
        await t.rollback().catch(() => undefined);
        throw error;
      }
      await t.commit().catch(async (error: unknown) => {
        // The reply was lost, not necessarily the commit.
        if (isRerunnable(error) || !(await wasCommitted?.().catch(() => false))) throw error;
      });
      unit?.committed();
      return result;
    });
  }

  /**
   * Runs statements as one transaction in one round trip. Later statements see the changes of earlier ones; a
   * statement that fails, as `requireChanged` does, rolls all back.
   *
   * @param meetingLocks reruns as `transact` does, or fails at once so that others need not wait
   * @returns the result of each statement: rows, or the rows changed and the generated id
   */
  packet(
    statements: readonly Statement[],
    meetingLocks: 'reruns' | 'fails' = 'reruns',
  ): Promise<(Outcome & object[])[]> {
    const sql = ['START TRANSACTION', ...statements.map((one) => one.sql), 'COMMIT'].join('; ');
    const values = statements.flatMap((one) => one.values);
    const run = async (): Promise<(Outcome & object[])[]> => {
      const connection = await getConnection(this.pool);
      try {
        const results = await send<(Outcome & object[])[]>(connection, sql, values);
        return results.slice(1, -1);
      } catch (error) {
        // The statements after the failed one were not run, COMMIT among them.
        await send(connection, 'ROLLBACK', []).catch(() => undefined);
        throw error;
      } finally {
        releaseConnection(this.pool, connection);
      }
    };
    return meetingLocks === 'reruns' ? rerun(run) : run();
  }

  /**
   * Creates a record in one round trip, with its dependent rows and what commits with the current write.
   *
   * @param record its INSERT
   * @param found finds its `id` if the reply is lost after the commit
   * @returns the generated id
   */
  async make(record: Statement, belongings: readonly Statement[], found: Statement): Promise<number> {
    const unit = currentUnit();
    const following = unit?.follow();
    const own = (following?.statements ?? []) as Statement[];
    const id = await this.packet([record, ...own, ...belongings]).then(
      ([made]) => made?.insertId,
      async (error: unknown) => {
        // The reply was lost, not necessarily the commit.
        const isMade = isDatabaseDown(error) && (await following?.wasCommitted().catch(() => false));
        const [row] = isMade ? await this.select<{ id: number }>(found.sql, [...found.values]) : [];
        if (!row) throw error;
        return row.id;
      },
    );
    unit?.committed();
    return id as number;
  }

  // Statements bypass Sequelize's query layer, which would double their cost.
  async #run<T>(sql: string, values: SqlValue[], t?: Transaction): Promise<T> {
    const own = (t as unknown as { connection: DriverConnection } | undefined)?.connection;
    const connection = own ?? (await getConnection(this.pool));
    try {
      // Reads of disconnected clients must not delay those of others.
      if (isAbandoned()) fail('client_gone');
      return await send<T>(connection, sql, values);
    } finally {
      if (!own) releaseConnection(this.pool, connection);
    }
  }
}

/** Sends a statement over a connection. @throws StatementFailed */
export function send<T>(connection: DriverConnection, sql: string, values: readonly SqlValue[]): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    connection.query({ sql, values: values.map(literal) }, (error: Error | null, result: unknown) => {
      if (error) reject(new StatementFailed(error));
      else resolve(result as T);
    });
  });
}

async function rerun<T>(run: () => Promise<T>): Promise<T> {
  const begun = processTime();
  for (let attempt = 1; ; attempt++) {
    try {
      return await run();
    } catch (error) {
      if (!isRerunnable(error)) throw error;
      if (processTime() - begun > rerunMs)
        throw new DatabaseBusy(`${attempt} runs of a transaction met a lock`, { cause: error });
      await sleep(Math.random() * Math.min(20 * 2 ** attempt, maxPauseMs));
    }
  }
}

// A process that was frozen must not commit after others have counted without it (models/tables/totals.ts).
function assertYoung(begun: number): void {
  if (Date.now() - begun > maxTransactionMs)
    throw new DatabaseTimeout(`a transaction took longer than ${maxTransactionMs} ms`);
}

/** A value as passed to the driver: times become UTC texts. */
export function literal(value: SqlValue): unknown {
  return value instanceof Date ? value.toISOString().slice(0, 23).replace('T', ' ') : value;
}
