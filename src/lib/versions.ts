// Version marks in Redis by which every process notices, on its next request, that something cached has changed.
//
// A mark is a random text. Who changes data sets a new mark after the commit and before the answer; who reads compares
// the mark with the one its copy was made under. A missing mark (Redis was emptied) equals nothing, so copies are made anew.
import { key, redis } from './redis.js';
import { randomToken } from './random-id.js';
import { logger } from './logger.js';
import { race } from './race.js';

const pending = new Map<string, Set<string>>();
const whole = 'whole';

/** The Redis key of a mark. */
export const versionKey = (scope: string): string => key('version', scope);

const partsKey = (scope: string): string => key('version-parts', scope);

/**
 * Sets a new mark for a scope, or for some of its parts only. A Redis that is full still deletes, and no mark is as
 * good as a new one. When Redis is away the change is remembered and marked as soon as it is back; until then readers
 * see no Redis either and go to the database.
 */
export function bump(scope: string, parts: readonly (string | number)[] = [whole]): Promise<void> {
  const batch = gathering.get(scope) ?? gather(scope);
  for (const part of parts) batch.parts.add(String(part));
  return batch.marked;
}

interface Batch {
  parts: Set<string>;
  marked: Promise<void>;
}

/** Of many changes at once, those of one scope share a mark: while one is under way the next one gathers. */
const gathering = new Map<string, Batch>();
const underway = new Map<string, Promise<void>>();

/** A Redis that does not answer must not be waited for twice. */
const longestGatheringMs = 20;

function gather(scope: string): Batch {
  const earlier = underway.get(scope);
  const turn = earlier ? race(earlier, longestGatheringMs, (resolve) => resolve()) : Promise.resolve();
  const parts = new Set<string>();
  const marked = turn.then(() => {
    gathering.delete(scope);
    const marking = mark(scope, parts).finally(() => {
      if (underway.get(scope) === marking) underway.delete(scope);
    });
    underway.set(scope, marking);
    return marking;
  });
  const batch = { parts, marked };
  gathering.set(scope, batch);
  return batch;
}

async function mark(scope: string, parts: ReadonlySet<string>): Promise<void> {
  try {
    await setMarks(scope, [...parts]);
  } catch (error) {
    if (isReply(error) && (await removeMarks(scope))) return;
    const waiting = pending.get(scope) ?? new Set();
    for (const part of parts) waiting.add(part);
    pending.set(scope, waiting);
    retryLater();
  }
}

/** After a failed read Redis is not asked again for this long: a frozen one would cost every request its time-out. */
const pauseMs = 500;

let pausedUntil = 0;

/** The mark of a scope as it is, or a new one put in place when there is none. Undefined when Redis is away. */
export function ensureVersion(scope: string): Promise<string | undefined> {
  return unlessAway(async () => {
    const fresh = randomToken(9);
    const set = await redis.set(versionKey(scope), fresh, 'NX');
    if (set !== 'OK') return (await redis.get(versionKey(scope))) ?? undefined;
    await redis.hset(partsKey(scope), whole, fresh);
    return fresh;
  });
}

/** The marks of several scopes in one round trip; undefined where one is missing, and all of them when Redis is away. */
export async function readMarks(scopes: readonly string[]): Promise<(string | undefined)[]> {
  const marks = await unlessAway(() => redis.mget(scopes.map(versionKey)));
  return scopes.map((_, index) => marks?.[index] ?? undefined);
}

/** The marks of a scope's parts, with `whole` for the scope itself; undefined when Redis is away. */
export function readParts(scope: string): Promise<Map<string, string> | undefined> {
  return unlessAway(async () => new Map(Object.entries(await redis.hgetall(partsKey(scope)))));
}

async function unlessAway<T>(read: () => Promise<T>): Promise<T | undefined> {
  if (Date.now() < pausedUntil) return undefined;
  try {
    return await read();
  } catch {
    pausedUntil = Date.now() + pauseMs;
    return undefined;
  }
}

/** True while a change of that scope could not be marked yet: copies of it must not be used. */
export const isPending = (scope: string): boolean => pending.has(scope);

const renewed = new Set<string>();
let lost = false;

/**
 * Marks the scopes anew each time the connection comes back: a change may have been committed by any process while
 * Redis could not be told.
 */
export function renewOnReconnect(scopes: readonly string[]): void {
  if (renewed.size === 0) {
    redis.on('close', () => (lost = true));
    redis.on('ready', renew);
  }
  for (const scope of scopes) renewed.add(scope);
}

function renew(): void {
  if (!lost) return;
  lost = false;
  for (const scope of renewed) void bump(scope);
}

async function setMarks(scope: string, parts: string[]): Promise<void> {
  const mark = randomToken(9);
  const fields = Object.fromEntries(parts.map((part) => [part, mark]));
  // The scope itself gets a mark with its first part: after Redis was emptied, marks of other parts are gone unnoticed.
  const replies = await redis
    .multi()
    .hset(partsKey(scope), fields)
    .hsetnx(partsKey(scope), whole, mark)
    .set(versionKey(scope), mark)
    .exec();
  const failed = replies?.find(([error]) => error)?.[0];
  if (failed) throw failed;
}

// Redis answered, if only to refuse.
const isReply = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

async function removeMarks(scope: string): Promise<boolean> {
  try {
    await redis.del(versionKey(scope), partsKey(scope));
    return true;
  } catch {
    return false;
  }
}

let timer: NodeJS.Timeout | undefined;

function retryLater(): void {
  timer ??= setTimeout(() => {
    timer = undefined;
    void markPending();
  }, 250).unref();
}

async function markPending(): Promise<void> {
  for (const [scope, parts] of [...pending]) {
    const taken = [...parts];
    parts.clear();
    try {
      await setMarks(scope, taken);
    } catch {
      for (const part of taken) parts.add(part);
      retryLater();
      return;
    }
    // What came in meanwhile stays to be marked.
    if (parts.size === 0) pending.delete(scope);
    logger.info({ scope }, 'changes made while Redis was away are marked now');
  }
}
