// What becomes of a job whose last run has failed: its row ends, and the failure is kept for people. A job whose failure cannot
// be kept, because the database is unavailable, is not given up.
import { DelayedError, UnrecoverableError, type Job as QueuedJob } from 'bullmq';
import { giveUp, type HeldWork } from '../jobs/failed-work.js';
import { isDatabaseDown } from '../lib/db-errors.js';
import { logger } from '../lib/logger.js';
import type { Envelope, Piece, QueueName } from '../lib/queue.js';
import { throttled } from '../lib/log-throttle.js';

type Queued = QueuedJob<Envelope>;

/** A job that cannot be given up now runs again after so long. */
const againMs = 30_000;

/** Those whose failure is kept; the queue tells of the end of each of them once more. */
const kept = new WeakSet<Queued>();

/** The pieces of work of a job. A single one has the id of its job: those of an earlier release carry none. */
export const piecesOf = ({ data, id = '' }: Queued): Piece[] =>
  'pieces' in data ? data.pieces : [{ ...data, id }];

export const held = (queued: Queued): HeldWork[] =>
  piecesOf(queued).map((piece) => ({ queue: queued.queueName as QueueName, name: queued.name, piece }));

/**
 * Gives a job up that has failed for the last time; one that may try again is left to the queue.
 *
 * @throws DelayedError when the database is unavailable, so that it runs again later
 */
export async function giveUpIfLast(queued: Queued, error: Error, token: string | undefined): Promise<void> {
  const attempt = queued.attemptsMade + 1;
  const fields = { error, job: queued.name, attempt };
  if (attempt < (queued.opts.attempts ?? 1) && !(error instanceof UnrecoverableError)) {
    throttled(`retries of ${queued.queueName}`, (count) =>
      logger.warn({ ...fields, count }, 'jobs failed and will be retried'),
    );
    return;
  }
  try {
    for (const work of held(queued)) await giveUp(work, error, attempt);
    kept.add(queued);
    logger.error(fields, 'a job was given up');
  } catch (reason) {
    if (!isDatabaseDown(reason)) {
      logger.error({ error: reason, job: queued.name }, 'giving up a job failed');
      return;
    }
    throttled(`waiting ${queued.queueName}`, (count) =>
      logger.warn({ ...fields, count }, 'jobs failed for good while the database is away, they wait for it'),
    );
    await queued.moveToDelayed(Date.now() + againMs, token);
    throw new DelayedError();
  }
}

/** Gives a job up that ended without a run of its own: its workers died again and again. */
export async function giveUpLost(queued: Queued | undefined, error: Error): Promise<void> {
  const isEnded = queued && (queued.finishedOn !== undefined || error instanceof UnrecoverableError);
  if (!isEnded || kept.has(queued)) return;
  try {
    for (const work of held(queued)) await giveUp(work, error, queued.attemptsMade);
    logger.error({ error, job: queued.name, trace_id: piecesOf(queued)[0]?.trace_id }, 'a job was given up');
  } catch (reason) {
    logger.error({ error: reason, job: queued.name }, 'giving up a job failed');
  }
}
