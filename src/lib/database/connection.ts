// Connections to the database: pools, and dedicated connections for long work. All have deadlines.
import { promisify } from 'node:util';
import { createConnection, type Connection, type ConnectionOptions } from 'mysql2/promise';
import { Sequelize } from 'sequelize-typescript';
import { config } from '../../../config/index.js';
import { logger } from '../watch/logger.js';
import { watchPool } from '../watch/metrics.js';
import { Deadline, maxIdleMs, type Done, type DriverConnection } from './deadline.js';

const { host, port, user, password, name, tls, acquireTimeoutMs, lockWaitSeconds } = config.database;

/** Time for the reply after the server has ended a statement at its limit. */
const graceMs = 500;

/** The deadline, in milliseconds, of a statement that the server ends after so many seconds. */
export const deadlineOf = (seconds: number): number => seconds * 1000 + graceMs;

/** Idle time after which the server closes a connection: its client may be dead. */
const silences = {
  // Within a transaction statements follow each other quickly; a short limit frees its locks.
  pool: { connection: 60, transaction: 5 },
  // Slow storage may take a page between two reads of a snapshot.
  own: { connection: 600, transaction: 600 },
} as const;

const sqlMode =
  'STRICT_TRANS_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION';

/** Options of every connection: a short connect timeout, keep-alive, times in UTC. */
const address = {
  host,
  port,
  user,
  password,
  connectTimeout: 3000,
  keepAliveInitialDelay: 5000,
  // The driver modifies it.
  ...(tls && { ssl: { ...tls } }),
};
const driverOptions = {
  enableKeepAlive: true,
  charset: 'utf8mb4_unicode_ci',
  supportBigNumbers: true,
  namedPlaceholders: true,
};

interface PoolOptions {
  name: string;
  max: number;
  statementSeconds: number;
}

/** The parts of Sequelize's connection manager used here. */
interface ConnectionManager {
  getConnection(options: object): Promise<DriverConnection>;
  releaseConnection(connection: DriverConnection): void;
  validate(connection: DriverConnection): boolean;
  pool: { size: number; using: number; waiting: number };
}

/** The time zone is set together with the other session settings; Sequelize's types lack the option. */
const keepTimezone = { keepDefaultTimezone: true };

/** A Sequelize pool whose statements have a deadline. */
export function openPool(options: PoolOptions): Sequelize {
  const { name: poolName, max, statementSeconds } = options;
  const deadline = new Deadline(poolName, deadlineOf(statementSeconds));
  const pool: Sequelize = new Sequelize({
    dialect: 'mysql',
    host,
    port,
    username: user,
    password,
    database: name,
    timezone: '+00:00',
    ...keepTimezone,
    logging: false,
    pool: {
      max,
      min: 0,
      acquire: acquireTimeoutMs,
      idle: maxIdleMs,
      validate: (connection?: DriverConnection) =>
        connection !== undefined && managerOf(pool).validate(connection) && deadline.trusts(connection),
    },
    // The driver's own column conversion; Sequelize's function would compile a parser for every statement.
    dialectOptions: { ...driverOptions, ...address, typeCast: true },
    define: { underscored: true, timestamps: true, createdAt: 'created_at', updatedAt: 'updated_at' },
    hooks: {
      // Each has its own default, but a new row needs one time.
      beforeCreate: (row) => {
        if (row.get('created_at')) row.set({ updated_at: row.get('created_at') });
      },
      afterConnect: async (connection) => {
        const driver = connection as DriverConnection;
        deadline.watch(driver);
        await prepareSession(driver, sessionSettings(statementSeconds, 'pool'));
      },
      beforeDisconnect: (connection) => {
        const driver = connection as DriverConnection;
        // A COM_QUIT to a silent server would keep the socket open until TCP times out.
        if (!deadline.trusts(driver)) driver.destroy();
      },
    },
  });
  watchPool(poolName, () => {
    const { size, using, waiting } = managerOf(pool).pool;
    return { max, size, using, waiting };
  });
  return pool;
}

interface OwnConnectionOptions extends Pick<ConnectionOptions, 'database' | 'dateStrings'> {
  statementSeconds: number;
}

/**
 * A dedicated connection for long work; its statements have a deadline too. Close it with `destroy()`.
 *
 * @param options without `database` when none exists yet
 */
export async function openConnection(options: OwnConnectionOptions): Promise<Connection> {
  const { statementSeconds, ...more } = options;
  const connection = await createConnection({
    ...driverOptions,
    ...address,
    timezone: 'Z',
    ...more,
  });
  const driver = (connection as unknown as { connection: DriverConnection }).connection;
  new Deadline('own', deadlineOf(statementSeconds)).watch(driver);
  // A running statement fails by itself; this handles errors between statements.
  connection.on('error', (error: unknown) => logger.warn({ error }, 'a dedicated connection was lost'));
  try {
    await prepareSession(driver, sessionSettings(statementSeconds, 'own'));
  } catch (error) {
    connection.destroy();
    throw error;
  }
  return connection;
}

/** A dedicated connection whose reads see everything as of one instant. Close it with `destroy()`. */
export async function connectToSnapshot(options: OwnConnectionOptions): Promise<Connection> {
  const connection = await openConnection({ database: name, ...options });
  try {
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await connection.query('SET SESSION group_concat_max_len = 65536');
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
    return connection;
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** A connection of the pool; release it. @throws DatabaseTimeout when none is free in time */
export function getConnection(pool: Sequelize): Promise<DriverConnection> {
  return managerOf(pool).getConnection({ type: 'write' });
}

export function releaseConnection(pool: Sequelize, connection: DriverConnection): void {
  managerOf(pool).releaseConnection(connection);
}

/** Whether the connection can still carry a statement. */
export const isOpen = (pool: Sequelize, connection: DriverConnection): boolean =>
  managerOf(pool).validate(connection);

const managerOf = (pool: Sequelize): ConnectionManager =>
  (pool as unknown as { connectionManager: ConnectionManager }).connectionManager;

// MariaDB reads the first comments, MySQL the last. MySQL limits SELECT only, and knows no silence within a
// transaction apart from others. Table locks are waited for longer than our own ALTERs wait, so that
// statements queued behind one do not fail.
function sessionSettings(statementSeconds: number, kind: keyof typeof silences): string {
  const { connection, transaction } = silences[kind];
  return `SET autocommit = 1, time_zone = '+00:00', sql_mode = '${sqlMode}', innodb_lock_wait_timeout = ${lockWaitSeconds},
    lock_wait_timeout = ${lockWaitSeconds + 1}, wait_timeout = ${connection}
    /*M!100100 , max_statement_time = ${statementSeconds} */ /*M!100300 , idle_transaction_timeout = ${transaction} */
    /*!80000 , max_execution_time = ${statementSeconds * 1000}, wait_timeout = ${transaction} */`;
}

async function prepareSession(connection: DriverConnection, settings: string): Promise<void> {
  const query = promisify((sql: string, done: Done) => connection.query(sql, done));
  await query(settings);
  await query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
}
