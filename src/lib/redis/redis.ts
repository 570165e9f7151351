// The command connections to Redis, and the keys of this deployment. Callers decide what to do when Redis is
// unavailable.
import { config } from '../../../config/index.js';
import { withTimeout } from '../process/timers.js';
import { closeConnection, failingFast, openConnection, silenceMs } from './connection.js';

/** For callers with a fallback: fails at once while Redis is unavailable, and after 200 ms without a reply. */
export const redis = openConnection('commands', { ...failingFast(), lazyConnect: true });

/** For data stored only in Redis, such as tickets and captchas: waits for a slow Redis. */
export const patientRedis = openConnection('one-time values', {
  ...failingFast(silenceMs),
  lazyConnect: true,
});

/** A key of this deployment. The braces keep it apart from those of a deployment whose prefix begins alike. */
export function key(...parts: (string | number)[]): string {
  return `{${config.redis.prefix}}:${parts.join(':')}`;
}

/** Fails unless Redis takes writes: one that is full still answers a PING. */
export const tryWrite = (connection = redis): Promise<unknown> => connection.set(key('probe'), 1, 'PX', 1000);

/** How long a start waits for a connection; without one it continues and connects later. */
export const maxConnectMs = 2000;

/** Opens the command connections; resolves when they are ready or the wait is over. */
export async function connectRedis(): Promise<void> {
  const opened = [redis, patientRedis].map((connection) => {
    connection.connect().catch(() => undefined);
    return new Promise((resolve) => connection.once('ready', resolve));
  });
  await withTimeout<unknown>(Promise.all(opened), maxConnectMs, (resolve) => resolve(undefined));
}

export function disconnectRedis(): void {
  for (const connection of [redis, patientRedis]) closeConnection(connection);
}

/** Matching keys in batches; scans every key. */
export async function* matchingKeys(match: string): AsyncGenerator<string[]> {
  for await (const keys of redis.scanStream({ match, count: 1000 }) as AsyncIterable<string[]>)
    if (keys.length > 0) yield keys;
}

/** Whether the error means that Redis is unreachable, too slow, read-only or full. */
export function isRedisDown(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    /^(ReplyError|MaxRetriesPerRequestError)$/.test(error.name) ||
    /enableOfflineQueue|Command timed out|Socket timeout|Connection is closed/.test(error.message)
  );
}
