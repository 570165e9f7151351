// One log line per run of a job, under the trace id of what queued it.
import type { Job as QueuedJob } from 'bullmq';
import { logger } from '../lib/logger.js';
import type { Envelope } from '../lib/queue.js';

export type Outcome = 'done' | 'failed' | 'interrupted';

/** Takes the time of a run. @returns how to tell of its end */
export function describeRun(queued: QueuedJob<Envelope>): (outcome: Outcome, error?: unknown) => void {
  const startedAt = performance.now();
  const due = queued.timestamp + (queued.attemptsMade === 0 ? (queued.opts.delay ?? 0) : 0);
  const waitedMs = Math.max(0, Date.now() - due);
  return (outcome, error) => {
    const line = {
      job: queued.name,
      key: queued.id,
      queue: queued.queueName,
      attempt: queued.attemptsMade + 1,
      waited_ms: waitedMs,
      took_ms: Math.round((performance.now() - startedAt) * 10) / 10,
      outcome,
      reason: error instanceof Error ? error.message : undefined,
    };
    logger.info(line, 'job');
  };
}
