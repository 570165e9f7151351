// failed_jobs: work whose last run has failed, one row however often it fails, and the notifications of it.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import { bulk, select, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { Where, type ListQuery, type Page, type TimeRange } from '../../lib/input/list-query.js';
import { mask, maskText } from '../../lib/secrets/mask.js';
import { queueNames, type QueueName } from '../../lib/queue/names.js';
import { columnsOf, selection, selectionOf } from '../tables/selection.js';
import { deleteRows, updateRows } from '../tables/rows.js';
import { execute, over } from '../tables/sql.js';
import type { Listed } from '../tables/table.js';
import { deliverStored, notifyWithin } from './notification.js';
import { FailedJob, Notification, type FailedJobState } from './tables.js';

export interface FailedJobCriteria extends TimeRange {
  queue?: QueueName;
  job?: string;
  error?: string;
  trace_id?: string;
}

export interface FailedJobFilter extends FailedJobCriteria, ListQuery {
  state?: FailedJobState;
}

export const failedJobSortable = [
  'id',
  'queue',
  'job',
  'attempts',
  'failures',
  'state',
  'failed_at',
  'created_at',
] as const;

/** A failed job as it is shown: its payload is masked. */
export type FailedJobRecord = Listed<FailedJob> & { payload: unknown };

export interface Failure {
  queue: QueueName;
  job: string;
  /** Names the work, whichever of its jobs failed. */
  key: string;
  payload: unknown;
  error: Error;
  attempts: number;
  traceId: string;
}

const shown = { ...columnsOf(FailedJob, 'f'), ...columnsOf(FailedJob, 'f', 'payload') };

const failedJobs = selectionOf(
  ({ payload, ...row }): FailedJobRecord => ({ ...row, payload: mask(payload) }),
  shown,
  'failed_jobs f',
);

const maxError = 2000;
const batchSize = 1000;
/** More are not counted one by one. */
const maxCounted = 10_000;

/** Stores a failure. Every administrator is notified of the first one of a kind of job, until all of that kind are handled. */
export async function storeFailure({
  queue,
  job,
  key,
  payload,
  error,
  attempts,
  traceId,
}: Failure): Promise<void> {
  const at = now();
  const text = maskText(`${error.name}: ${error.message}`).slice(0, maxError);
  const keep = sql(
    `INSERT INTO failed_jobs (queue, job, job_key, payload, error, attempts, trace_id, state, failed_at, created_at, updated_at)
       VALUES (:queue, :job, :key, :payload, :text, :attempts, :traceId, 'failed', :at, :at, :at)
       ON DUPLICATE KEY UPDATE queue = VALUES(queue), payload = VALUES(payload), error = VALUES(error),
         attempts = VALUES(attempts), failures = failures + 1, trace_id = VALUES(trace_id), state = 'failed',
         failed_at = VALUES(failed_at), updated_at = VALUES(updated_at)`,
    {
      queue,
      job: job.slice(0, 60),
      key: key.slice(0, 255),
      payload: JSON.stringify(payload ?? null),
      text,
      attempts,
      traceId: traceId.slice(0, 64),
      at,
    },
  );
  const notifications = await transact(async (t) => {
    await execute(keep, { t });
    return notifyWithin(t, {
      type: 'system',
      title: { zh: '后台任务失败', en: 'A background job has failed' },
      content: `${job}: ${text.slice(0, 300)}`,
      eventKey: eventKey(job),
    });
  });
  await deliverStored(notifications);
}

// One notification while any of the kind is failed.
const eventKey = (job: string): string => `failed-job-${job.replace(/[^\w-]/g, '_').slice(0, 60)}`;

/** Closes the failure of work that has succeeded since, if there is one. */
export async function closeFailure(job: string, key: string): Promise<void> {
  await transact(async (t) => {
    const done = { state: 'done', updated_at: now() } as const;
    const ended = await updateRows(FailedJob, done, { job_key: key, state: ['failed', 'retried'] }, t);
    if (ended > 0) await renewEvents([job], t);
  });
}

const jobs = selection(columnsOf(FailedJob, 'f', 'job'), 'failed_jobs f');

/** The jobs of which work is kept that has not succeeded. */
export async function unfinishedKinds(): Promise<Set<string>> {
  const rows = await jobs.rows(`WHERE f.state IN ('failed', 'retried') GROUP BY f.job`);
  return new Set(rows.map(({ job }) => job));
}

