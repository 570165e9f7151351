// Proves each consumed queue alive: an empty job now and then, and an exit when none has come through for too long.
import { config } from '../../config/index.js';
import { openConnection } from '../lib/database/connection.js';
import { logger } from '../lib/logger.js';
import { add } from '../lib/queue/queue.js';
import { canaryName } from '../lib/queue/telemetry.js';
import { newUlid } from '../lib/secrets/random-id.js';
import { redis } from '../lib/redis/redis.js';
import { processTime } from '../lib/process/process-time.js';
import type { RunningWorker } from './consume.js';
import { lastStatement } from './run.js';

const everyMs = config.redis.cluster ? 2000 : 10_000;
/** A consumer that has ended no job for so long is connected anew, then after twice as long. */
const renewMs = config.redis.cluster ? 3000 : 15_000;
const maxMs = 60_000;

/** A worker that was given a canary and has ended no job since. */
interface Owing {
  since: number;
  renewAt: number;
  renewals: number;
}

/**
 * Queues a canary for every worker now and then. One that ends no job then, although Redis answers and takes jobs and it has room
 * for one, is connected anew; after 60 s it hangs. So does a process none of whose statements has succeeded for as long although the
 * database answers others. Time in which the process itself did not run does not count.
 *
 * @param onHang is called with what hangs
 */
export function watchWorkers(workers: RunningWorker[], onHang: (what: string) => void): () => void {
  const owing = new Map<RunningWorker, Owing>();
  redis.on('ready', () => owing.clear());
  const timer = setInterval(() => {
    for (const worker of workers) {
      const owed = owing.get(worker);
      const isFull = worker.active() >= worker.concurrency;
      if (!owed || isFull || worker.lastEnd() > owed.since || redis.status !== 'ready') owing.delete(worker);
      else if (processTime() - owed.since > maxMs) onHang(`the queue ${worker.queue}`);
      else if (processTime() > owed.renewAt) {
        worker.renew();
        owed.renewals++;
        owed.renewAt = processTime() + renewMs * 2 ** owed.renewals;
      }
      // A full or frozen Redis takes no canary.
      const since = processTime();
      release(worker).then(
        () => owing.has(worker) || owing.set(worker, { since, renewAt: since + renewMs, renewals: 0 }),
        () => owing.delete(worker),
      );
    }
    void watchStatements(onHang);
  }, everyMs);
  return () => clearInterval(timer);
}

async function release({ queue, lane }: RunningWorker): Promise<void> {
  const options = { removeOnComplete: true, removeOnFail: true };
  await add({ queue, lane, name: canaryName, id: `${canaryName}-${newUlid()}`, payload: null, options });
}

async function watchStatements(onHang: (what: string) => void): Promise<void> {
  if (processTime() - lastStatement() < maxMs) return;
  try {
    const connection = await openConnection({ statementSeconds: 2 });
    connection.destroy();
    onHang('the database connections');
  } catch (error) {
    logger.warn({ error }, 'the database is unavailable');
  }
}
