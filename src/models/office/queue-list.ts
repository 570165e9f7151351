// The queues: their jobs in Redis, and those that failed for good.
import { countJobs, type QueueCounts } from '../../lib/queue/queue.js';
import { countFailedJobs } from './failed-job.js';

/** Every queue: its jobs in Redis, and those that wait for a person. @throws QueueUnavailable */
export async function listQueues(): Promise<(QueueCounts & { failed: number })[]> {
  const [queues, failed] = await Promise.all([countJobs(), countFailedJobs()]);
  return queues.map((queue) => ({ ...queue, failed: failed[queue.name] }));
}
