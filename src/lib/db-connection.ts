// Connections to the database that notice when the other side has gone silent: each statement has a deadline, which
// destroys its connection, and a connection that has rested is asked for a sign of life before it is used.
//
// mysql2's own `timeout` only ends the wait: the connection would go back to the pool and hang the next caller.
import type { Socket } from 'node:net';
import { promisify } from 'node:util';
import { createConnection, type Connection, type ConnectionOptions } from 'mysql2/promise';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import { Sequelize } from 'sequelize-typescript';
import { config } from '../../config/index.js';
import { DatabaseTimeout, isDemoted } from './db-errors.js';
import { logger } from './logger.js';
import { afterRunning } from './run-time.js';

const { host, port, user, password, name, tls, acquireTimeoutMs, lockWaitSeconds } = config.database;

/** The server ends a statement by itself; its word of that may take this much longer. */
const graceMs = 500;
/** A connection that was heard of so recently is used without asking. */
const trustMs = 1000;
const pingMs = 500;
/** An older connection is made anew: one that only reads is never told that the name leads elsewhere by now. */
const maxLifeMs = 60_000;
/** A server that takes no writes is left this often at most. */
const leaveEveryMs = 1000;

/** The pool closes a connection that nobody has used for so long. */
const idleSeconds = 30;
/** What the server hears nothing of for so long it gives up: nobody may be left at the other end. */
const silences = {
  // A transaction asks one statement after the other; those who wait for its locks get them in time.
  pool: { connection: 2 * idleSeconds, transaction: 5 },
  // Between two reads of a snapshot a slow storage may take its page.
  own: { connection: 600, transaction: 600 },
} as const;

const sqlMode =
  'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

/** What every connection has in common: quick to give up connecting, kept alive, times in UTC. */
const address = {
  ...{ host, port, user, password, connectTimeout: 3000, keepAliveInitialDelay: 5000 },
  // The driver writes into it.
  ...(tls && { ssl: { ...tls } }),
};
const driverOptions = {
  enableKeepAlive: true,
  charset: 'utf8mb4_unicode_ci',
  supportBigNumbers: true,
};

type Done = (error: (Error & { errno?: number }) | null | undefined, ...results: unknown[]) => void;

/** A connection of mysql2 as far as it is used here. */
export interface DriverConnection {
  query(query: string | { sql: string; values?: unknown[] }, ...rest: unknown[]): unknown;
  execute(query: unknown, ...rest: unknown[]): unknown;
  ping(done: Done): void;
  destroy(): void;
  stream: Socket;
}

export interface PoolOptions {
  /** Connections at most. */
  max: number;
  /** A statement may take this long. */
  statementSeconds: number;
  /** Several statements may be sent at once. */
  packets?: boolean;
}

/** A pool whose statements have a deadline, over Sequelize's own pool. */
export function openPool({ max, statementSeconds, packets = false }: PoolOptions): Sequelize {
  const watchdog = new Watchdog(statementSeconds * 1000 + graceMs);
  const pool: Sequelize = new Sequelize({
    dialect: 'mysql',
    host,
    port,
    username: user,
    password,
    database: name,
    timezone: '+00:00',
    // Set together with the other session settings; the option is missing in Sequelize's types.
    ...{ keepDefaultTimezone: true },
    logging: false,
    pool: {
      ...{ max, min: 0, acquire: acquireTimeoutMs, idle: idleSeconds * 1000, evict: 10_000 },
      validate: (connection?: DriverConnection) =>
        connection !== undefined &&
        managerOf(pool).validate(connection) &&
        watchdog.trusts(connection) &&
        watchdog.isYoung(connection),
    },
    // The driver's own conversion of columns; with Sequelize's function it would compile a parser for every statement.
    dialectOptions: { ...driverOptions, ...address, typeCast: true, multipleStatements: packets },
    define: { underscored: true, timestamps: true, createdAt: 'created_at', updatedAt: 'updated_at' },
    hooks: {
      afterConnect: async (connection) => {
        const driver = connection as DriverConnection;
        watchdog.watch(driver);
        await prepareSession(driver, sessionSettings(statementSeconds, 'pool'));
      },
      beforeDisconnect: (connection) => {
        const driver = connection as DriverConnection;
        // A farewell to somebody silent would keep the socket open until TCP gives up.
        if (!watchdog.trusts(driver)) driver.destroy();
      },
    },
  });
  watchdog.guardPool(managerOf(pool), max);
  return pool;
}

interface OwnConnectionOptions extends Pick<ConnectionOptions, 'database' | 'dateStrings'> {
  /** A single statement may take this long. */
  statementSeconds: number;
}

/**
 * A connection of its own, for long work; its statements have a deadline as well. Close it with `destroy()`.
 *
 * @param options without `database` where there may be none yet
 */
export async function openConnection(options: OwnConnectionOptions): Promise<Connection> {
  const { statementSeconds, ...more } = options;
  const connection = await createConnection({ ...driverOptions, ...address, timezone: 'Z', ...more });
  const driver = (connection as unknown as { connection: DriverConnection }).connection;
  new Watchdog(statementSeconds * 1000 + graceMs).watch(driver);
  // A statement that was running fails by itself; this is for the moments between two.
  connection.on('error', (error: unknown) => logger.warn({ error }, 'a connection of its own was lost'));
  try {
    await prepareSession(driver, sessionSettings(statementSeconds, 'own'));
  } catch (error) {
    connection.destroy();
    throw error;
  }
  return connection;
}

