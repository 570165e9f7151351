// Proves that the queues are alive: an empty job every 10 s, and an exit when a consumer makes no progress for 60 s.
import { config } from '../../config/index.js';
import { add } from '../lib/queue/queue.js';
import { canaryName } from '../lib/queue/telemetry.js';
import { newUlid } from '../lib/secrets/random-id.js';
import { redis } from '../lib/redis/redis.js';
import { processTime } from '../lib/process/process-time.js';
import type { RunningWorker } from './consume.js';

const { canaryMs, hangMs } = config.worker;

/**
 * Queues an empty job for every worker that has room for one, every 10 s. A worker that has room, but ends no job for
 * 60 s although the queue takes jobs, hangs. Time in which the process itself did not run does not count.
 *
 * @param onHang is called with what hangs
 */
export function watchWorkers(workers: RunningWorker[], onHang: (what: string) => void): () => void {
  const progress = new Map(workers.map((worker) => [worker, { ended: 0, at: processTime() }]));
  const timer = setInterval(() => void Promise.all(workers.map(check)), canaryMs);
  return () => clearInterval(timer);

  async function check(worker: RunningWorker): Promise<void> {
    const last = progress.get(worker);
    const isWaiting = redis.status === 'ready' && worker.active() < worker.concurrency;
    if (!last || !isWaiting || worker.ended() !== last.ended || !(await takesJobs(worker)))
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
