// Connections to the database: pools for quick statements, and connections of their own for long work. All are watched.
import { promisify } from 'node:util';
import { createConnection, type Connection, type ConnectionOptions } from 'mysql2/promise';
import { Sequelize } from 'sequelize-typescript';
import { config } from '../../config/index.js';
import { Watchdog, type ConnectionManager, type Done, type DriverConnection } from './db-watchdog.js';
import { logger } from './logger.js';
import { watchPool } from './watch/metrics.js';

const { host, port, user, password, name, tls, session, acquireTimeoutMs, lockWaitSeconds } = config.database;

/** The server ends a statement by itself; its word of that may take this much longer. */
const graceMs = 500;

/** Idle time after which the pool closes a connection. */
const idleSeconds = 30;
/** Idle time after which the server closes a connection: its client may be dead. */
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

/** Where a server listens. */
export interface Server {
  host: string;
  port: number;
}

export interface PoolOptions {
  /** What it is counted under. */
  name: string;
  /** Connections at most. */
  max: number;
  /** A statement may take this long. */
  statementSeconds: number;
  /** Several statements may be sent at once. */
  packets?: boolean;
  /** Another server than the one that takes writes. */
  server?: Server;
}

/** A pool whose statements have a deadline, over Sequelize's own pool. */
export function openPool(options: PoolOptions): Sequelize {
  const { name: poolName, max, statementSeconds, packets = false, server = { host, port } } = options;
  const watchdog = new Watchdog(poolName, statementSeconds * 1000 + graceMs);
  const pool: Sequelize = new Sequelize({
    dialect: 'mysql',
    ...server,
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
    dialectOptions: { ...driverOptions, ...address, ...server, typeCast: true, multipleStatements: packets },
    define: { underscored: true, timestamps: true, createdAt: 'created_at', updatedAt: 'updated_at' },
    hooks: {
      afterConnect: async (connection) => {
        const driver = connection as DriverConnection;
        watchdog.watch(driver);
        await prepareSession(driver, sessionSettings(statementSeconds, 'pool'));
      },
      beforeDisconnect: (connection) => {
        const driver = connection as DriverConnection;
        // A COM_QUIT to a silent server would keep the socket open until TCP gives up.
        if (!watchdog.trusts(driver)) driver.destroy();
      },
    },
  });
  watchdog.guardPool(managerOf(pool), max);
  watchPool(poolName, () => {
    const { size, using, waiting } = managerOf(pool).pool;
    return { max, size, using, waiting };
  });
  return pool;
}

export interface OwnConnectionOptions extends Pick<ConnectionOptions, 'database' | 'dateStrings'> {
  /** A single statement may take this long. */
  statementSeconds: number;
  /** Another server than the one that takes writes. */
  server?: Server;
}

/**
 * A connection of its own, for long work; its statements have a deadline as well. Close it with `destroy()`.
 *
 * @param options without `database` where there may be none yet
 */
export async function openConnection(options: OwnConnectionOptions): Promise<Connection> {
  const { statementSeconds, server, ...more } = options;
  const connection = await createConnection({
    ...{ ...driverOptions, ...address, timezone: 'Z' },
    ...{ ...server, ...more },
  });
  const driver = (connection as unknown as { connection: DriverConnection }).connection;
  new Watchdog('own', statementSeconds * 1000 + graceMs).watch(driver);
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

const managerOf = (pool: Sequelize): ConnectionManager =>
  (pool as unknown as { connectionManager: ConnectionManager }).connectionManager;

// MariaDB reads the first comment, MySQL the second one; MySQL limits SELECT only. A table is waited for longer than an
// ALTER of ours waits for it, so that statements queued behind one do not fail.
function sessionSettings(statementSeconds: number, kind: keyof typeof silences): string {
  const { connection, transaction } = silences[kind];
  const more = session.map((setting) => `, ${setting}`).join('');
  return `SET time_zone = '+00:00', sql_mode = '${sqlMode}', innodb_lock_wait_timeout = ${lockWaitSeconds},
    lock_wait_timeout = ${lockWaitSeconds + 1}, wait_timeout = ${connection}${more}
    /*M!100100 , max_statement_time = ${statementSeconds} */ /*M!100300 , idle_transaction_timeout = ${transaction} */
    /*!80000 , max_execution_time = ${statementSeconds * 1000} */`;
}

async function prepareSession(connection: DriverConnection, settings: string): Promise<void> {
  const query = promisify((sql: string, done: Done) => connection.query(sql, done));
  await query(settings);
  await query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
}