/** A connection of that pool; give it back. @throws DatabaseTimeout when none is free in time */
export function getConnection(pool: Sequelize): Promise<DriverConnection> {
  return managerOf(pool).getConnection({ type: 'write' });
}

export function releaseConnection(pool: Sequelize, connection: DriverConnection): void {
  managerOf(pool).releaseConnection(connection);
}

interface ConnectionManager {
  getConnection(options: object): Promise<DriverConnection>;
  releaseConnection(connection: DriverConnection): void;
  destroyConnection(connection: DriverConnection): Promise<void>;
  validate(connection: DriverConnection): boolean;
  pool: { size: number; using: number; waiting: number };
}

const managerOf = (pool: Sequelize): ConnectionManager =>
  (pool as unknown as { connectionManager: ConnectionManager }).connectionManager;

/** Watches over the connections of a pool: when each was heard of, and since when the server may be silent. */
class Watchdog {
  /** When a server last said that it takes no writes: it is left by every pool, also those that only read. */
  static #refusedAt = -1;
  static #leftAt = -1;
  readonly #deadlineMs: number;
  readonly #openedAt = new WeakMap<DriverConnection, number>();
  readonly #heardAt = new WeakMap<DriverConnection, number>();
  #distrustedBefore = -1;

  constructor(deadlineMs: number) {
    this.#deadlineMs = deadlineMs;
  }

  /** Whether it was heard of since a statement last went unanswered, and leads to a server that takes writes. */
  trusts(connection: DriverConnection): boolean {
    const isHeard = (this.#heardAt.get(connection) ?? 0) > this.#distrustedBefore;
    const isOver = performance.now() - Watchdog.#refusedAt > leaveEveryMs;
    return (
      isHeard && (this.#openedAt.get(connection) ?? 0) > (isOver ? Watchdog.#refusedAt : Watchdog.#leftAt)
    );
  }

  isYoung(connection: DriverConnection): boolean {
    return performance.now() - (this.#openedAt.get(connection) ?? 0) < maxLifeMs;
  }

  /** Gives every statement of a connection its deadline. */
  watch(connection: DriverConnection): void {
    this.#openedAt.set(connection, performance.now());
    this.#heardAt.set(connection, performance.now());
    for (const name of ['query', 'execute', 'ping'] as const) {
      const send = connection[name].bind(connection) as (...args: unknown[]) => unknown;
      const ms = name === 'ping' ? pingMs : this.#deadlineMs;
      connection[name] = (...args: unknown[]) =>
        send(...args.slice(0, -1), this.#timed(connection, ms, args));
    }
  }

  /** Has the pool hand out only connections that answer. */
  guardPool(manager: ConnectionManager, max: number): void {
    const acquire = manager.getConnection.bind(manager);
    manager.getConnection = async (options) => {
      for (;;) {
        const connection = await acquire(options).catch((error: unknown) => {
          if (!(error instanceof ConnectionAcquireTimeoutError)) throw error;
          const message = `no connection to the database was free within ${acquireTimeoutMs} ms (pool of ${max})`;
          throw new DatabaseTimeout(message, { cause: error });
        });
        if (await this.#answers(connection)) return connection;
        await manager.destroyConnection(connection);
      }
    };
  }

  async #answers(connection: DriverConnection): Promise<boolean> {
    const heardAt = this.#heardAt.get(connection) ?? 0;
    if (performance.now() - heardAt < trustMs) return true;
    return new Promise((resolve) => connection.ping((error) => resolve(!error)));
  }

  #timed(connection: DriverConnection, ms: number, args: unknown[]): Done {
    const done = args.at(-1) as Done;
    const sentAt = performance.now();
    const stop = afterRunning(ms, () => {
      this.#distrustedBefore = Math.max(this.#distrustedBefore, sentAt);
      // Ends what is under way on it with this error.
      connection.stream.destroy(new DatabaseTimeout(`the database has not answered within ${ms} ms`));
    });
    return (error, ...results) => {
      stop();
      const at = performance.now();
      this.#heardAt.set(connection, at);
      if (error && isDemoted(error)) {
        // Not at every refusal: until its successor is there, reading would make a new connection for each.
        if (at - Watchdog.#leftAt > leaveEveryMs) Watchdog.#leftAt = at;
        Watchdog.#refusedAt = at;
        connection.destroy();
      }
      done(error, ...results);
    };
  }
}

// MariaDB reads the first comment, MySQL the second one; MySQL limits SELECT only. A table is waited for longer than an
// ALTER of ours waits for it, so that nobody fails who has to queue behind one.
function sessionSettings(statementSeconds: number, kind: keyof typeof silences): string {
  const { connection, transaction } = silences[kind];
  return `SET time_zone = '+00:00', sql_mode = '${sqlMode}', innodb_lock_wait_timeout = ${lockWaitSeconds},
    lock_wait_timeout = ${lockWaitSeconds + 1}, wait_timeout = ${connection}
    /*M!100100 , max_statement_time = ${statementSeconds} */ /*M!100300 , idle_transaction_timeout = ${transaction} */
    /*!80000 , max_execution_time = ${statementSeconds * 1000} */`;
}

async function prepareSession(connection: DriverConnection, settings: string): Promise<void> {
  const query = promisify((sql: string, done: Done) => connection.query(sql, done));
  await query(settings);
  await query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
}
