// The log line, metrics and span of each run of a job, under the trace id of the request that queued it.
import type { Job as QueuedJob } from 'bullmq';
import { currentSpan, currentTraceId } from '../lib/process/context.js';
import { logger } from '../lib/watch/logger.js';
import type { Envelope } from '../lib/queue/queue.js';
import { jobSeconds, jobWaitSeconds } from '../lib/watch/metrics.js';
import { failSpan } from '../lib/watch/tracing.js';
import { jobNamed } from '../jobs/failed-work.js';

export type Outcome = 'done' | 'failed' | 'interrupted';

/** Times a run. @returns reports its end */
export function describeRun(queued: QueuedJob<Envelope>): (outcome: Outcome, error?: unknown) => void {
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
      key: queued.id,
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
