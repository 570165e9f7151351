// Messages between processes over Redis. They are hints: a missed one is recovered by reading the row.
import type { Redis } from 'ioredis';
import { logger } from '../watch/logger.js';
import { withTimeout } from '../process/timers.js';
import { closeConnection, openConnection } from './connection.js';
import { key, redis } from './redis.js';

type Listener = (message: unknown) => void;

const listeners = new Map<string, Listener>();
const subscriptions = new Map<string, Promise<void>>();
let subscriber: Redis | undefined;

/** Publishes a JSON value on a channel. @throws when Redis is unavailable */
export async function publish(channel: string, message: unknown): Promise<void> {
  await redis.publish(key('channel', channel), JSON.stringify(message));
}

/** Calls the one listener of the channel for each message; the subscription survives outages of Redis. */
export function listen(channel: string, listener: Listener): void {
  const name = key('channel', channel);
  const isKnown = listeners.has(name);
  listeners.set(name, listener);
  if (!isKnown) subscriptions.set(name, subscribe(name));
}

/** Waits, up to a limit, until messages on that channel arrive here. */
export async function untilListening(channel: string, ms: number): Promise<void> {
  const subscribed = subscriptions.get(key('channel', channel)) ?? Promise.resolve();
  await withTimeout(subscribed, ms, (resolve) => resolve());
}

export function closePubsub(): void {
  listeners.clear();
  subscriptions.clear();
  if (subscriber) closeConnection(subscriber);
  subscriber = undefined;
}

async function subscribe(name: string): Promise<void> {
  try {
    await connection().subscribe(name);
  } catch (error) {
    logger.warn({ error, name }, 'subscribing failed; the next connection will retry');
  }
}

function connection(): Redis {
  if (subscriber) return subscriber;
  // ioredis repeats only confirmed subscriptions; an unconfirmed one is repeated here.
  const made = openConnection('subscriptions', { maxRetriesPerRequest: null, autoResubscribe: false });
  subscriber = made;
  made.on('ready', () => {
    for (const name of listeners.keys()) subscriptions.set(name, subscribe(name));
  });
  made.on('message', (name: string, text: string) => {
    listeners.get(name)?.(JSON.parse(text));
  });
  return made;
}
