// The only opener of connections to Redis: one server, the master that Sentinels name, or a cluster. Keep-alive, pings and timeouts detect
// a silent connection, also an idle one, and close it.
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { config } from '../../config/index.js';
import { logger } from './logger.js';
import { follow, leave } from './redis-nodes.js';

export type RedisConnection = Redis | Cluster;

const { server, sentinels, sentinel, cluster, username, password, db, tls, timeoutMs } = config.redis;

/** A connection on which an answer is due for so long is closed and made anew. */
export const silenceMs = 3000;

/** Interval of pings over an idle connection. */
const pingEveryMs = 5000;
const connectMs = 2000;
/** A node of a cluster is asked where the slots are; the next one after that time. */
const slotsMs = 1000;

const retry = (attempt: number): number => Math.min(50 * attempt, 1000);

/** What every connection has in common: quick reconnects, and a command whose answer was lost is not sent twice. */
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

// Sentinels are asked again at each reconnect, and tell by themselves when the master changes.
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
 * A connection to whatever the settings name; close it with `closeConnection`.
 *
 * @param purpose what the log calls it
 * @param options differences from those that all connections have in common
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
          // Names in certificates are those that the nodes tell, so they are not looked up here.
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
 * A connection that listens. The nodes of a cluster pass on what is published at any of them, so it leads to one of them, and to the next
 * one when that is lost.
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

// ioredis (6.0) gives a connection up for good when the Sentinels announce a new master just when it asks them for one. Also that of a
// duplicate: BullMQ waits for jobs on one.
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

/** Closes it without waiting for answers. */
export function closeConnection(connection: RedisConnection): void {
  clearInterval(pings.get(connection));
  if (connection instanceof Cluster) leave(connection);
  connection.disconnect();
  // A refresh of the slots that was under way would set its timer again (ioredis 6.0), and keep the process.
  if (connection instanceof Cluster) connection.refreshSlotsCache(() => connection.disconnect());
}

/** Options of a caller that has a fallback: fails at once without Redis, and after that time without an answer. */
export const failingFast = (ms = timeoutMs): RedisOptions => ({
  commandTimeout: ms,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
});

// An `error` listener keeps the process alive; a connection that only listens learns that it is cut off by its pings.
function watch(connection: RedisConnection, purpose: string): void {
  let isAway = false;
  const events: NodeJS.EventEmitter = connection;
  events.on('error', (error: Error) => {
    if (!isAway) logger.error({ error, purpose }, 'Redis is away');
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
