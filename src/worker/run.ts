// Runs a job: finds its code, checks its payload, enforces its timeout, publishes the result to waiting processes. One
// whose last run has failed is abandoned: its row ends, and the failure is stored for people. While the database is
// unavailable no job is abandoned.
import { DelayedError, UnrecoverableError, type Job as QueuedJob } from 'bullmq';
import { isDatabaseDown } from '../lib/database/errors.js';
import { AppError } from '../lib/errors/app-error.js';
import { logger, throttled } from '../lib/watch/logger.js';
import { canaryName } from '../lib/queue/telemetry.js';
import { reply, type Envelope } from '../lib/queue/queue.js';
import type { QueueName } from '../lib/queue/names.js';
import { withTimeout } from '../lib/process/timers.js';
import { validate } from '../lib/input/validation.js';
import { abandonWork, jobNamed, succeeded, type QueuedWork } from '../jobs/failed-work.js';
import type { Job } from '../jobs/job.js';
import { currentSpan, currentTraceId, storingEntries } from '../lib/process/context.js';
import { jobSeconds, jobWaitSeconds } from '../lib/watch/metrics.js';
import { failSpan } from '../lib/watch/tracing.js';

type Queued = QueuedJob<Envelope>;

/**
 * One run of a job as BullMQ hands it out.
 *
 * @param stopping aborts when the worker must end: the job goes back into the queue, and the run is not counted
 * @throws what the job failed with
 */
export async function runOnce(
  queued: Queued,
  token: string | undefined,
  stopping: AbortSignal,
): Promise<null> {
  if (queued.name === canaryName || isHollow(queued)) return null;
  const report = describeRun(queued);
  try {
    await run(queued, stopping);
    report('done');
    // What it returned was sent to those that wait for it.
    return null;
  } catch (error) {
    if (stopping.aborted) {
      report('interrupted');
      // Back into the queue for another worker, without counting this run.
      await queued.moveToDelayed(Date.now(), token);
      throw new DelayedError();
    }
    report('failed', error);
    await abandonIfLast(queued, error as Error, token);
    throw error;
  }
}

async function run(queued: Queued, stopping: AbortSignal): Promise<void> {
  const job = jobNamed(queued.name);
  if (!job) throw new UnrecoverableError(`there is no job named ${queued.name}`);
  const { payload, reply_to } = queued.data;
  const checked = check(job, payload);
  const result = await withinTime(job, (signal) => job.run(checked, signal), stopping);
  if (reply_to)
    await reply(reply_to, queued.id ?? '', result).catch((error: unknown) =>
      logger.warn({ error, job: job.name }, 'publishing a result failed; its row has it'),
    );
  // No entry of the log: a job that writes one would end here again.
  await succeeded(workIn(queued)).catch((error: unknown) =>
    storingEntries(() => logger.warn({ error, job: job.name }, 'closing the failure of a job failed')),
  );
}

function check(job: Job, payload: unknown): unknown {
  try {
    return validate(job.payload, payload);
  } catch (error) {
    const fields = error instanceof AppError ? JSON.stringify(error.details.fields) : '';
    throw new UnrecoverableError(`the payload of ${job.name} is not valid: ${fields}`);
  }
}

function withinTime<T>(
  job: Job,
  work: (signal: AbortSignal) => Promise<T>,
  stopping: AbortSignal,
): Promise<T> {
  const abort = new AbortController();
  const interrupt = (): void => abort.abort();
  // Not AbortSignal.any(): in Node 20 a signal that lives as long as the process would retain that of every job.
  stopping.addEventListener('abort', interrupt, { once: true });
  return withTimeout(work(abort.signal), job.timeoutMs, (_, reject) => {
    abort.abort();
    reject(new Error(`${job.name} took longer than ${job.timeoutMs} ms`));
  }).finally(() => stopping.removeEventListener('abort', interrupt));
}

/** Delay before another run of a job that cannot be abandoned now. */
const againMs = 30_000;

/** Jobs whose failure is stored; the queue reports the end of each a second time. */
const abandoned = new WeakSet<Queued>();

const workIn = ({ queueName, name, id = '', data }: Queued): QueuedWork => ({
  ...data,
  queue: queueName as QueueName,
  name,
  id,
});

/**
 * Abandons a job whose last run has failed; one with runs left is left to the queue.
 *
 * @throws DelayedError when the database is unavailable, so that it runs again later
 */
async function abandonIfLast(queued: Queued, error: Error, token: string | undefined): Promise<void> {
  const attempt = queued.attemptsMade + 1;
  const fields = { error, job: queued.name, attempt };
  if (attempt < (queued.opts.attempts ?? 1) && !(error instanceof UnrecoverableError)) {
    throttled(`retries of ${queued.queueName}`, (count) =>
      logger.warn({ ...fields, count }, 'jobs failed and will be retried'),
    );
    return;
  }
  try {
    await abandonWork(workIn(queued), error, attempt);
    abandoned.add(queued);
    logger.error(fields, 'a job failed for good');
  } catch (reason) {
    if (!isDatabaseDown(reason)) {
      logger.error({ error: reason, job: queued.name }, 'storing the failure of a job failed');
      return;
    }
    throttled(`waiting ${queued.queueName}`, (count) =>
      logger.warn(
        { ...fields, count },
        'jobs failed for good while the database is unavailable; they wait for it',
      ),
    );
    await queued.moveToDelayed(Date.now() + againMs, token);
    throw new DelayedError();
  }
}

/** Whether Redis has lost the data of a job and knows its id only: the sweep finds its row. */
const isHollow = ({ name }: { name?: string }): boolean => name === undefined;

/** Abandons a job that the queue ended because its workers died again and again. */
export async function abandonLost(queued: Queued | undefined, error: Error): Promise<void> {
  const isEnded = queued && (queued.finishedOn !== undefined || error instanceof UnrecoverableError);
  if (!isEnded || abandoned.has(queued) || isHollow(queued)) return;
  try {
    await abandonWork(workIn(queued), error, queued.attemptsMade);
    logger.error({ error, job: queued.name, trace_id: queued.data.trace_id }, 'a job failed for good');
  } catch (reason) {
    logger.error({ error: reason, job: queued.name }, 'storing the failure of a job failed');
  }
}

type Outcome = 'done' | 'failed' | 'interrupted';

/** The metrics, the span and the log line of a run. @returns reports its end */
function describeRun(queued: Queued): (outcome: Outcome, error?: unknown) => void {
  const startedAt = performance.now();
  const due = queued.timestamp + (queued.attemptsMade === 0 ? (queued.opts.delay ?? 0) : 0);
  const waitedMs = Math.max(0, Date.now() - due);
  // Unknown names would make unlimited label values.
  const job = jobNamed(queued.name)?.name ?? 'unknown';
  jobWaitSeconds.observe({ job }, waitedMs / 1000);
  currentSpan()?.setAttributes({
    'back_office.trace_id': currentTraceId(),
    'back_office.attempt': queued.attemptsMade + 1,
  });
  return (outcome, error) => {
    const tookMs = performance.now() - startedAt;
    jobSeconds.observe({ job, outcome }, tookMs / 1000);
    const line = {
      job: queued.name,
      job_id: queued.id,
      queue: queued.queueName,
      attempt: queued.attemptsMade + 1,
      waited_ms: waitedMs,
      took_ms: Math.round(tookMs * 10) / 10,
      outcome,
      reason: error instanceof Error ? error.message : undefined,
    };
    logger.info(line, 'job');
    currentSpan()?.setAttribute('back_office.outcome', outcome);
    if (outcome === 'failed') failSpan(currentSpan(), error);
  };
}
