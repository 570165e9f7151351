// Marks in Redis by which every process hears, on its next request, that something it has a copy of has changed.
//
// A mark is a random text. Who changes data sets a new one after the commit and before the answer; who reads compares it
// with the one its copy was made under. Marks are news and no more: that a change was made is written in the database, in
// its transaction (models/tables/versions.ts), and copies are held against that.
import { batched } from './batching.js';
import { logger } from './logger.js';
import { withTimeout } from './with-timeout.js';
import { randomToken } from './random-id.js';
import { key, redis } from './redis.js';

const marksKey = key('marks');

/** Where the scopes of new marks are told, an array of names, for pages that show what has changed (lib/pubsub.ts). */
export const changesChannel = 'changes';

/**
 * Sets new marks. Of many changes at once those that come while a command is under way share the next one. When Redis is
 * away the change stays unannounced until it is back. Never throws.
 */
export function announce(scopes: readonly string[]): Promise<void> {
  const batch = gathering ?? gather();
  for (const scope of scopes) batch.scopes.add(scope);
  return batch.announced;
}

type Marks = (string | undefined)[];

/**
 * The marks of several scopes in one round trip, which requests that come at the same time share; undefined where there is
 * none, and all of them when Redis is unavailable.
 */
export const readMarks = batched<readonly string[], Marks>(readTogether, { max: 100, atOnce: 4 });

async function readTogether(asked: readonly (readonly string[])[]): Promise<Marks[]> {
  const scopes = [...new Set(asked.flat())];
  const found = await tryRedis(() => redis.hmget(marksKey, ...scopes));
  const missing = found ? scopes.filter((_, index) => found[index] === null) : [];
  // Redis was emptied. What is put in place now can only be newer than any copy.
  if (missing.length > 0) await tryRedis(() => plant(missing));
  const marks = new Map(scopes.map((scope, index) => [scope, found?.[index] ?? undefined]));
  return asked.map((one) => one.map((scope) => marks.get(scope)));
}

/** True while a change of this process could not be announced yet: its own copies must not be used either. */
export const isUnannounced = (scope: string): boolean => unannounced.has(scope);

interface Batch {
  scopes: Set<string>;
  announced: Promise<void>;
}

let gathering: Batch | undefined;
let underway: Promise<void> | undefined;

/** A Redis that does not answer must not be waited for twice. */
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

// In one round trip with the news for open pages, which nobody waits for.
function setMarks(scopes: readonly string[]): Promise<unknown> {
  const mark = randomToken(9);
  const set = redis.hset(marksKey, Object.fromEntries(scopes.map((scope) => [scope, mark])));
  redis.publish(key('channel', changesChannel), JSON.stringify(scopes)).catch(() => undefined);
  return set;
}

// A Redis that is full still deletes, and no mark is as good as a new one.
async function removeMarks(scopes: readonly string[]): Promise<boolean> {
  try {
    await redis.hdel(marksKey, ...scopes);
    return true;
  } catch {
    return false;
  }
}

// Redis answered, if only to refuse.
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
        logger.info({ scopes }, 'changes made while Redis was away are announced now');
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

/** After a failed read Redis is not asked again for this long: a frozen one would cost every request its timeout. */
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
