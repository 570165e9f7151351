// The only producer of BullMQ jobs. Adding fails at once when Redis is unavailable; callers have a fallback.
import { Queue, type JobsOptions } from 'bullmq';
import { config } from '../../../config/index.js';
import { currentSpan, currentTraceId } from '../context.js';
import { batched } from '../batching.js';
import { logger } from '../logger.js';
import { laneOf, lanesOf, queueNames, queuePrefix, type Lane, type QueueName } from './names.js';
import { queueTelemetry } from './telemetry.js';
import { listen, publish, untilListening } from '../redis/pubsub.js';
import { withTimeout } from '../with-timeout.js';
import { newUlid } from '../secrets/random-id.js';
import { closeConnection, failingFast, openConnection, type RedisConnection } from '../redis/connection.js';
import { redis } from '../redis/redis.js';
import { traceparentOf } from '../watch/traceparent.js';

/** One piece of work of a job. */
export interface Piece {
  /** Deduplicates jobs; no colon, not digits only. */
  id: string;
  payload: unknown;
  trace_id?: string;
  /** The span that requested it, if several share a job. */
  traceparent?: string;
  /** The process that waits for the result, if any. */
  reply_to?: string;
  /** The work had failed for good before. */
  again?: true;
}

/** The payload of a job in Redis: one piece of work, or several requested at the same time. */
export type Envelope = Piece | { pieces: Piece[] };

export interface Work {
  queue: QueueName;
  name: string;
  /** Deduplicates jobs; no colon, not digits only. */
  id: string;
  payload: unknown;
  /** The work had failed for good before. */
  again?: true;
  options: JobsOptions;
  /** Max pieces of work per job when requested concurrently; one by default. */
  together?: number;
  /** That of its id by default. */
  lane?: Lane;
}

/** The queue cannot accept a job now. */
export class QueueUnavailable extends Error {}

/** Adds a job. @throws QueueUnavailable when Redis is unavailable or does not answer in time */
export async function add(work: Work): Promise<void> {
  await push(work);
}

/**
 * Adds a job and waits for its result.
 *
 * @returns what the job returned, or undefined when it has not finished after that many milliseconds
 * @throws QueueUnavailable as `add` does
 */
export async function addAndWait(work: Work, ms: number): Promise<unknown> {
  const { promise, stop } = awaitReply(work.id, ms);
  try {
    if (redis.status === 'ready') await untilListening(replies, config.redis.timeoutMs);
    await push(work, processId);
  } catch (error) {
    stop();
    throw error;
  }
  return promise;
}

/** Publishes results to the processes that wait for them. Called by the worker. @throws when Redis is unavailable */
export async function reply(results: readonly { piece: Piece; result: unknown }[]): Promise<void> {
  const replies = new Map<string, { id: string; result: unknown }[]>();
  for (const { piece, result } of results) {
    if (piece.reply_to === undefined) continue;
    const known = replies.get(piece.reply_to) ?? [];
    replies.set(piece.reply_to, [...known, { id: piece.id, result }]);
  }
  await Promise.all([...replies].map(([process, own]) => publish(`replies:${process}`, own)));
}

/** Runs a delayed job now; a missing one is ignored. @throws QueueUnavailable */
export async function hurry(work: Pick<Work, 'queue' | 'id'>): Promise<void> {
  const { queue, id } = work;
  try {
    const job = await withTimeout(
      queueFor(queue, laneOf(work)).getJob(id),
      2 * config.redis.timeoutMs,
      (resolve) => resolve(undefined),
    );
    if (job && (await job.isDelayed())) await job.promote();
  } catch (error) {
    throw new QueueUnavailable(`the ${queue} queue cannot be reached`, { cause: error });
  }
}

/** Closes the producers. */
export async function closeQueues(): Promise<void> {
  await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
  queues.clear();
  if (producer) closeConnection(producer);
  producer = undefined;
}

const processId = newUlid();
const replies = `replies:${processId}`;
/** By prefix. */
const queues = new Map<string, Queue>();
/** Shared by all queues of a process. */
let producer: RedisConnection | undefined;
const waiting = new Map<string, (result: unknown) => void>();

const gatherings = new Map<string, (piece: Piece) => Promise<void>>();

async function push(work: Work, replyTo?: string): Promise<void> {
  const { id, payload, again } = work;
  const span = work.together === undefined ? undefined : currentSpan();
  const traceparent = span && traceparentOf(span);
  const piece: Piece = { id, payload, trace_id: currentTraceId(), traceparent, reply_to: replyTo, again };
  try {
    const lane = work.lane ?? laneOf(work);
    if (work.together === undefined) await addJob(work, lane, [piece]);
    else await gatheringOf(work, lane, work.together)(piece);
  } catch (error) {
    throw new QueueUnavailable(`the ${work.queue} queue cannot be reached`, { cause: error });
  }
}

