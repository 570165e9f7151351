// The database schema: creates the database if it is missing, migrates up and down, under one lock.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from 'mysql2/promise';
import type { Umzug } from 'umzug';
import { config } from '../../../config/index.js';
import { db } from '../../lib/database/db.js';
import { errno, isDatabaseDown } from '../../lib/database/errors.js';
import { openConnection } from '../../lib/database/connection.js';
import { logger, throttled } from '../../lib/watch/logger.js';
import { StartRefused } from '../../lib/process/lifecycle.js';
import { underClaim } from '../tables/claim.js';
import { extendPartitions } from '../tables/partitions.js';
import { migrations } from './index.js';

const unknownDatabase = 1049;
const unknownTable = 1146;
const lockTimeout = 1205;

/** A statement of a migration may take this long: an index over all orders does. */
const migrationSeconds = 3600;
/** Between two tries of an ALTER, the statements that queued behind it get through. */
const pauseMs = 1000;

/**
 * Applies pending migrations and runs `seed`. Any number of processes may do this at once, also on an empty database:
 * one works, the others wait for it. While the database is unavailable it tries again, for a minute at most.
 */
export async function prepareDatabase(seed: () => Promise<void>): Promise<void> {
  const deadline = Date.now() + config.database.startupWaitMs;
  for (;;) {
    try {
      return await prepare(seed);
    } catch (failure) {
      const error = explained(failure);
      if (errno(error) === unknownDatabase) await createDatabase();
      else if (!isDatabaseDown(error) || Date.now() > deadline) throw error;
      else {
        throttled('database', () => logger.warn({ error }, 'waiting for the database'));
        await sleep(pauseMs);
      }
    }
  }
}

// Waiting does not help against a wrong password.
function explained(error: unknown): unknown {
  const refusal = refusals[errno(error) ?? 0];
  return refusal === undefined ? error : new StartRefused(refusal, { cause: error });
}

async function prepare(seed: () => Promise<void>): Promise<void> {
  await db.authenticate();
  await underClaim('schema', async (lost) => {
    const { pending } = await migrationState();
    if (pending.length > 0) await migrate((migrator) => migrator.up(), lost);
    await extendPartitions(1);
    await seed();
  });
}

/** Reverts every migration. */
export async function emptyDatabase(): Promise<void> {
  await underClaim('schema', (lost) => migrate((migrator) => migrator.down({ to: 0 }), lost));
}

/** Warns about server settings under which a commit may be lost. */
export async function checkDurability(): Promise<void> {
  const [rows] = await db.query("SHOW GLOBAL VARIABLES LIKE 'innodb_flush_log_at_trx_commit'");
  const value = (rows as { Value: string }[])[0]?.Value;
  if (value === undefined || value === '1') return;
  logger.warn(
    `innodb_flush_log_at_trx_commit is ${value}: a crash of the server may lose acknowledged payments`,
  );
}

const table = 'migrations';

/** Names of migrations. */
interface MigrationState {
  /** Those of this release. */
  applied: string[];
  pending: string[];
  /** Applied by another release. */
  unknown: string[];
}

/** None are applied when there is no database. @throws StartRefused when access is refused */
export async function migrationState(): Promise<MigrationState> {
  const applied = await appliedMigrations();
  const ours = migrations.map(({ name }) => name);
  return {
    applied: ours.filter((name) => applied.has(name)),
    pending: ours.filter((name) => !applied.has(name)),
    unknown: [...applied].filter((name) => !ours.includes(name)),
  };
}

/** @throws StartRefused while migrations are pending */
export async function assertMigrated(): Promise<void> {
  const { pending } = await migrationState();
  if (pending.length > 0)
    throw new StartRefused(`pending migrations: ${pending.join(', ')}; run \`back-office migrate up\``);
}

