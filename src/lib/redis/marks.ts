// Marks in Redis: they tell every process on its next request that data it has cached has changed.
//
// A mark is a random text. A writer sets a new one after the commit and before the answer; a reader compares it with
// the mark of its copy. Marks are only hints: the change itself is recorded in the database, in its transaction
// (models/tables/versions.ts), and copies are checked against that.
import { batched } from '../batching.js';
import { logger } from '../logger.js';
import { withTimeout } from '../with-timeout.js';
import { randomToken } from '../secrets/random-id.js';
import { key, redis } from './redis.js';

const marksKey = key('marks');

/** Channel of changed scopes, an array of names, for open pages (lib/redis/pubsub.ts). */
export const changesChannel = 'changes';

/**
 * Sets new marks. Changes made during a command share the next one. While Redis is unavailable the changes stay
 * unannounced until it is back. Never throws.
 */
export function announce(scopes: readonly string[]): Promise<void> {
  const batch = gathering ?? gather();
  for (const scope of scopes) batch.scopes.add(scope);
  return batch.announced;
}

type Marks = (string | undefined)[];

/**
 * The marks of several scopes in one round trip shared by concurrent requests; undefined for a missing mark,
 * and for all when Redis is unavailable.
 */
export const readMarks = batched<readonly string[], Marks>(readTogether, { max: 100, atOnce: 4 });

async function readTogether(asked: readonly (readonly string[])[]): Promise<Marks[]> {
  const scopes = [...new Set(asked.flat())];
  const found = await tryRedis(() => redis.hmget(marksKey, ...scopes));
  const missing = found ? scopes.filter((_, index) => found[index] === null) : [];
  // Redis was emptied; a mark set now is newer than any copy.
  if (missing.length > 0) await tryRedis(() => plant(missing));
  const marks = new Map(scopes.map((scope, index) => [scope, found?.[index] ?? undefined]));
  return asked.map((one) => one.map((scope) => marks.get(scope)));
}

/** Whether a change of this process is still unannounced: its own copies must not be used either. */
export const isUnannounced = (scope: string): boolean => unannounced.has(scope);

interface Batch {
  scopes: Set<string>;
  announced: Promise<void>;
}

let gathering: Batch | undefined;
let underway: Promise<void> | undefined;

/** Max wait for the previous command: a hanging Redis must not delay twice. */
const maxGatheringMs = 20;

function gather(): Batch {
  const turn = underway
    ? withTimeout(underway, maxGatheringMs, (resolve: () => void) => resolve())
    : Promise.resolve();
  const scopes = new Set<string>();
  const announced = turn.then(() => {
    gathering = undefined;
    const sending = send([...scopes]).finally(() => {
      if (underway === sending) underway = undefined;
    });
    underway = sending;
    return sending;
  });
  gathering = { scopes, announced };
  return gathering;
}

const unannounced = new Set<string>();

async function send(scopes: string[]): Promise<void> {
  try {
    await setMarks(scopes);
  } catch (error) {
    if (isReply(error) && (await removeMarks(scopes))) return;
    for (const scope of scopes) unannounced.add(scope);
    retryLater();
  }
}

// In one round trip with the notice for open pages, which is not awaited.
function setMarks(scopes: readonly string[]): Promise<unknown> {
  const mark = randomToken(9);
  const set = redis.hset(marksKey, Object.fromEntries(scopes.map((scope) => [scope, mark])));
  redis.publish(key('channel', changesChannel), JSON.stringify(scopes)).catch(() => undefined);
  return set;
}

// A full Redis still deletes, and a missing mark invalidates like a new one.
async function removeMarks(scopes: readonly string[]): Promise<boolean> {
  try {
    await redis.hdel(marksKey, ...scopes);
    return true;
  } catch {
    return false;
  }
}

// Redis replied with an error.
const isReply = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

const retryMs = 250;
let timer: NodeJS.Timeout | undefined;

function retryLater(): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    const scopes = [...unannounced];
    setMarks(scopes).then(
      () => {
        for (const scope of scopes) unannounced.delete(scope);
        logger.info({ scopes }, 'changes made while Redis was unavailable are announced');
      },
      () => retryLater(),
    );
  }, retryMs).unref();
}

async function plant(scopes: readonly string[]): Promise<void> {
  const command = redis.pipeline();
  for (const scope of scopes) command.hsetnx(marksKey, scope, randomToken(9));
  await command.exec();
}

/** Pause after a failed read: a frozen Redis would cost every request its timeout. */
const pauseMs = 500;

let pausedUntil = 0;

async function tryRedis<T>(read: () => Promise<T>): Promise<T | undefined> {
  if (Date.now() < pausedUntil) return undefined;
  try {
    return await read();
  } catch {
    pausedUntil = Date.now() + pauseMs;
    return undefined;
  }
}