/** Jobs of one name that are added together. */
const addsAtOnce = 4;

function gatheringOf(work: Work, lane: Lane, max: number): (piece: Piece) => Promise<void> {
  const name = `${work.name}-${lane}`;
  const existing = gatherings.get(name);
  if (existing) return existing;
  const add = async (pieces: readonly Piece[]): Promise<void[]> => {
    await addJob(work, lane, pieces);
    return pieces.map(() => undefined);
  };
  const made = batched<Piece, void>(add, { max, atOnce: addsAtOnce });
  gatherings.set(name, made);
  return made;
}

async function addJob(
  { queue, name, options }: Pick<Work, 'queue' | 'name' | 'options'>,
  lane: Lane,
  pieces: readonly Piece[],
): Promise<void> {
  const [first] = pieces as [Piece];
  const isOne = pieces.length === 1;
  const envelope: Envelope = isOne ? first : { pieces: [...pieces] };
  const jobId = isOne ? first.id : `${name}-together-${newUlid()}`;
  await soonEnough(queueFor(queue, lane).add(name, envelope, { ...options, jobId }));
}

// Connecting a queue while Redis hangs would wait forever.
async function soonEnough(added: Promise<unknown>): Promise<void> {
  const ms = 2 * config.redis.timeoutMs;
  await withTimeout(added, ms, (_, reject) => reject(new Error(`the queue took no job within ${ms} ms`)));
}

// A Queue created while Redis is unavailable stays unusable, so it is created over a ready connection only.
function queueFor(name: QueueName, lane: Lane): Queue {
  if (redis.status !== 'ready') throw new Error(`Redis is ${redis.status}`);
  const prefix = queuePrefix(name, lane);
  const existing = queues.get(prefix);
  if (existing) return existing;
  producer ??= openConnection('queues', failingFast());
  const telemetry = queueTelemetry();
  const queue = new Queue(name, { prefix, connection: producer, telemetry });
  queue.on('error', (error) => logger.warn({ error, queue: name }, 'a queue connection failed'));
  // A connection that is not ready in time is replaced for the next job.
  queue.waitUntilReady().catch(() => {
    queues.delete(prefix);
    queue.close().catch((error: unknown) => logger.warn({ error, queue: name }, 'a queue did not close'));
  });
  queues.set(prefix, queue);
  return queue;
}

let isListening = false;

function awaitReply(id: string, ms: number): { promise: Promise<unknown>; stop: () => void } {
  if (!isListening) {
    isListening = true;
    listen(replies, (message) => {
      for (const { id: finished, result } of message as { id: string; result: unknown }[])
        waiting.get(finished)?.(result);
    });
  }
  let stop = (): void => undefined;
  const promise = new Promise<unknown>((resolve) => {
    const finish = (result: unknown): void => {
      clearTimeout(timer);
      waiting.delete(id);
      resolve(result);
    };
    const timer = setTimeout(finish, ms, undefined);
    waiting.set(id, finish);
    stop = () => finish(undefined);
  });
  return { promise, stop };
}

export interface QueueCounts {
  name: QueueName;
  waiting: number;
  active: number;
  delayed: number;
  /** Age of the oldest waiting job; 0 when none waits. */
  oldest_seconds: number;
}

/** Number of jobs in every queue. @throws QueueUnavailable */
export async function countJobs(): Promise<QueueCounts[]> {
  try {
    return await Promise.all(queueNames.map(count));
  } catch (error) {
    throw new QueueUnavailable('the queues cannot be counted', { cause: error });
  }
}

async function count(name: QueueName): Promise<QueueCounts> {
  const [first, ...others] = await Promise.all(lanesOf(name).map((lane) => countLane(name, lane)));
  return others.reduce(
    (sum, one) => ({
      name,
      waiting: sum.waiting + one.waiting,
      active: sum.active + one.active,
      delayed: sum.delayed + one.delayed,
      oldest_seconds: Math.max(sum.oldest_seconds, one.oldest_seconds),
    }),
    first as QueueCounts,
  );
}

async function countLane(name: QueueName, lane: Lane): Promise<QueueCounts> {
  const queue = queueFor(name, lane);
  const [{ waiting = 0, active = 0, delayed = 0 }, [oldest]] = await Promise.all([
    queue.getJobCounts(...(['waiting', 'active', 'delayed'] as const)),
    queue.getJobs(['waiting'], 0, 0, true),
  ]);
  // Job and process may have different clocks.
  const oldest_seconds = oldest ? Math.max(0, Math.round((Date.now() - oldest.timestamp) / 1000)) : 0;
  return { name, waiting, active, delayed, oldest_seconds };
}
