// Opens all connections to Redis: a single server, a Sentinel master, or a cluster. Keep-alive, pings and timeouts
// detect silent connections, even idle ones, and close them.
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { config } from '../../../config/index.js';
import { logger } from '../logger.js';
import { follow, leave } from './nodes.js';

export type RedisConnection = Redis | Cluster;

const { server, sentinels, sentinel, cluster, username, password, db, tls, timeoutMs } = config.redis;

/** A connection with a reply overdue this long is replaced. */
export const silenceMs = 3000;

/** Interval of pings on an idle connection. */
const pingEveryMs = 5000;
const connectMs = 2000;
/** Timeout for a cluster node's slot table; then the next node is asked. */
const slotsMs = 1000;

const retry = (attempt: number): number => Math.min(50 * attempt, 1000);

/** Options of every connection: quick reconnects, and no resending of a command whose reply was lost. */
const commonOptions: RedisOptions = {
  username,
  password,
  ...(tls && { tls: { ...tls } }),
  retryStrategy: retry,
  connectTimeout: connectMs,
  keepAlive: 5000,
  autoResendUnfulfilledCommands: false,
  socketTimeout: silenceMs,
};

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
 * A connection as configured; close it with `closeConnection`.
 *
 * @param purpose name in the log
 * @param options overrides of the common options
 */
export function openConnection(purpose: string, options: RedisOptions): RedisConnection {
  const {
    lazyConnect,
    enableOfflineQueue = true,
    retryStrategy,
    ...perNode
  } = { ...commonOptions, ...options };
  const connection = cluster
    ? new Cluster(
        cluster.map((node) => ({ ...node })),
        {
          lazyConnect,
          enableOfflineQueue,
          clusterRetryStrategy: retry,
          slotsRefreshTimeout: slotsMs,
          slotsRefreshInterval: pingEveryMs,
          // Certificates name the nodes as they announce themselves, so the names are not resolved here.
          ...(tls && { dnsLookup: (address, done) => done(null, address) }),
          redisOptions: perNode,
        },
      )
    : new Redis({
        ...(sentinelOptions ?? server),
        db,
        lazyConnect,
        enableOfflineQueue,
        retryStrategy,
        ...perNode,
      });
  if (connection instanceof Redis) reopen(connection);
  watch(connection, purpose);
  return connection;
}

/**
 * A subscriber connection. Cluster nodes forward messages, so it connects to any of them, and to the next one
 * when that is lost.
 */
export function openSubscriber(purpose: string, options: RedisOptions): Redis {
  const all = { ...commonOptions, ...options };
  let connection: Redis;
  if (cluster) {
    let at = Math.floor(Math.random() * cluster.length);
    const next = (): object => ({ ...cluster[at++ % cluster.length] });
    const retryStrategy = (attempt: number): number => {
      Object.assign(connection.options, next());
      return retry(attempt);
    };
    connection = new Redis({ ...all, ...next(), retryStrategy });
  } else connection = new Redis({ ...(sentinelOptions ?? server), db, ...all });
  reopen(connection);
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

const pings = new WeakMap<RedisConnection, NodeJS.Timeout>();

/** Closes it without waiting for replies. */
export function closeConnection(connection: RedisConnection): void {
  clearInterval(pings.get(connection));
  if (connection instanceof Cluster) leave(connection);
  connection.disconnect();
  // A pending slot refresh would restart its timer (ioredis 6.0) and keep the process alive.
  if (connection instanceof Cluster) connection.refreshSlotsCache(() => connection.disconnect());
}

/** Options for callers with a fallback: fail at once without Redis, and after this timeout without a reply. */
export const failingFast = (ms = timeoutMs): RedisOptions => ({
  commandTimeout: ms,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
});

// Without an `error` listener the process would exit; subscribers detect a lost connection by pings.
function watch(connection: RedisConnection, purpose: string): void {
  let isAway = false;
  const events: NodeJS.EventEmitter = connection;
  events.on('error', (error: Error) => {
    if (!isAway) logger.error({ error, purpose }, 'Redis is unavailable');
    isAway = true;
  });
  events.on('ready', () => {
    if (isAway) logger.info({ purpose }, 'Redis is back');
    isAway = false;
  });
  if (connection instanceof Cluster) return follow(connection);
  const ping = (): void => {
    if (connection.status === 'ready') connection.ping().catch(() => undefined);
  };
  pings.set(connection, setInterval(ping, pingEveryMs).unref());
}
