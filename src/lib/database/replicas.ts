// Reads from replicas. Each read waits until the replica has reached the position of the primary, and falls back to
// the primary when that takes too long: so it sees every earlier write, as a read of the primary does.
import type { Transaction } from 'sequelize';
import type { Connection } from 'mysql2/promise';
import type { Sequelize } from 'sequelize-typescript';
import { config } from '../../../config/index.js';
import { isAbandoned } from '../context.js';
import { Database, send, type SqlValue } from './database.js';
import {
  getConnection,
  openConnection,
  openPool,
  releaseConnection,
  type OwnConnectionOptions,
  type Server,
} from './connection.js';
import { errno, isDatabaseDown } from './errors.js';
import { fail } from '../errors.js';
import { logger } from '../logger.js';
import { withTimeout } from '../with-timeout.js';

const { poolSize, reportSeconds, readWaitMs } = config.database;

/** How long a lagging or unreachable replica is skipped. */
const restMs = 5000;
/**
 * How long a server that takes writes is skipped: the list may name both the primary and its future successor.
 */
const primaryRestMs = 30_000;
/** Extra time for the reply to the wait. */
const graceMs = 500;

/** The replica is behind the primary. */
class ReplicaBehind extends Error {}

/** The server takes writes. */
class NoReplica extends ReplicaBehind {}

/** A statement killed for its duration, in MySQL also while it sorts, would take as long elsewhere. */
const tooLong = new Set([1028, 1317, 1969, 3024]);

// A server that is no replica is not waited for: it will receive nothing more.
const waitSql = 'SELECT IF(@@read_only, MASTER_GTID_WAIT(?, ?), NULL) AS outcome';

class Replica {
  readonly server: Server;
  #pool: Sequelize | undefined;
  #restsUntil = 0;

  constructor(server: Server) {
    this.server = server;
  }

  get isUsable(): boolean {
    return performance.now() >= this.#restsUntil;
  }

  rest(error: unknown): void {
    const isPrimary = error instanceof NoReplica;
    if (this.isUsable && !isPrimary) logger.warn({ error, ...this.server }, 'a replica is skipped for 5 s');
    this.#restsUntil = performance.now() + (isPrimary ? primaryRestMs : restMs);
  }

  get pool(): Sequelize {
    const { host, port } = this.server;
    this.#pool ??= openPool({
      name: `replica ${host}:${port}`,
      max: Math.max(2, Math.floor(poolSize / 3)),
      statementSeconds: reportSeconds,
      server: this.server,
    });
    return this.#pool;
  }

  async close(): Promise<void> {
    await this.#pool?.close();
  }
}

const replicas = config.database.replicas.map((server) => new Replica(server));
let turn = 0;

/** The next replica that is not being skipped. */
function nextReplica(): Replica | undefined {
  turn++;
  return replicas.map((_, at) => replicas[(turn + at) % replicas.length]).find((one) => one?.isUsable);
}

/** 0 when the replica has caught up. */
interface Waited {
  outcome: number | null;
}

/** @throws ReplicaBehind */
async function awaitReplica(ask: Promise<Waited[]>): Promise<void> {
  const late = () => new ReplicaBehind('the replica does not answer');
  const [row] = await withTimeout(ask, readWaitMs + graceMs, (_, reject) => reject(late()));
  if (row?.outcome === null) throw new NoReplica('it takes writes');
  if (row?.outcome !== 0) throw new ReplicaBehind('the replica has not caught up');
}

/** Statements over a pool; reads outside transactions go to a replica. */
export class ReplicatedReads extends Database {
  override async select<T extends object>(
    sql: string,
    values: SqlValue[] = [],
    t?: Transaction,
  ): Promise<T[]> {
    const replica = t ? undefined : nextReplica();
    const position = replica && (await this.position());
    if (!replica || !position) return super.select<T>(sql, values, t);
    try {
      return await this.#readAt(replica, position, sql, values);
    } catch (error) {
      const isElsewhere = error instanceof ReplicaBehind || isDatabaseDown(error);
      if (!isElsewhere || tooLong.has(errno(error) ?? 0)) throw error;
      replica.rest(error);
      return super.select<T>(sql, values);
    }
  }

  /** Position of the primary in its binary log; empty when it keeps none. */
  async position(): Promise<string> {
    const [row] = await super.select<{ position: string }>('SELECT @@gtid_current_pos AS position');
    return row?.position ?? '';
  }

  async #readAt<T>({ pool }: Replica, position: string, sql: string, values: SqlValue[]): Promise<T> {
    const connection = await getConnection(pool);
    try {
      if (isAbandoned()) fail('client_gone');
      await awaitReplica(send(connection, waitSql, [position, readWaitMs / 1000]));
      return await send<T>(connection, sql, values);
    } finally {
      releaseConnection(pool, connection);
    }
  }
}

/**
 * A dedicated connection for long reads: to a replica that has caught up, else to the primary. Close it with
 * `destroy()`.
 */
export async function openReader(
  primary: ReplicatedReads,
  options: OwnConnectionOptions,
): Promise<Connection> {
  for (let tried = 0; tried < replicas.length; tried++) {
    const replica = nextReplica();
    const position = replica && (await primary.position());
    if (!replica || !position) break;
    let connection: Connection | undefined;
    try {
      connection = await openConnection({ ...options, server: replica.server });
      const asked = connection.query(waitSql, [position, readWaitMs / 1000]);
      await awaitReplica(asked.then(([rows]) => rows as Waited[]));
      return connection;
    } catch (error) {
      connection?.destroy();
      replica.rest(error);
    }
  }
  return openConnection(options);
}

/** Closes their connections. */
export async function closeReplicas(): Promise<void> {
  await Promise.all(replicas.map((replica) => replica.close()));
}
