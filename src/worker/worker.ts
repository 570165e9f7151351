// A worker: the consumers of some queues with their sweeper and canary, started and stopped together.
import type { Readiness } from '../lib/watch/port.js';
import { checkReachable } from '../models/office/service-figures.js';
import { withTimeout } from '../lib/process/with-timeout.js';
import { closeQueues } from '../lib/queue/queue.js';
import type { QueueName } from '../lib/queue/names.js';
import { maxConnectMs } from '../lib/redis/redis.js';
import { startSweeper } from './sweeper.js';
import { consume } from './consume.js';
import { watchWorkers } from './canary.js';

export interface StartedWorker {
  /** Takes no new jobs and waits for the running ones. */
  stop: () => Promise<void>;
  /** Whether jobs can run: the queue delivers them and the database takes writes. */
  readiness: () => Promise<Readiness>;
}

/** Their jobs read, write or remove files. */
const filing = new Set<QueueName>(['exports', 'imports', 'files', 'maintenance']);

/** Whether a worker of these queues works with files. Others may run without access to the storage. */
export const needsStorage = (queues: readonly QueueName[]): boolean =>
  queues.some((queue) => filing.has(queue));

/** Starts consuming; resolves when all consumers are connected, or have tried for long enough. */
export async function startWorker(
  queues: readonly QueueName[],
  onHang: (what: string) => void,
): Promise<StartedWorker> {
  const workers = queues.map(consume);
  const connected = Promise.allSettled(workers.map((worker) => worker.ready()));
  await withTimeout<unknown>(connected, maxConnectMs, (resolve) => resolve(undefined));
  const stopWatching = watchWorkers(workers, onHang);
  const stopSweeper = startSweeper({ withFiles: needsStorage(queues) });
  return {
    stop: async () => {
      stopWatching();
      await stopSweeper();
      await Promise.all(workers.map((worker) => worker.close()));
      await closeQueues();
    },
    readiness: async () => {
      const { database, redis } = await checkReachable();
      return { isReady: database && redis, database, redis };
    },
  };
}
