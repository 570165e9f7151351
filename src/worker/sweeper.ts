// Queues rows again whose job was lost; while Redis is unavailable it does short work itself. Removes expired files.
import { schedule, type Logger } from 'node-cron';
import { config } from '../../config/index.js';
import { every } from '../lib/process/timers.js';
import { ago } from '../lib/values/clock.js';
import { logger } from '../lib/watch/logger.js';
import { QueueUnavailable } from '../lib/queue/queue.js';
import { key, redis } from '../lib/redis/redis.js';
import { askChannel } from '../jobs/ask-channel.js';
import { deliverNotification } from '../jobs/deliver-notification.js';
import { expireOrder } from '../jobs/expire-order.js';
import { importOrders } from '../jobs/import-orders.js';
import type { Job } from '../jobs/job.js';
import { maintainTables } from '../jobs/maintain-tables.js';
import { mergeChunks } from '../jobs/merge-chunks.js';
import { sendRefund } from '../jobs/send-refund.js';
import { settlePayment } from '../jobs/settle-payment.js';
import { writeExport } from '../jobs/write-export.js';
import { unfinishedMerges } from '../models/files/chunk-merge.js';
import { sweepSessions } from '../models/files/chunk-session.js';
import { undeliveredNotifications } from '../models/office/notification.js';
import { registerDatabase } from '../models/office/redis-sharing.js';
import { removeExpiredExports } from '../models/exports/export.js';
import { stalledExports } from '../models/exports/export-run.js';
import { pruneImports } from '../models/imports/import.js';
import { stalledImports } from '../models/imports/import-progress.js';
import { overdueOrders } from '../models/trade/order.js';
import { closeCancelled, dueFollowUps, endPaid } from '../models/trade/payment-follow-up.js';
import { unsettledCallbacks } from '../models/trade/payment-callback.js';
import { dueRefunds } from '../models/trade/refund-schedule.js';
import { removeUnowned, sweepStorage } from '../models/files/stored-file.js';

const sweepMs = config.worker.sweepSeconds * 1000;

/** Maintenance is due from 03:17 UTC on. */
const dueMs = (3 * 60 + 17) * 60_000;
const maintenanceEveryMs = 10 * 60_000;

/**
 * Starts the sweeper (every 30 s) and the nightly maintenance.
 *
 * @param withFiles also removes files; false without access to the storage, where every file would count as removed
 * @returns how to stop all of it
 */
export function startSweeper({ withFiles }: { withFiles: boolean }): () => Promise<void> {
  isStopping = false;
  const options = { timezone: 'UTC', noOverlap: true, logger: cronLog };
  // Not by node-cron, which follows the time of day: after a clock is set back it would wait for the old
  // time, after one is set forward it would catch up on all runs in between. What is a second late it leaves
  // out.
  const sweeps = [
    every(sweepMs, logged(inTurn('sweep', sweep))),
    every(sweepMs, logged(warnOfSharing)),
    every(maintenanceEveryMs, logged(queueMaintenance)),
  ];
  // A sweep of its own: a storage that does not answer must not delay money.
  if (withFiles) sweeps.push(every(sweepMs, logged(inTurn('sweep-files', sweepFiles))));
  const hourly = withFiles ? schedule('41 * * * *', logged(sweepStorage), options) : undefined;
  return async () => {
    isStopping = true;
    for (const stop of sweeps) stop();
    await hourly?.destroy();
  };
}

/** What still runs then loses the database soon; another worker sweeps the rest. */
let isStopping = false;

// The library's own lines would not be JSON. A late or skipped sweep needs no action, so it is not a warning.
const cronLog: Logger = {
  info: (message) => logger.debug(message),
  warn: (message) => logger.debug(message),
  debug: (message) => logger.debug(String(message)),
  error: (message, error) => logger.error({ error: error ?? message }, 'the scheduler failed'),
};

