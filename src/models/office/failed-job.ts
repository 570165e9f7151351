// failed_jobs: work whose last run has failed, one row however often it fails, and the notifications of it.
import Joi from 'joi';
import { Op, type Transaction, type WhereOptions } from 'sequelize';
import { config } from '../../../config/index.js';
import { ago, now } from '../../lib/values/clock.js';
import { change, select, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { textFilter } from '../../lib/input/schema.js';
import { mask, maskText } from '../../lib/secrets/mask.js';
import { queueNames, type QueueName } from '../../lib/queue/names.js';
import { deleteAll } from '../tables/retention.js';
import { containing, during, findPage, lockRow, matching } from '../tables/find.js';
import { listed, type Listed } from '../tables/table.js';
import { notifyWithin } from './notification.js';
import { FailedJob, failedJobStates, type FailedJobState } from './tables.js';

/** Filters of the list and of a retry. */
export const failedJobCriteria = {
  queue: Joi.string<QueueName>()
    .valid(...queueNames)
    .description('Queue of the job'),
  job: textFilter(60).description('Kind of job').example('settle-payment'),
  error: textFilter(200).description('Part of the message of the failure').example('timed out'),
  trace_id: textFilter(64),
};

export type FailedJobCriteria = Criteria<typeof failedJobCriteria>;

/** In the document, of a filter and of an answer. */
export const stateWords = 'failed, retried (queued again) or done';

const failedJobFilters = {
  ...failedJobCriteria,
  state: Joi.string<FailedJobState>()
    .valid(...failedJobStates)
    .description(stateWords),
};

type FailedJobFilter = Criteria<typeof failedJobFilters> & ListQuery;

/** The query of the list. */
export const failedJobQuery = listQuery<FailedJobFilter>(
  ['id', 'queue', 'job', 'attempts', 'failures', 'state', 'failed_at', 'created_at'],
  failedJobFilters,
);

/** A failed job in answers: its payload is masked. */
export type FailedJobRecord = Listed<FailedJob> & { payload: unknown };

interface Failure {
  queue: QueueName;
  job: string;
  /** Names the work, whichever of its jobs failed. */
  key: string;
  payload: unknown;
  error: Error;
  attempts: number;
  traceId: string;
}

const toRecord = (row: FailedJob): FailedJobRecord => ({ ...listed(row), payload: mask(row.payload) });

const maxError = 2000;

/**
 * Stores a failure. Every administrator is notified of the first one of a kind of job, until all of that kind
 * are handled.
 */
export async function storeFailure({
  queue,
  job,
  key,
  payload,
  error,
  attempts,
  traceId,
}: Failure): Promise<void> {
  const text = maskText(`${error.name}: ${error.message}`).slice(0, maxError);
  const row = {
    queue,
    job: job.slice(0, 60),
    key: key.slice(0, 255),
    payload: JSON.stringify(payload ?? null),
    text,
    attempts,
    traceId: traceId.slice(0, 64),
    at: now(),
  };
  await transact(async (t) => {
    await change(
      `INSERT INTO failed_jobs (queue, job, job_key, payload, error, attempts, trace_id, state, failed_at, created_at, updated_at)
       VALUES (:queue, :job, :key, :payload, :text, :attempts, :traceId, 'failed', :at, :at, :at)
       ON DUPLICATE KEY UPDATE queue = VALUES(queue), payload = VALUES(payload), error = VALUES(error),
         attempts = VALUES(attempts), failures = failures + 1, trace_id = VALUES(trace_id), state = 'failed',
         failed_at = VALUES(failed_at), updated_at = VALUES(updated_at)`,
      row,
      t,
    );
    await notifyWithin(t, {
      type: 'system',
      title: { zh: '后台任务失败', en: 'A background job has failed' },
      // Everybody reads it: the error stays behind the permission of the list.
      content: { zh: `${job}：原因见“任务队列”`, en: `${job}: “Job queues” shows why` },
      eventKey: eventKey(job),
    });
  });
}

// One notification while any of the kind is failed.
const eventKey = (job: string): string => `failed-job-${job.replace(/[^\w-]/g, '_').slice(0, 60)}`;

/** Closes the failure of work that has succeeded since, if there is one. */
export async function closeFailure(job: string, key: string): Promise<void> {
  await transact(async (t) => {
    const where = { job_key: key, state: unfinished };
    const [ended] = await FailedJob.update({ state: 'done' }, { where, transaction: t });
    if (ended > 0) await renewEvents([job], t);
  });
}

const unfinished: FailedJobState[] = ['failed', 'retried'];

/** The kinds of jobs that have failed and not succeeded since. */
export const unfinishedKinds = (): Promise<Set<string>> => kindsOf({ state: unfinished });

async function kindsOf(where: WhereOptions<FailedJob>): Promise<Set<string>> {
  const rows = await FailedJob.findAll({ attributes: ['job'], where, group: ['job'] });
  return new Set(rows.map(({ job }) => job));
}

export const listFailedJobs = (query: FailedJobFilter): Promise<Page<FailedJobRecord>> =>
  findPage(FailedJob, query, { where: conditionOf(query) }, toRecord);

/** @throws failed_job_not_found */
export async function getFailedJob(id: number, transaction?: Transaction): Promise<FailedJobRecord> {
  await lockRow(FailedJob, id, transaction);
  return toRecord((await FailedJob.findByPk(id, { transaction })) ?? fail('failed_job_not_found'));
}

/** A failed job with its unmasked payload, to queue it again. @throws failed_job_not_found */
export async function workOf(id: number): Promise<{ job: string; payload: unknown; failures: number }> {
  const { job, payload, failures } = (await FailedJob.findByPk(id)) ?? fail('failed_job_not_found');
  return { job, payload, failures };
}

/** Marks a failure as queued again, unless the job has ended in the meantime. */
export async function markRetried(id: number, job: string, failures: number): Promise<void> {
  const where = { id, state: 'failed', failures };
  await transact(async (t) => {
    await FailedJob.update({ state: 'retried', retried_at: now() }, { where, transaction: t });
    await renewEvents([job], t);
  });
}

/** The oldest that wait for a person, of those the criteria name. */
export async function failedIds(criteria: FailedJobCriteria, limit: number): Promise<number[]> {
  const where = conditionOf({ ...criteria, state: 'failed' });
  const rows = await FailedJob.findAll({ attributes: ['id'], where, order: ['id'], limit });
  return rows.map(({ id }) => id);
}

/** Drops failed jobs: nobody will retry them. @returns how many there were */
export async function deleteFailedJobs(wanted: readonly number[]): Promise<number> {
  const where = { id: wanted };
  const kinds = await kindsOf(where);
  return transact(async (t) => {
    const dropped = await FailedJob.destroy({ where, transaction: t });
    await renewEvents(kinds, t);
    return dropped;
  });
}

/** How many wait for a person, by queue. */
export async function countFailedJobs(): Promise<Record<QueueName, number>> {
  const rows = await select<{ queue: QueueName; failed: number }>(
    `SELECT queue, COUNT(*) AS failed FROM failed_jobs WHERE state = 'failed' GROUP BY queue`,
  );
  const none = Object.fromEntries(queueNames.map((name) => [name, 0])) as Record<QueueName, number>;
  return { ...none, ...Object.fromEntries(rows.map(({ queue, failed }) => [queue, failed])) };
}

export async function pruneFailedJobs(): Promise<void> {
  const before = ago(config.retention.failedJobMs);
  const kinds = await kindsOf({ updated_at: { [Op.lt]: before } });
  await deleteAll('DELETE FROM failed_jobs WHERE updated_at < ?', [before]);
  await transact((t) => renewEvents(kinds, t));
}

// Once no failure of a kind waits for a person, the next one is another event.
async function renewEvents(jobs: Iterable<string>, t: Transaction): Promise<void> {
  for (const job of new Set(jobs)) {
    await change(
      `UPDATE notifications SET event_key = NULL
       WHERE event_key = :key AND NOT EXISTS (SELECT 1 FROM failed_jobs WHERE job = :job AND state = 'failed')`,
      { key: eventKey(job), job },
      t,
    );
  }
}

function conditionOf(filter: FailedJobCriteria & { state?: FailedJobState }): WhereOptions<FailedJob> {
  const { queue, job, error, trace_id, state } = filter;
  return matching<FailedJob>({
    queue,
    job,
    error: containing(error),
    trace_id,
    state,
    failed_at: during(filter),
  });
}
