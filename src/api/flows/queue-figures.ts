// The figures of every queue: its jobs in Redis, and those that have failed for good.
import { countJobs, type QueueCounts } from '../../lib/queue/queue.js';
import { countFailedJobs } from '../../models/office/failed-job.js';

export interface QueueFigures extends QueueCounts {
  /** Jobs that wait for a person. */
  failed: number;
}

/** @throws QueueUnavailable */
export async function queueFigures(): Promise<QueueFigures[]> {
  const [queues, failed] = await Promise.all([countJobs(), countFailedJobs()]);
  return queues.map((queue) => ({ ...queue, failed: failed[queue.name] }));
}