/** Queues again every row that may have lost its job. */
export async function sweep(): Promise<void> {
  await inParts(
    sweepPayments,
    sweepFollowUps,
    sweepRefunds,
    sweepMerges,
    sweepExports,
    sweepImports,
    sweepNotifications,
  );
}

/** Removes expired rows with their files, and files that nobody owns. */
export async function sweepFiles(): Promise<void> {
  await inParts(sweepSessions, removeUnowned, removeExpiredExports, pruneImports);
}

// A failure of one kind of work must not delay the others.
async function inParts(...parts: ((before: Date) => Promise<unknown>)[]): Promise<void> {
  const before = ago(config.worker.sweepAgeMs);
  for (const part of parts) await logged(part)(before);
}

async function sweepPayments(before: Date): Promise<void> {
  for await (const callback of unsettledCallbacks(before)) await sweepOne(settlePayment, callback);
  for (const order_no of await overdueOrders(before)) await sweepOne(expireOrder, { order_no });
}

async function sweepFollowUps(): Promise<void> {
  await closeCancelled();
  await endPaid();
  for (const payment_no of await dueFollowUps()) await queueOne(askChannel, { payment_no });
}

async function sweepRefunds(): Promise<void> {
  for (const refund_no of await dueRefunds()) await queueOne(sendRefund, { refund_no });
}

async function sweepMerges(before: Date): Promise<void> {
  for (const session of await unfinishedMerges(before)) await queueOne(mergeChunks, session);
}

async function sweepExports(before: Date): Promise<void> {
  for (const id of await stalledExports(before)) await queueOne(writeExport, { id });
}

async function sweepImports(before: Date): Promise<void> {
  for (const id of await stalledImports(before)) await queueOne(importOrders, { id });
}

async function sweepNotifications(before: Date): Promise<void> {
  const ids = await undeliveredNotifications(before);
  if (ids.length > 0) await queueOne(deliverNotification, { ids });
}

// Without the queue the work is done here. A row that fails must not delay the others.
async function sweepOne<P>(job: Job<P>, payload: P): Promise<void> {
  if (isStopping) return;
  try {
    if (!(await queueOne(job, payload))) await job.run(payload, AbortSignal.timeout(job.timeoutMs));
  } catch (error) {
    logger.warn({ error, job: job.name }, 'sweeping a row failed; the next sweep will retry');
  }
}

/** Long work waits for Redis: the sweeper never does it itself. @returns whether the queue has it */
async function queueOne<P>(job: Job<P>, payload: P): Promise<boolean> {
  try {
    await job.enqueue(payload);
    return true;
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error;
    return false;
  }
}

// One worker sweeps at a time; without Redis all of them do, which is slower but harmless.
function inTurn(name: string, task: () => Promise<void>): () => Promise<void> {
  return async () => {
    const turn = Math.floor(Date.now() / sweepMs);
    const won = await redis.set(key(name, turn), process.pid, 'EX', 120, 'NX').catch(() => 'OK');
    if (won === 'OK') await task();
  };
}

async function warnOfSharing(): Promise<void> {
  const databases = await registerDatabase().catch(() => []);
  if (databases.length > 0)
    logger.error(
      { databases },
      'another deployment uses this Redis under the same REDIS_PREFIX: each loses jobs to the other',
    );
}

/** Queues the maintenance of a day once, also when no worker ran at its time. It waits for Redis. */
export async function queueMaintenance(): Promise<void> {
  const day = ago(dueMs).toISOString().slice(0, 10);
  const place = key('maintained', day);
  if (await redis.exists(place).catch(() => 1)) return;
  await maintainTables.enqueue({ day });
  await redis.set(place, '', 'EX', 3 * 86_400);
}

function logged<A extends unknown[]>(task: (...args: A) => Promise<unknown>): (...args: A) => Promise<void> {
  return async (...args) => {
    if (isStopping) return;
    await task(...args).catch((error: unknown) => {
      if (isStopping) logger.info('a scheduled task was cut off by the end of the process');
      else logger.error({ error }, 'a scheduled task failed');
    });
  };
}
