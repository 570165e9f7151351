// Brings the database to today's shape: makes it when it is missing, migrates forward and back, under one lock.
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection } from 'mysql2/promise';
import type { Umzug } from 'umzug';
import { config } from '../../config/index.js';
import { db, errno, isDatabaseDown } from '../lib/db.js';
import { logger } from '../lib/logger.js';
import { migrations } from './migrations/index.js';
import { extendPartitions } from './partitions.js';

const unknownDatabase = 1049;
const unknownTable = 1146;
const longestWorkSeconds = 300;

/**
 * Waits for the database (at most DB_STARTUP_WAIT_SECONDS), then migrates it and runs `seed`. Any number of processes
 * may do this at once, also on an empty database: one works, the others wait for it.
 */
export async function prepareDatabase(seed: () => Promise<void>): Promise<void> {
  await reachDatabase();
  await underLock(async () => {
    if (!(await isMigrated())) await (await migrator()).up();
    await extendPartitions();
    await seed();
  });
}

/** Undoes every migration. */
export async function emptyDatabase(): Promise<void> {
  await underLock(async () => void (await (await migrator()).down({ to: 0 })));
}

/** Warns about server settings under which a commit may be lost; refuses them under STRICT_STARTUP. */
export async function checkDurability(): Promise<void> {
  const [rows] = await db.query("SHOW GLOBAL VARIABLES LIKE 'innodb_flush_log_at_trx_commit'");
  const value = (rows as { Value: string }[])[0]?.Value;
  if (value === undefined || value === '1') return;
  const message = `innodb_flush_log_at_trx_commit is ${value}: a crash of the server may lose acknowledged payments`;
  if (config.app.strict) throw new Error(message);
  logger.warn(message);
}

const table = 'migrations';

/** Whether every migration was made: most starts find nothing to do. */
async function isMigrated(): Promise<boolean> {
  try {
    const [made] = await db.query(`SELECT name FROM ${table}`);
    const names = new Set((made as { name: string }[]).map(({ name }) => name));
    return migrations.every(({ name }) => names.has(name));
  } catch (error) {
    if (errno(error) === unknownTable) return false;
    throw error;
  }
}

// Loaded when needed only: it brings a whole command line with it.
async function migrator(): Promise<Umzug> {
  const { SequelizeStorage, Umzug } = await import('umzug');
  return new Umzug({
    migrations: migrations.map(({ name, up, down }) => ({
      name,
      up: () => up(runSql),
      down: () => down(runSql),
    })),
    storage: new SequelizeStorage({ sequelize: db, tableName: table }),
    logger: undefined,
  });
}

async function runSql(sql: string): Promise<void> {
  await db.query(sql.startsWith('CREATE TABLE') ? withTableOptions(sql) : sql);
}

// Table options stand before the PARTITION BY clause.
function withTableOptions(sql: string): string {
  const options = ') ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci ';
  const end = sql.lastIndexOf(')', sql.includes('PARTITION BY') ? sql.indexOf('PARTITION BY') : sql.length);
  return sql.slice(0, end) + options + sql.slice(end + 1);
}

async function reachDatabase(): Promise<void> {
  const deadline = Date.now() + config.database.startupWaitMs;
  for (;;) {
    try {
      await db.authenticate();
      return;
    } catch (error) {
      if (errno(error) === unknownDatabase) await createDatabase();
      else if (!isDatabaseDown(error) || Date.now() > deadline) throw error;
      else {
        logger.warn({ error }, 'waiting for the database');
        await sleep(1000);
      }
    }
  }
}

async function createDatabase(): Promise<void> {
  const { host, port, user, password, name } = config.database;
  const connection = await createConnection({ host, port, user, password, connectTimeout: 2000 });
  try {
    await connection.query(
      `CREATE DATABASE IF NOT EXISTS \`${name}\` DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci`,
    );
  } finally {
    await connection.end();
  }
}

// A locked row rather than GET_LOCK, which strict Galera clusters refuse. The row lock ends with its connection. One
// statement makes the row and locks it: whoever only wanted to make it would wait for the holder all the same.
async function underLock(work: () => Promise<void>): Promise<void> {
  await db.query('CREATE TABLE IF NOT EXISTS schema_lock (id TINYINT NOT NULL PRIMARY KEY) ENGINE=InnoDB');
  await db.transaction(async (transaction) => {
    await db.query(`SET SESSION innodb_lock_wait_timeout = ${longestWorkSeconds}`, { transaction });
    try {
      await db.query('INSERT INTO schema_lock (id) VALUES (1) ON DUPLICATE KEY UPDATE id = 1', {
        transaction,
      });
      await work();
    } finally {
      await db.query(`SET SESSION innodb_lock_wait_timeout = ${config.database.lockWaitSeconds}`, {
        transaction,
      });
    }
  });
}
