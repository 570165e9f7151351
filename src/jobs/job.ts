// The contract of a job: what it carries, how it is retried, what it does. The row it points at is the state.
import type Joi from 'joi';
import { logger } from '../lib/watch/logger.js';
import { add, addAndWait, type Work } from '../lib/queue/queue.js';
import type { QueueName } from '../lib/queue/names.js';
import { validate } from '../lib/input/validation.js';

interface JobDefinition<P, R = unknown> {
  /** Equal to the file's name. */
  name: string;
  queue: QueueName;
  /** Runs at most, the first one included. */
  attempts: number;
  /** First wait before another run in milliseconds; it doubles each time, with jitter. */
  backoffMs: number;
  /** A run that takes longer is aborted and counts as failed. */
  timeoutMs: number;
  /** Others of its queue run first, however late they come: nobody waits for this one. */
  yields?: true;
  payload: Joi.ObjectSchema<P>;
  /** Key of the work: the queue holds one waiting job per key. No colon. */
  key(payload: P): string;
  /** Must be idempotent in SQL: two runs may overlap. */
  run(payload: P, signal: AbortSignal): Promise<R>;
  /** Called when the last run has failed. */
  onAbandoned?(payload: P, error: Error): Promise<void>;
  /**
   * Undoes what `onAbandoned` did, before a retry on request.
   *
   * @returns false when its row has ended, so that nothing is left to do
   */
  reopen?(payload: P): Promise<boolean>;
}

export interface Job<P = unknown, R = unknown> extends JobDefinition<P, R> {
  /** @throws QueueUnavailable */
  enqueue(payload: P): Promise<void>;
  /** As `enqueue`; a job that the queue does not take now is queued later, by the sweeper. */
  enqueueOrLeave(payload: P, options?: { delayMs?: number }): Promise<void>;
  /** As `enqueue`, for work that failed for good: a separate job, even while another one for the same work waits. */
  enqueueAgain(payload: P): Promise<void>;
  /** The result, or undefined when the job has not finished in time. @throws QueueUnavailable */
  enqueueAndWait(payload: P, ms: number): Promise<R | undefined>;
}

/** Declares a job. */
export function job<P, R>(definition: JobDefinition<P, R>): Job<P, R> {
  const work = (payload: P, delayMs?: number): Work => ({
    queue: definition.queue,
    name: definition.name,
    id: `${definition.name}-${definition.key(payload)}`,
    payload: validate(definition.payload, payload),
    options: {
      delay: delayMs,
      // Jobs without a priority are taken first.
      priority: definition.yields ? 1 : undefined,
      attempts: definition.attempts,
      backoff: { type: 'exponential', delay: definition.backoffMs, jitter: 0.5 },
      // Keep no finished jobs: the row has the outcome, and the sweeper may queue the same work again at once.
      removeOnComplete: true,
      removeOnFail: true,
    },
  });
  return {
    ...definition,
    enqueue: (payload) => add(work(payload)),
    enqueueOrLeave: (payload, { delayMs } = {}) =>
      add(work(payload, delayMs)).catch((error: unknown) =>
        logger.warn({ error, job: definition.name }, 'enqueueing failed; the sweeper will queue this work'),
      ),
    enqueueAgain(payload) {
      const wanted = work(payload);
      return add({ ...wanted, id: `${wanted.id}-again`, again: true });
    },
    // What `run` returned, as JSON carries it.
    enqueueAndWait: (payload, ms) => addAndWait(work(payload), ms) as Promise<R | undefined>,
  };
}
