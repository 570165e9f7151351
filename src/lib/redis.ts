// The command connection to Redis. Whoever uses it says what happens when Redis is away.
import { Redis } from 'ioredis';
import { config } from '../../config/index.js';
import { logger } from './logger.js';
import { race } from './race.js';

/** Options of every connection: quick reconnects, and a command whose answer was lost is not sent twice. */
export const connectionOptions = {
  retryStrategy: (attempt: number) => Math.min(50 * attempt, 1000),
  connectTimeout: 2000,
  autoResendUnfulfilledCommands: false,
};

/** Fails at once while Redis is away, and after REDIS_TIMEOUT_MS when it does not answer. */
export const redis = new Redis(config.redis.url, {
  ...connectionOptions,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: config.redis.timeoutMs,
  lazyConnect: true,
});

reportTrouble(redis, 'commands');

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
export const longestConnectMs = 2000;

/** Opens the connection; resolves when it is ready, or cannot be yet. */
export async function connectRedis(): Promise<void> {
  const ready = new Promise<void>((resolve) => redis.once('ready', resolve));
  redis.connect().catch(() => undefined);
  await race(ready, longestConnectMs, (resolve) => resolve());
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
    /enableOfflineQueue|Command timed out|Connection is closed/.test(error.message)
  );
}
