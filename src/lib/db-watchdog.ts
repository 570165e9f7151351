// Notices when the other side of a database connection has gone silent: each statement has a deadline, which destroys its
// connection, and a connection that has rested is pinged before it is used.
//
// mysql2's own `timeout` only ends the wait: the connection would go back to the pool and hang the next caller.
import type { Socket } from 'node:net';
import { ConnectionAcquireTimeoutError } from 'sequelize';
import { config } from '../../config/index.js';
import { DatabaseTimeout, isDemoted } from './db-errors.js';
import { afterProcessTime } from './process-time.js';
import { recordStatement } from './watch/statements.js';

const { acquireTimeoutMs } = config.database;

/** A connection that answered this recently is used without a ping. */
const trustMs = 1000;
const pingMs = 500;
/** Max age of a connection: one that only reads never learns that its host name has moved. */
const maxLifeMs = 60_000;
/** Min interval between reconnects from a read-only server. */
const leaveEveryMs = 1000;

export type Done = (error: (Error & { errno?: number }) | null | undefined, ...results: unknown[]) => void;

/** A connection of mysql2 as far as it is used here. */
export interface DriverConnection {
  query(query: string | { sql: string; values?: unknown[] }, ...rest: unknown[]): unknown;
  execute(query: unknown, ...rest: unknown[]): unknown;
  ping(done: Done): void;
  destroy(): void;
  stream: Socket;
}

/** The connection manager of Sequelize as far as it is used here. */
export interface ConnectionManager {
  getConnection(options: object): Promise<DriverConnection>;
  releaseConnection(connection: DriverConnection): void;
  destroyConnection(connection: DriverConnection): Promise<void>;
  validate(connection: DriverConnection): boolean;
  pool: { size: number; using: number; waiting: number };
}

/** Watches over the connections of a pool: when each was heard of, and since when the server may be silent. */
export class Watchdog {
  /** When a server last said that it takes no writes: it is left by every pool, also those that only read. */
  static #refusedAt = -1;
  static #leftAt = -1;
  readonly #pool: string;
  readonly #deadlineMs: number;
  readonly #openedAt = new WeakMap<DriverConnection, number>();
  readonly #heardAt = new WeakMap<DriverConnection, number>();
  #distrustedBefore = -1;

  /** @param pool what its statements are counted under */
  constructor(pool: string, deadlineMs: number) {
    this.#pool = pool;
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
    const note = args.length > 1 ? recordStatement(this.#pool, args[0]) : undefined;
    const stop = afterProcessTime(ms, () => {
      this.#distrustedBefore = Math.max(this.#distrustedBefore, sentAt);
      // Ends what is under way on it with this error.
      connection.stream.destroy(new DatabaseTimeout(`the database has not answered within ${ms} ms`));
    });
    return (error, ...results) => {
      stop();
      note?.(error);
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
