// Proves each consumed queue alive: an empty job now and then, and an exit when none has come through for too long.
import { logger } from '../lib/logger.js';
import { add } from '../lib/queue.js';
import { newUlid } from '../lib/random-id.js';
import { redis } from '../lib/redis.js';
import { canaryName, type RunningWorker } from './run.js';

const everyMs = 10_000;
const longestMs = 60_000;

/**
 * Queues a canary for every worker each 10 s. A worker that has ended no job for 60 s, although Redis answers and it has
 * room for one, hangs: `onHang` is called with its queue.
 */
export function watchWorkers(workers: RunningWorker[], onHang: (queue: string) => void): () => void {
  let redisSince = Date.now();
  redis.on('ready', () => (redisSince = Date.now()));
  const timer = setInterval(() => {
    for (const worker of workers) {
      const silentMs = Date.now() - Math.max(worker.lastEnd(), redisSince);
      const isFull = worker.active() >= worker.concurrency;
      if (redis.status === 'ready' && silentMs > longestMs && !isFull) onHang(worker.queue);
      void release(worker);
    }
  }, everyMs);
  return () => clearInterval(timer);
}

async function release({ queue }: RunningWorker): Promise<void> {
  const options = { removeOnComplete: true, removeOnFail: true };
  const work = { queue, name: canaryName, id: `${canaryName}-${newUlid()}`, payload: null, options };
  await add(work).catch((error: unknown) =>
    logger.debug({ error, queue }, 'no canary while the queue is away'),
  );
}
