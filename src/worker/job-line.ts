// The log line and metrics of each run of a job, under the trace ids of the requests that queued it.
import type { Job as QueuedJob } from 'bullmq';
import { logger } from '../lib/logger.js';
import type { Envelope } from '../lib/queue.js';
import { jobSeconds, jobWaitSeconds } from '../lib/watch/metrics.js';
import { jobNamed } from '../jobs/failed-work.js';
import { piecesOf } from './giving-up.js';

export type Outcome = 'done' | 'failed' | 'interrupted';

/** Times a run. @returns reports its end */
export function describeRun(queued: QueuedJob<Envelope>): (outcome: Outcome, error?: unknown) => void {
  const startedAt = performance.now();
  const due = queued.timestamp + (queued.attemptsMade === 0 ? (queued.opts.delay ?? 0) : 0);
  const waitedMs = Math.max(0, Date.now() - due);
  // Unknown names are unbounded in number.
  const job = jobNamed(queued.name)?.name ?? 'unknown';
  const pieces = piecesOf(queued);
  jobWaitSeconds.observe({ job }, waitedMs / 1000);
  return (outcome, error) => {
    const tookMs = performance.now() - startedAt;
    jobSeconds.observe({ job, outcome }, tookMs / 1000);
    const line = {
      job: queued.name,
      key: queued.id,
      // Of work that travels together each piece has a trace id; the line itself is under the first one.
      trace_ids: pieces.length > 1 ? pieces.map(({ trace_id }) => trace_id) : undefined,
      queue: queued.queueName,
      attempt: queued.attemptsMade + 1,
      waited_ms: waitedMs,
      took_ms: Math.round(tookMs * 10) / 10,
      outcome,
      reason: error instanceof Error ? error.message : undefined,
    };
    logger.info(line, 'job');
  };
}
