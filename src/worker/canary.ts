// Proves queues and statements alive: an empty job and a statement now and then, and an exit when none has come through for too long.
import { config } from '../../config/index.js';
import { openConnection } from '../lib/database/connection.js';
import { payments, select } from '../lib/database/db.js';
import { logger } from '../lib/logger.js';
import { add } from '../lib/queue/queue.js';
import { canaryName } from '../lib/queue/telemetry.js';
import { newUlid } from '../lib/secrets/random-id.js';
import { redis } from '../lib/redis/redis.js';
import { withTimeout } from '../lib/with-timeout.js';
import { processTime } from '../lib/process/process-time.js';
import type { RunningWorker } from './consume.js';

const everyMs = config.redis.cluster ? 2000 : 10_000;
/** A consumer that has ended no job for so long is connected anew, then after twice as long. */
const renewMs = config.redis.cluster ? 3000 : 15_000;
const maxMs = 60_000;
/** Statements and connections have deadlines of their own, which are shorter; this one holds should they fail. */
const maxAnswerMs = 10_000;

/** A worker that was given a canary and has ended no job since. */
interface Owing {
  since: number;
  renewAt: number;
  renewals: number;
}

/**
 * Queues a canary for every worker now and then. One that ends no job then, although Redis answers and takes jobs and it has room
 * for one, is connected anew; after 60 s it hangs. So does a process none of whose statements has succeeded for as long although the
 * database answered others all the time. Time in which the process itself did not run does not count.
 *
 * @param onHang is called with what hangs
 */
export function watchWorkers(workers: RunningWorker[], onHang: (what: string) => void): () => void {
  const owing = new Map<RunningWorker, Owing>();
  const watchStatements = statementWatch(onHang);
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
    void watchStatements();
  }, everyMs);
  return () => clearInterval(timer);
}

async function release({ queue, lane }: RunningWorker): Promise<void> {
  const options = { removeOnComplete: true, removeOnFail: true };
  await add({ queue, lane, name: canaryName, id: `${canaryName}-${newUlid()}`, payload: null, options });
}

/** Sends a statement through the pools at each call; without a job, for Redis may be away and the queues full. */
function statementWatch(onHang: (what: string) => void): () => Promise<void> {
  let answeredAt = processTime();
  let isAsking = false;
  return async () => {
    if (isAsking) return;
    isAsking = true;
    // While the database answers nobody, its silence says nothing about the pools.
    if ((await inTime(arePoolsAnswered())) || !(await inTime(isNewcomerAnswered())))
      answeredAt = processTime();
    else if (processTime() - answeredAt > maxMs) onHang('the database connections');
    isAsking = false;
  };
}

const inTime = (isAnswered: Promise<boolean>): Promise<boolean> =>
  withTimeout(isAnswered, maxAnswerMs, (resolve) => resolve(false));

const arePoolsAnswered = (): Promise<boolean> =>
  Promise.all([select('SELECT 1'), payments.select('SELECT 1')]).then(
    () => true,
    () => false,
  );

async function isNewcomerAnswered(): Promise<boolean> {
  try {
    const connection = await openConnection({ statementSeconds: 2 });
    connection.destroy();
    return true;
  } catch (error) {
    logger.warn({ error }, 'the database is unavailable');
    return false;
  }
}
