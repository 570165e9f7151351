// A deadline for every statement: when it passes, its connection is destroyed, and no connection that has
// been silent since is used again.
//
// mysql2's own `timeout` only ends the wait: the connection would return to the pool and hang the next caller.
import type { Socket } from 'node:net';
import { afterProcessTime } from '../process/timers.js';
import { recordStatement } from '../watch/statements.js';
import { DatabaseTimeout, isDemoted } from './errors.js';

/** Max idle time of a connection: MySQL closes it after 5 s (`silences` in connection.ts). */
export const maxIdleMs = 4000;
/** Max age of a connection: one that only reads never learns that its host name has moved. */
const maxLifeMs = 60_000;
/** Min interval between reconnects from a read-only server. */
const leaveEveryMs = 1000;

export type Done = (error: (Error & { errno?: number }) | null | undefined, ...results: unknown[]) => void;

interface DriverStatement {
  sql: string;
  values?: unknown;
  /** Shorter than the deadline of the connection. */
  deadlineMs?: number;
}

/** The parts of a mysql2 connection used here. */
export interface DriverConnection {
  query(query: string | DriverStatement, ...rest: unknown[]): unknown;
  execute(query: string | DriverStatement, ...rest: unknown[]): unknown;
  destroy(): void;
  stream: Socket;
}

interface Known {
  openedAt: number;
  heardAt: number;
}

/** The deadline of the statements of some connections, and which of these may be used. */
export class Deadline {
  /** When a server last refused writes; every pool leaves it. */
  static #refusedAt = -1;
  static #leftAt = -1;
  readonly #pool: string;
  readonly #ms: number;
  readonly #known = new WeakMap<DriverConnection, Known>();
  #silentSince = -1;

  /** @param pool label in the metrics */
  constructor(pool: string, ms: number) {
    this.#pool = pool;
    this.#ms = ms;
  }

  /** Gives every statement of a new connection its deadline; Sequelize executes those with values. */
  watch(connection: DriverConnection): void {
    const at = performance.now();
    this.#known.set(connection, { openedAt: at, heardAt: at });
    for (const name of ['query', 'execute'] as const) {
      const send = connection[name].bind(connection);
      connection[name] = (...args) => send(...(args.slice(0, -1) as [string]), this.#timed(connection, args));
    }
  }

  /** Whether the connection is in use, and has replied since a statement went unanswered. */
  trusts(connection: DriverConnection): boolean {
    const { openedAt, heardAt } = this.#known.get(connection) ?? { openedAt: 0, heardAt: 0 };
    const at = performance.now();
    const leftBefore = at - Deadline.#refusedAt > leaveEveryMs ? Deadline.#refusedAt : Deadline.#leftAt;
    const isFresh = at - heardAt < maxIdleMs && at - openedAt < maxLifeMs;
    return isFresh && heardAt > this.#silentSince && openedAt > leftBefore;
  }

  #timed(connection: DriverConnection, args: unknown[]): Done {
    const done = args.at(-1) as Done;
    const { deadlineMs: ms = this.#ms } = args[0] as DriverStatement;
    const sentAt = performance.now();
    const record = recordStatement(this.#pool, args[0]);
    const stop = afterProcessTime(ms, () => {
      this.#silentSince = Math.max(this.#silentSince, sentAt);
      // Fails its pending statements with this error.
      connection.stream.destroy(new DatabaseTimeout(`the database has not answered within ${ms} ms`));
    });
    return (error, ...results) => {
      stop();
      record(error);
      const at = performance.now();
      const known = this.#known.get(connection);
      if (known) known.heardAt = at;
      if (error && isDemoted(error)) {
        // Limited, because without a successor every read would reconnect.
        if (at - Deadline.#leftAt > leaveEveryMs) Deadline.#leftAt = at;
        Deadline.#refusedAt = at;
        connection.destroy();
      }
      done(error, ...results);
    };
  }
}