export function listFailedJobs(query: FailedJobFilter): Promise<Page<FailedJobRecord>> {
  const where = criteriaSql(query).equals('f.state', query.state);
  return failedJobs.page(query, where);
}

/** @throws failed_job_not_found */
export async function findFailedJob(id: number): Promise<FailedJobRecord> {
  return (await failedJobs.one(failed('WHERE f.id = :id', { id }))) ?? fail('failed_job_not_found');
}

/** What is needed to queue a failed job again: its payload whole. @throws failed_job_not_found */
export async function workOf(id: number): Promise<{ job: string; payload: unknown; failures: number }> {
  const { job, payload, failures } = (await FailedJob.findByPk(id)) ?? fail('failed_job_not_found');
  return { job, payload, failures };
}

/** Marks a failure as queued again, unless the job has ended in the meantime. */
export async function markRetried(id: number, job: string, failures: number): Promise<void> {
  const at = now();
  const retried = { state: 'retried', retried_at: at, updated_at: at } as const;
  await transact(async (t) => {
    await updateRows(FailedJob, retried, { id, state: 'failed', failures }, t);
    await renewEvents([job], t);
  });
}

const ids = selection(columnsOf(FailedJob, 'f', 'id'), 'failed_jobs f');

/** The oldest that wait for a person, of those the criteria name. */
export async function failedIds(criteria: FailedJobCriteria, limit: number): Promise<number[]> {
  const where = criteriaSql(criteria).and(`f.state = 'failed'`);
  const rows = await ids.rows(`${where.sql} ORDER BY f.id LIMIT ${limit}`, where.values);
  return rows.map(({ id }) => id);
}

/** Drops failed jobs: nobody will retry them. @returns how many there were */
export async function dropFailedJobs(wanted: readonly number[]): Promise<number> {
  const kinds = await jobs.where(failed('WHERE f.id IN (:wanted) GROUP BY f.job', { wanted }));
  return transact(async (t) => {
    const dropped = await deleteRows(FailedJob, { id: wanted }, t);
    await renewEvents(
      kinds.map(({ job }) => job),
      t,
    );
    return dropped;
  });
}

/** How many wait for a person, by queue; 10,000 means so many or more. */
export async function countFailedJobs(): Promise<Record<QueueName, number>> {
  const each = queueNames.map(
    (name) =>
      `SELECT '${name}' AS queue, COUNT(*) AS failed FROM
         (SELECT 1 FROM failed_jobs WHERE state = 'failed' AND queue = '${name}' LIMIT ${maxCounted}) AS ${name}`,
  );
  const rows = await select<{ queue: QueueName; failed: number }>(each.join(' UNION ALL '));
  return Object.fromEntries(rows.map(({ queue, failed }) => [queue, failed])) as Record<QueueName, number>;
}

/** Applies FAILED_JOB_RETENTION_DAYS. */
export async function pruneFailedJobs(): Promise<void> {
  const before = new Date(now().getTime() - config.worker.failedJobRetentionMs);
  for (;;) {
    const { sql: text, values } = sql('DELETE FROM failed_jobs WHERE updated_at < :before', { before });
    const removed = await bulk.change(`${text} LIMIT ${batchSize}`, [...values]);
    if (removed < batchSize) return;
  }
}

// Once no failure of a kind waits for a person, the next one is another event.
async function renewEvents(jobs: readonly string[], t: Transaction): Promise<void> {
  for (const job of new Set(jobs)) {
    await execute(
      sql(
        `UPDATE notifications SET event_key = NULL
         WHERE event_key = :key AND NOT EXISTS (SELECT 1 FROM failed_jobs WHERE job = :job AND state = 'failed')`,
        { key: eventKey(job), job },
      ),
      { t },
    );
  }
}

const sql = over({ failed_jobs: FailedJob, notifications: Notification });
const failed = over({ 'failed_jobs f': FailedJob });

function criteriaSql(criteria: FailedJobCriteria): Where {
  return new Where()
    .equals('f.queue', criteria.queue)
    .equals('f.job', criteria.job)
    .contains('f.error', criteria.error)
    .equals('f.trace_id', criteria.trace_id)
    .during('f.failed_at', criteria);
}
