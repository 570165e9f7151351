// The only producer of BullMQ jobs. Adding fails at once when Redis is unavailable; callers have a fallback.
import { EventEmitter, once } from 'node:events';
import { Queue, type Job, type JobsOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { config } from '../../../config/index.js';
import { currentTraceId } from '../process/context.js';
import { logger, throttled } from '../watch/logger.js';
import { listen, publish, untilListening } from '../redis/pubsub.js';
import { withTimeout } from '../process/timers.js';
import { newUlid } from '../secrets/random-id.js';
import { closeConnection, failingFast, openConnection } from '../redis/connection.js';
import { redis } from '../redis/redis.js';
import { queueNames, queuePrefix, type QueueName } from './names.js';
import { queueTelemetry } from './telemetry.js';

/** What a job carries in Redis. */
export interface Envelope {
  payload: unknown;
  /** The request that queued it. */
  trace_id?: string;
  /** Channel of the process that waits for the result, if any. */
  reply_to?: string;
  /** The work had failed for good before. */
  again?: true;
}

export interface Work {
  queue: QueueName;
  name: string;
  /** Deduplicates jobs; no colon, not digits only. */
  id: string;
  payload: unknown;
  /** The work had failed for good before. */
  again?: true;
  options: JobsOptions;
}

/** The queue cannot accept a job now. */
export class QueueUnavailable extends Error {}

/** Adds a job. @throws QueueUnavailable when Redis is unavailable or does not answer in time */
export async function add(
  { queue, name, id, payload, again, options }: Work,
  reply_to?: string,
): Promise<void> {
  const envelope: Envelope = { payload, trace_id: currentTraceId(), reply_to, again };
  // Connecting a queue while Redis hangs would wait forever.
  const ms = 2 * config.redis.timeoutMs;
  const late = () => new Error(`the queue took no job within ${ms} ms`);
  try {
    const added = queueFor(queue).add(name, envelope, { ...options, jobId: id });
    await withTimeout<unknown>(added, ms, (_, reject) => reject(late()));
  } catch (error) {
    throw new QueueUnavailable(`the ${queue} queue cannot be reached`, { cause: error });
  }
}

/**
 * A job that another process has queued under the same id replies to that process only; here its end shows in
 * the queue.
 */
const lookEveryMs = 500;

/**
 * Adds a job and waits for its result.
 *
 * @returns what the job returned, or undefined when it has not finished after that many milliseconds or has not replied
 * @throws QueueUnavailable as `add` does
 */
export async function addAndWait(work: Work, ms: number): Promise<unknown> {
  await listenForReplies();
  const gone = new AbortController();
  const timer = setTimeout(() => gone.abort(), ms);
  const reply = once(replies, work.id, { signal: gone.signal }).then(
    ([result]) => result as unknown,
    () => undefined,
  );
  let looking: NodeJS.Timeout | undefined;
  try {
    await add(work, repliesChannel);
    looking = setInterval(() => void hasEnded(work).then((ended) => ended && gone.abort()), lookEveryMs);
    return await reply;
  } finally {
    clearTimeout(timer);
    clearInterval(looking);
    gone.abort();
  }
}

// Finished jobs are not kept.
const hasEnded = async ({ queue, id }: Work): Promise<boolean> => {
  try {
    return (await queueFor(queue).getJob(id)) === undefined;
  } catch {
    return false;
  }
};

/**
 * Sends the result of a job to the process that waits for it. Called by the worker.
 *
 * @throws when Redis is unavailable
 */
export async function reply(channel: string, id: string, result: unknown): Promise<void> {
  await publish(channel, { id, result });
}

export async function closeQueues(): Promise<void> {
  await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
  queues.clear();
  if (producer) closeConnection(producer);
  producer = undefined;
}

/** Emits the result of each job that this process waits for, by the job's id. */
const replies = new EventEmitter().setMaxListeners(0);
const repliesChannel = `replies:${newUlid()}`;
let isListening = false;

async function listenForReplies(): Promise<void> {
  if (!isListening) {
    isListening = true;
    listen(repliesChannel, (message) => {
      const { id, result } = message as { id: string; result: unknown };
      replies.emit(id, result);
    });
  }
  if (redis.status === 'ready') await untilListening(repliesChannel, config.redis.timeoutMs);
}

const queues = new Map<QueueName, Queue>();
/** Shared by all queues of a process. */
let producer: Redis | undefined;

// A Queue created while Redis is unavailable stays unusable, so it is created over a ready connection only.
function queueFor(name: QueueName): Queue {
  if (redis.status !== 'ready') throw new Error(`Redis is ${redis.status}`);
  const existing = queues.get(name);
  if (existing) return existing;
  producer ??= openConnection('queues', failingFast());
  const telemetry = queueTelemetry();
  const queue = new Queue(name, { prefix: queuePrefix(name), connection: producer, telemetry });
  // Every queue reports every try of the one connection.
  queue.on('error', (error) =>
    throttled('queues', (count) => logger.warn({ error, count }, 'a queue connection failed')),
  );
  // A connection that is not ready in time is replaced for the next job.
  queue.waitUntilReady().catch(() => {
    queues.delete(name);
    queue.close().catch((error: unknown) => logger.warn({ error, queue: name }, 'a queue did not close'));
  });
  queues.set(name, queue);
  return queue;
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
  const queue = queueFor(name);
  // Those that yield to others stand in a line of their own.
  const [{ waiting = 0, prioritized = 0, active = 0, delayed = 0 }, oldest] = await Promise.all([
    queue.getJobCounts(...(['waiting', 'prioritized', 'active', 'delayed'] as const)),
    queue.getJobs(['waiting', 'prioritized'], 0, 0, true),
  ]);
  // Job and process may have different clocks.
  const since = Math.min(Date.now(), ...oldest.map(dueAt));
  const oldest_seconds = Math.round((Date.now() - since) / 1000);
  return { name, waiting: waiting + prioritized, active, delayed, oldest_seconds };
}

// It waits since it was due. Redis may have lost the job but for its id.
const dueAt = (job: Job | undefined): number => (job ? job.timestamp + (job.opts.delay ?? 0) : Date.now());
