// Runs a job: finds its code, checks its payload, enforces its timeout, publishes the result to waiting processes.
import { DelayedError, UnrecoverableError, type Job as QueuedJob } from 'bullmq';
import { AppError } from '../lib/errors/app-error.js';
import { logger } from '../lib/watch/logger.js';
import { canaryName } from '../lib/queue/telemetry.js';
import { reply, type Envelope } from '../lib/queue/queue.js';
import { withTimeout } from '../lib/process/timers.js';
import { validate } from '../lib/input/validation.js';
import { jobNamed, succeeded } from '../jobs/failed-work.js';
import type { Job } from '../jobs/job.js';
import { currentSpan, currentTraceId, storingEntries } from '../lib/process/context.js';
import { jobSeconds, jobWaitSeconds } from '../lib/watch/metrics.js';
import { failSpan } from '../lib/watch/tracing.js';
import { abandonIfLast, isHollow, workIn } from './abandonment.js';

/**
 * One run of a job as BullMQ hands it out.
 *
 * @param stopping aborts when the worker must end: the job goes back into the queue, and the run is not counted
 * @throws what the job failed with
 */
export async function runOnce(
  queued: QueuedJob<Envelope>,
  token: string | undefined,
  stopping: AbortSignal,
): Promise<unknown> {
  if (queued.name === canaryName || isHollow(queued)) return null;
  const report = describeRun(queued);
  try {
    const result = await run(queued, stopping);
    report('done');
    return result;
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

async function run(queued: QueuedJob<Envelope>, stopping: AbortSignal): Promise<unknown> {
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
  return null;
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

type Outcome = 'done' | 'failed' | 'interrupted';

/** The metrics, the span and the log line of a run. @returns reports its end */
function describeRun(queued: QueuedJob<Envelope>): (outcome: Outcome, error?: unknown) => void {
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
