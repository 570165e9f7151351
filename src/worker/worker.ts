// A worker: the consumers of some queues with their sweeper and canary, started and stopped together. The
// canary proves the queues alive: an empty job every 10 s, and an exit when a consumer makes no progress for
// 60 s.
import { config } from '../../config/index.js';
import type { Readiness } from '../lib/watch/port.js';
import { checkReachable } from '../models/office/readiness.js';
import { processTime, withTimeout } from '../lib/process/timers.js';
import { add, closeQueues } from '../lib/queue/queue.js';
import type { QueueName } from '../lib/queue/names.js';
import { maxConnectMs } from '../lib/redis/redis.js';
import { startSweeper } from './sweeper.js';
import { consume, type RunningWorker } from './consume.js';
import { canaryName } from '../lib/queue/telemetry.js';
import { newUlid } from '../lib/secrets/random-id.js';

interface StartedWorker {
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

const { canaryMs, hangMs } = config.worker;

/**
 * Queues an empty job for every worker that has room for one, every 10 s. A worker that has room, but ends no job for
 * 60 s although the queue takes jobs, hangs. Time in which the process itself did not run does not count.
 *
 * @param onHang is called with what hangs
 */
function watchWorkers(workers: RunningWorker[], onHang: (what: string) => void): () => void {
  const progress = new Map(workers.map((worker) => [worker, { ended: 0, at: processTime() }]));
  const timer = setInterval(() => void Promise.all(workers.map(check)), canaryMs);
  return () => clearInterval(timer);

  async function check(worker: RunningWorker): Promise<void> {
    const last = progress.get(worker);
    const isBusy = worker.active() >= worker.concurrency;
    if (!last || isBusy || worker.ended() !== last.ended || !(await takesJobs(worker)))
      progress.set(worker, { ended: worker.ended(), at: processTime() });
    else if (processTime() - last.at > hangMs) onHang(`the queue ${worker.queue}`);
  }
}

async function takesJobs({ queue }: RunningWorker): Promise<boolean> {
  const options = { removeOnComplete: true, removeOnFail: true };
  return add({ queue, name: canaryName, id: `${canaryName}-${newUlid()}`, payload: null, options }).then(
    () => true,
    () => false,
  );
}
