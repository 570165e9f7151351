// Jobs whose last run has failed: the row ends, and the failure is stored for people. While the database is unavailable
// no job is abandoned.
import { DelayedError, UnrecoverableError, type Job as QueuedJob } from 'bullmq';
import { abandonWork, type QueuedWork } from '../jobs/failed-work.js';
import { isDatabaseDown } from '../lib/database/errors.js';
import { logger, throttled } from '../lib/watch/logger.js';
import type { Envelope } from '../lib/queue/queue.js';
import type { QueueName } from '../lib/queue/names.js';

type Queued = QueuedJob<Envelope>;

/** Delay before another run of a job that cannot be abandoned now. */
const againMs = 30_000;

/** Jobs whose failure is stored; the queue reports the end of each a second time. */
const abandoned = new WeakSet<Queued>();

export const workIn = ({ queueName, name, id = '', data }: Queued): QueuedWork => ({
  ...data,
  queue: queueName as QueueName,
  name,
  id,
});

/**
 * Abandons a job whose last run has failed; one with runs left is left to the queue.
 *
 * @throws DelayedError when the database is unavailable, so that it runs again later
 */
export async function abandonIfLast(queued: Queued, error: Error, token: string | undefined): Promise<void> {
  const attempt = queued.attemptsMade + 1;
  const fields = { error, job: queued.name, attempt };
  if (attempt < (queued.opts.attempts ?? 1) && !(error instanceof UnrecoverableError)) {
    throttled(`retries of ${queued.queueName}`, (count) =>
      logger.warn({ ...fields, count }, 'jobs failed and will be retried'),
    );
    return;
  }
  try {
    await abandonWork(workIn(queued), error, attempt);
    abandoned.add(queued);
    logger.error(fields, 'a job failed for good');
  } catch (reason) {
    if (!isDatabaseDown(reason)) {
      logger.error({ error: reason, job: queued.name }, 'storing the failure of a job failed');
      return;
    }
    throttled(`waiting ${queued.queueName}`, (count) =>
      logger.warn(
        { ...fields, count },
        'jobs failed for good while the database is unavailable; they wait for it',
      ),
    );
    await queued.moveToDelayed(Date.now() + againMs, token);
    throw new DelayedError();
  }
}

/** Whether Redis has lost the data of a job and knows its id only: the sweep finds its row. */
export const isHollow = ({ name }: { name?: string }): boolean => name === undefined;

/** Abandons a job that the queue ended because its workers died again and again. */
export async function abandonLost(queued: Queued | undefined, error: Error): Promise<void> {
  const isEnded = queued && (queued.finishedOn !== undefined || error instanceof UnrecoverableError);
  if (!isEnded || abandoned.has(queued) || isHollow(queued)) return;
  try {
    await abandonWork(workIn(queued), error, queued.attemptsMade);
    logger.error({ error, job: queued.name, trace_id: queued.data.trace_id }, 'a job failed for good');
  } catch (reason) {
    logger.error({ error: reason, job: queued.name }, 'storing the failure of a job failed');
  }
}
