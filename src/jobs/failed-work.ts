// Work whose last run has failed: stored for people, and queued again on request.
import { LRUCache } from 'lru-cache';
import { AppError, fail } from '../lib/errors/app-error.js';
import type { Envelope } from '../lib/queue/queue.js';
import type { QueueName } from '../lib/queue/names.js';
import { validate } from '../lib/input/validation.js';
import {
  failedIds,
  storeFailure,
  markRetried,
  closeFailure,
  unfinishedKinds,
  workOf,
  type FailedJobCriteria,
} from '../models/office/failed-job.js';
import { jobs } from './index.js';
import type { Job } from './job.js';

const byName = new Map(jobs.map((job) => [job.name, job]));

/** The job of that name in this release. */
export const jobNamed = (name: string): Job | undefined => byName.get(name);

/** The work of a job as a worker has it. */
export interface QueuedWork extends Envelope {
  queue: QueueName;
  name: string;
  /** The id of the job. */
  id: string;
}

/** The job of some work with its payload; undefined when this release cannot run it. */
function readWork(name: string, payload: unknown): { job: Job; payload: unknown } | undefined {
  const job = jobNamed(name);
  try {
    return job && { job, payload: validate(job.payload, payload) };
  } catch {
    return undefined;
  }
}

/** An ASCII key of the work, the same for all of its jobs. */
function workKey({ name, id, payload }: QueuedWork): string {
  const work = readWork(name, payload);
  const key = work ? `${name}-${work.job.key(work.payload)}` : id;
  return key.replace(/[^\x20-\x7e]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
}

/** Ends the row of the work and stores its failure; idempotent. @throws while the database is unavailable */
export async function abandonWork(queued: QueuedWork, error: Error, attempts: number): Promise<void> {
  const { queue, name, payload, trace_id: traceId = '' } = queued;
  const work = readWork(name, payload);
  await work?.job.onAbandoned?.(work.payload, error);
  await storeFailure({ queue, job: name, key: workKey(queued), payload, error, attempts, traceId });
}

const unfinished = new LRUCache<'kinds', ReadonlySet<string>>({
  max: 1,
  ttl: 5000,
  fetchMethod: unfinishedKinds,
});

/** Closes an earlier failure of work that has succeeded. */
export async function succeeded(queued: QueuedWork): Promise<void> {
  if (!queued.again && !(await unfinished.forceFetch('kinds')).has(queued.name)) return;
  await closeFailure(queued.name, workKey(queued));
}

/**
 * Queues a failed job again.
 *
 * @throws failed_job_not_found; failed_job_unknown when this release cannot run it; failed_job_over when its
 *   row has ended; QueueUnavailable
 */
export async function retryFailed(id: number): Promise<void> {
  const { job: name, payload: stored, failures } = await workOf(id);
  const { job, payload } = readWork(name, stored) ?? fail('failed_job_unknown');
  if (job.reopen && !(await job.reopen(payload))) fail('failed_job_over');
  await job.enqueueAgain(payload);
  await markRetried(id, name, failures);
}

const maxRetried = 500;

/** How many failed jobs were queued again, and why the others cannot be, by their ids. */
interface Retried {
  count: number;
  refusals: Map<number, AppError>;
}

/** Queues the failed jobs again that the criteria name, the oldest 500 at most. */
export const retryAllFailed = async (criteria: FailedJobCriteria): Promise<Retried> =>
  retryEach(await failedIds(criteria, maxRetried));

/** Queues failed jobs again; one that cannot be leaves the others. */
export async function retryEach(ids: readonly number[]): Promise<Retried> {
  const refusals = new Map<number, AppError>();
  for (const id of ids) {
    try {
      await retryFailed(id);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refusals.set(id, error);
    }
  }
  return { count: ids.length - refusals.size, refusals };
}
