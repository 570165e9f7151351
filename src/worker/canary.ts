// Proves each consumed queue alive: an empty job now and then, and an exit when none has come through for too long.
import { openConnection } from '../lib/db-connection.js';
import { logger } from '../lib/logger.js';
import { add } from '../lib/queue.js';
import { canaryName } from '../lib/queue-telemetry.js';
import { newUlid } from '../lib/random-id.js';
import { redis } from '../lib/redis.js';
import { processTime } from '../lib/process-time.js';
import { lastStatement, type RunningWorker } from './run.js';

const everyMs = 10_000;
const maxMs = 60_000;

/**
 * Queues a canary for every worker each 10 s. A worker that has ended no job for 60 s, although Redis answers and takes jobs
 * and it has room for one, hangs; so does a process none of whose statements has succeeded for as long although the
 * database answers others. Time in which the process itself did not run does not count.
 *
 * @param onHang is called with what hangs
 */
export function watchWorkers(workers: RunningWorker[], onHang: (what: string) => void): () => void {
  const excused = new Map<RunningWorker, number>();
  redis.on('ready', () => workers.forEach((worker) => excused.set(worker, processTime())));
  const timer = setInterval(() => {
    for (const worker of workers) {
      const silentMs = processTime() - Math.max(worker.lastEnd(), excused.get(worker) ?? 0);
      const isFull = worker.active() >= worker.concurrency;
      if (redis.status === 'ready' && silentMs > maxMs && !isFull) onHang(`the queue ${worker.queue}`);
      // A full or frozen Redis takes no canary, so none can come through.
      void release(worker).catch(() => excused.set(worker, processTime()));
    }
    void watchStatements(onHang);
  }, everyMs);
  return () => clearInterval(timer);
}

async function release({ queue }: RunningWorker): Promise<void> {
  const options = { removeOnComplete: true, removeOnFail: true };
  await add({ queue, name: canaryName, id: `${canaryName}-${newUlid()}`, payload: null, options });
}

async function watchStatements(onHang: (what: string) => void): Promise<void> {
  if (processTime() - lastStatement() < maxMs) return;
  try {
    const connection = await openConnection({ statementSeconds: 2 });
    connection.destroy();
    onHang('the database connections');
  } catch (error) {
    logger.warn({ error }, 'the database is away');
  }
}
