// Opens all connections to Redis: a single server or a Sentinel master. Keep-alive, pings and timeouts detect silent
// connections, even idle ones, and close them.
import { Redis, type RedisOptions } from 'ioredis';
import { config } from '../../../config/index.js';
import { logger } from '../watch/logger.js';

const { server, sentinels, sentinel, username, password, db, tls, timeoutMs } = config.redis;

/** A connection with a reply overdue this long is replaced. */
export const silenceMs = 3000;

const pingEveryMs = 5000;
const connectMs = 2000;

const retry = (attempt: number): number => Math.min(50 * attempt, 1000);

// Sentinels are queried at each reconnect and announce a new master.
const sentinelOptions: RedisOptions | undefined = sentinels && {
  sentinels: sentinels.map((node) => ({ ...node })),
  name: sentinel.name,
  sentinelUsername: sentinel.username,
  sentinelPassword: sentinel.password,
  sentinelRetryStrategy: retry,
  sentinelReconnectStrategy: retry,
  sentinelCommandTimeout: 1000,
  sentinelMaxConnections: 3,
  failoverDetector: true,
  updateSentinels: false,
  ...(tls && { enableTLSForSentinelMode: true, sentinelTLS: { ...tls } }),
};

/**
 * A connection as configured: it reconnects quickly and does not resend a command whose reply was lost. Close it with
 * `closeConnection`.
 *
 * @param purpose name in the log
 * @param options overrides of the common options
 */
export function openConnection(purpose: string, options: RedisOptions): Redis {
  const connection = new Redis({
    ...(sentinelOptions ?? server),
    username,
    password,
    db,
    ...(tls && { tls: { ...tls } }),
    retryStrategy: retry,
    connectTimeout: connectMs,
    keepAlive: 5000,
    autoResendUnfulfilledCommands: false,
    socketTimeout: silenceMs,
    // A server that has become a replica keeps its connections, while its name leads to its successor.
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    ...options,
  });
  if (sentinels) reopen(connection);
  watch(connection, purpose);
  return connection;
}

// ioredis (6.0) closes a connection for good when Sentinels announce a new master during its lookup. Duplicates too:
// BullMQ waits for jobs on one.
function reopen(connection: Redis): void {
  let isClosed = false;
  const disconnect = connection.disconnect.bind(connection);
  const quit = connection.quit.bind(connection);
  const duplicate = connection.duplicate.bind(connection);
  connection.disconnect = (reconnect = false) => {
    isClosed ||= !reconnect;
    disconnect(reconnect);
  };
  connection.quit = (...args) => {
    isClosed = true;
    return quit(...args);
  };
  connection.duplicate = (override) => {
    const copy = duplicate(override);
    reopen(copy);
    return copy;
  };
  connection.on('end', () => {
    const again = (): void => void connection.connect().catch(() => undefined);
    if (!isClosed) setTimeout(() => isClosed || again(), retry(1)).unref();
  });
}

const pings = new WeakMap<Redis, NodeJS.Timeout>();

/** Closes it without waiting for replies. */
export function closeConnection(connection: Redis): void {
  clearInterval(pings.get(connection));
  connection.disconnect();
}

/** Options for callers with a fallback: fail at once without Redis, and after this timeout without a reply. */
export const failingFast = (ms = timeoutMs): RedisOptions => ({
  commandTimeout: ms,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
});

// Without an `error` listener the process would exit; subscribers detect a lost connection by pings.
function watch(connection: Redis, purpose: string): void {
  let isAway = false;
  connection.on('error', (error: Error) => {
    const isRefused = /^(WRONGPASS|NOAUTH|ERR AUTH)/.test(error.message);
    if (!isAway)
      logger.error(
        { error, purpose },
        isRefused ? 'Redis refuses the account of REDIS_URL' : 'Redis is unavailable',
      );
    isAway = true;
    // Without its database ioredis would use the first one, which may be another deployment's.
    if (/DB index|'select' command/.test(error.message)) connection.disconnect(true);
  });
  connection.on('ready', () => {
    if (isAway) logger.info({ purpose }, 'Redis is back');
    isAway = false;
  });
  const ping = (): void => {
    if (connection.status === 'ready') connection.ping().catch(() => undefined);
  };
  pings.set(connection, setInterval(ping, pingEveryMs).unref());
}