async function appliedMigrations(): Promise<Set<string>> {
  try {
    const [rows] = await db.query(`SELECT name FROM ${table}`);
    return new Set((rows as { name: string }[]).map(({ name }) => name));
  } catch (error) {
    if ([unknownTable, unknownDatabase].includes(errno(error) ?? 0)) return new Set();
    throw explained(error);
  }
}

// Over a dedicated connection, whose statements may take long. Umzug brings a whole command line with it, so it is
// loaded only when needed.
async function migrate(work: (migrator: Umzug) => Promise<unknown>, lost: AbortSignal): Promise<void> {
  const connection = await openConnection({
    database: config.database.name,
    statementSeconds: migrationSeconds,
  });
  const run = (sql: string): Promise<void> => runSql(connection, sql, lost);
  try {
    const { SequelizeStorage, Umzug } = await import('umzug');
    const migrator = new Umzug({
      migrations: migrations.map(({ name, up, down }) => ({
        name,
        up: () => up(run).catch((error: unknown) => failNaming(name, error)),
        down: () => down(run),
      })),
      storage: new SequelizeStorage({ sequelize: db, tableName: table }),
      logger: undefined,
    });
    // Umzug's own error would hide whether the database is unavailable.
    await work(migrator).catch((error: unknown) => {
      throw (error as Error).cause ?? error;
    });
  } finally {
    connection.destroy();
  }
}

// The error itself is thrown: its number says whether the database is unavailable.
function failNaming(migration: string, error: unknown): never {
  const failure = error as Error;
  failure.message = `migration ${migration} failed: ${failure.message}`;
  throw failure;
}

// An ALTER waits while its table is being read, and every later statement on the table queues behind it: so it waits a
// second at most and tries again. The server refuses one that would copy the table or lock out writers.
async function runSql(connection: Connection, sql: string, lost: AbortSignal): Promise<void> {
  if (!sql.startsWith('ALTER TABLE')) {
    lost.throwIfAborted();
    await connection.query(sql.startsWith('CREATE TABLE') ? withTableOptions(sql) : sql);
    return;
  }
  await connection.query('SET SESSION lock_wait_timeout = 1');
  for (;;) {
    lost.throwIfAborted();
    try {
      await connection.query(`${sql}, ALGORITHM=INPLACE, LOCK=NONE`);
      return;
    } catch (error) {
      if (errno(error) !== lockTimeout) throw error;
      logger.info({ sql }, 'a migration waits for a table that is in use');
      await sleep(pauseMs * (1 + Math.random()));
    }
  }
}

// Table options stand before the PARTITION BY clause.
function withTableOptions(sql: string): string {
  const options = ') ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci ';
  const end = sql.lastIndexOf(')', sql.includes('PARTITION BY') ? sql.indexOf('PARTITION BY') : sql.length);
  return sql.slice(0, end) + options + sql.slice(end + 1);
}

/** Creates the database if it is missing. @throws StartRefused when the account may not */
export async function createDatabase(): Promise<void> {
  const connection = await openConnection({ statementSeconds: 10 });
  try {
    await connection.query(
      `CREATE DATABASE IF NOT EXISTS \`${config.database.name}\` DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
    );
  } catch (error) {
    throw explained(error);
  } finally {
    connection.destroy();
  }
}

const { host, port, user, name } = config.database;
const account = `the database at ${host}:${port} refuses the user "${user}"`;

// What the operator must change, by error number. Without access to a database the server does not say
// whether it exists.
const refusals: Record<number, string> = {
  1044: `${account} the database "${name}": check DB_USER and DB_NAME, or grant the right to use or create it`,
  1045: `${account} with this password: check DB_USER and DB_PASSWORD (or DATABASE_URL)`,
  1142: `${account} a statement on "${name}": the user must own it (GRANT ALL PRIVILEGES)`,
  1698: `${account}, who signs in by socket only: use another one with a password`,
  3118: `${account}, whose account is locked`,
  4151: `${account}, whose account is locked`,
};
