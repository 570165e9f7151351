// Connections to Redis. Keep-alive and timeouts detect a silent connection, also an idle one, and close it.
import { Redis } from 'ioredis';
import { config } from '../../config/index.js';
import { logger } from './logger.js';
import { withTimeout } from './with-timeout.js';

/** Options of every connection: quick reconnects, and a command whose answer was lost is not sent twice. */
export const connectionOptions = {
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 1000),
  connectTimeout: 2000,
  keepAlive: 5000,
  autoResendUnfulfilledCommands: false,
};

/** A connection on which an answer is due for so long is closed and made anew. */
export const silenceMs = 3000;

/** Interval of pings over an idle connection. */
const pingEveryMs = 5000;

const commandOptions = {
  ...connectionOptions,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  socketTimeout: silenceMs,
  lazyConnect: true,
};

/**
 * For callers with a fallback: fails at once while Redis is unavailable, and after REDIS_TIMEOUT_MS without an answer.
 */
export const redis = new Redis(config.redis.url, {
  ...commandOptions,
  commandTimeout: config.redis.timeoutMs,
});

/** For data that is only in Redis, such as tickets and captchas: waits for a slow Redis. */
export const patientRedis = new Redis(config.redis.url, { ...commandOptions, commandTimeout: silenceMs });

reportTrouble(redis, 'commands');
reportTrouble(patientRedis, 'one-time values');

/** Detects that a connection has gone silent. @returns stops detecting */
export function keepAwake(connection: Redis): () => void {
  const timer = setInterval(() => {
    if (connection.status === 'ready') connection.ping().catch(() => undefined);
  }, pingEveryMs).unref();
  return () => clearInterval(timer);
}

keepAwake(redis);
keepAwake(patientRedis);

/** A key of this deployment. The prefix is a hash tag: all keys live in one slot of a cluster. */
export function key(...parts: (string | number)[]): string {
  return `{${config.redis.prefix}}:${parts.join(':')}`;
}

/** The result of a command, or of the fallback when Redis does not answer. */
export async function redisOr<T>(
  command: () => Promise<T>,
  fallback: (error: unknown) => T | Promise<T>,
): Promise<T> {
  let result: T;
  try {
    result = await command();
  } catch (error) {
    return fallback(error);
  }
  return result;
}

/** How long a start waits for a connection: a process also starts without Redis and connects later. */
export const maxConnectMs = 2000;

/** Opens the connections for commands; resolves when they are ready, or cannot be yet. */
export async function connectRedis(): Promise<void> {
  const opened = [redis, patientRedis].map((connection) => {
    connection.connect().catch(() => undefined);
    return new Promise((resolve) => connection.once('ready', resolve));
  });
  await withTimeout<unknown>(Promise.all(opened), maxConnectMs, (resolve) => resolve(undefined));
}

/** Closes the connections for commands. */
export function disconnectRedis(): void {
  for (const connection of [redis, patientRedis]) connection.disconnect();
}

/** Logs when a connection is lost and when it is back, once each; an `error` listener keeps the process alive. */
export function reportTrouble(connection: Redis, purpose: string): void {
  let away = false;
  connection.on('error', (error: Error) => {
    if (!away) logger.error({ error, purpose }, 'Redis is away');
    away = true;
  });
  connection.on('ready', () => {
    if (away) logger.info({ purpose }, 'Redis is back');
    away = false;
  });
}

/** True when the error comes from a Redis connection: away, too slow, read-only or full. */
export function isRedisDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /^(ReplyError|MaxRetriesPerRequestError)$/.test(error.name) ||
    /enableOfflineQueue|Command timed out|Socket timeout|Connection is closed/.test(error.message)
  );
}
