// Detects silent database servers: each statement has a deadline that destroys its connection, and idle connections
// are pinged before use.
//
// mysql2's own `timeout` only ends the wait: the connection would return to the pool and hang the next caller.
import type { Socket } from 'node:net';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import { config } from '../../../config/index.js';
import { DatabaseTimeout, isDemoted } from './errors.js';
import { afterProcessTime } from '../process/process-time.js';
import { recordStatement } from '../watch/statements.js';

const { acquireTimeoutMs } = config.database;

/** A connection that answered this recently is used without a ping. */
const trustMs = 1000;
const pingMs = 500;
/** Max age of a connection: one that only reads never learns that its host name has moved. */
const maxLifeMs = 60_000;
/** Min interval between reconnects from a read-only server. */
const leaveEveryMs = 1000;

export type Done = (error: (Error & { errno?: number }) | null | undefined, ...results: unknown[]) => void;

/** The parts of a mysql2 connection used here. */
export interface DriverConnection {
  query(query: string | { sql: string; values?: unknown[] }, ...rest: unknown[]): unknown;
  execute(query: unknown, ...rest: unknown[]): unknown;
  ping(done: Done): void;
  destroy(): void;
  stream: Socket;
}

/** The parts of Sequelize's connection manager used here. */
export interface ConnectionManager {
  getConnection(options: object): Promise<DriverConnection>;
  releaseConnection(connection: DriverConnection): void;
  destroyConnection(connection: DriverConnection): Promise<void>;
  validate(connection: DriverConnection): boolean;
  pool: { size: number; using: number; waiting: number };
}

/** Watches the connections of a pool: last reply per connection, and how long the server has been silent. */
export class Watchdog {
  /** When a server last refused writes; every pool leaves it, including read pools. */
  static #refusedAt = -1;
  static #leftAt = -1;
  readonly #pool: string;
  readonly #deadlineMs: number;
  readonly #openedAt = new WeakMap<DriverConnection, number>();
  readonly #heardAt = new WeakMap<DriverConnection, number>();
  #distrustedBefore = -1;

  /**
   * @param pool label in the metrics
   */
  constructor(pool: string, deadlineMs: number) {
    this.#pool = pool;
    this.#deadlineMs = deadlineMs;
  }

  /** Whether the connection has replied since the last unanswered statement, and its server takes writes. */
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

  /** Adds a deadline to every statement of a connection. */
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

  /** Makes the pool hand out only connections that reply. */
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
    const note = args.length > 1 ? recordStatement(this.#pool, args[0]) : undefined;
    const stop = afterProcessTime(ms, () => {
      this.#distrustedBefore = Math.max(this.#distrustedBefore, sentAt);
      // Fails its pending statements with this error.
      connection.stream.destroy(new DatabaseTimeout(`the database has not answered within ${ms} ms`));
    });
    return (error, ...results) => {
      stop();
      note?.(error);
      const at = performance.now();
      this.#heardAt.set(connection, at);
      if (error && isDemoted(error)) {
        // Limited, because without a successor every read would reconnect.
        if (at - Watchdog.#leftAt > leaveEveryMs) Watchdog.#leftAt = at;
        Watchdog.#refusedAt = at;
        connection.destroy();
      }
      done(error, ...results);
    };
  }
}
