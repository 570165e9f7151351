// Messages between processes over Redis. They are hints: whoever misses one finds the truth in a row.
import { Redis } from 'ioredis';
import { config } from '../../config/index.js';
import { logger } from './logger.js';
import { connectionOptions, key, redis, reportTrouble } from './redis.js';

type Listener = (message: unknown) => void;

const listeners = new Map<string, Set<Listener>>();
let subscriber: Redis | undefined;

/** Sends a message, a JSON value, to every process that listens on that channel. @throws when Redis is away */
export async function publish(channel: string, message: unknown): Promise<void> {
  await redis.publish(key('channel', channel), JSON.stringify(message));
}

/** Calls the listener for each message on that channel, also after Redis was away. */
export function listen(channel: string, listener: Listener): void {
  const name = key('channel', channel);
  const known = listeners.get(name);
  if (known) {
    known.add(listener);
    return;
  }
  listeners.set(name, new Set([listener]));
  connection()
    .subscribe(name)
    .catch((error: unknown) =>
      logger.warn({ error, channel }, 'subscribing failed, Redis will be asked again'),
    );
}

/** Stops listening. */
export function closePubsub(): void {
  listeners.clear();
  subscriber?.disconnect();
  subscriber = undefined;
}

function connection(): Redis {
  if (subscriber) return subscriber;
  subscriber = new Redis(config.redis.url, { ...connectionOptions, maxRetriesPerRequest: null });
  reportTrouble(subscriber, 'subscriptions');
  subscriber.on('message', (name: string, text: string) => {
    const message: unknown = JSON.parse(text);
    for (const listener of listeners.get(name) ?? []) listener(message);
  });
  return subscriber;
}
