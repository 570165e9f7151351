// A worker: the consumers of some queues with their sweeper and canary, put together and taken down again.
import { closeQueues, type QueueName } from '../lib/queue.js';
import { startSweeper } from './sweeper.js';
import { consume } from './run.js';
import { watchWorkers } from './canary.js';

/** Starts consuming. @returns how to stop: no new jobs are taken, running ones end first */
export function startWorker(
  queues: readonly QueueName[],
  onHang: (queue: string) => void,
): () => Promise<void> {
  const workers = queues.map(consume);
  const stopWatching = watchWorkers(workers, onHang);
  const stopSweeper = startSweeper();
  return async () => {
    stopWatching();
    await stopSweeper();
    await Promise.all(workers.map((worker) => worker.close()));
    await closeQueues();
  };
}
