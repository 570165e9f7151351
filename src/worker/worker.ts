// A worker: the consumers of some queues with their sweeper and canary, put together and taken down again.
import { withTimeout } from '../lib/with-timeout.js';
import { closeQueues, type QueueName } from '../lib/queue.js';
import { maxConnectMs } from '../lib/redis.js';
import { startSweeper } from './sweeper.js';
import { consume } from './run.js';
import { watchWorkers } from './canary.js';

/**
 * Starts consuming; resolves when all queues are consumed, or cannot be yet.
 *
 * @returns how to stop: no new jobs are taken, running ones end first
 */
export async function startWorker(
  queues: readonly QueueName[],
  onHang: (what: string) => void,
): Promise<() => Promise<void>> {
  const workers = queues.map(consume);
  const connected = Promise.allSettled(workers.map((worker) => worker.ready()));
  await withTimeout<unknown>(connected, maxConnectMs, (resolve) => resolve(undefined));
  const stopWatching = watchWorkers(workers, onHang);
  const stopSweeper = startSweeper();
  return async () => {
    stopWatching();
    await stopSweeper();
    await Promise.all(workers.map((worker) => worker.close()));
    await closeQueues();
  };
}
