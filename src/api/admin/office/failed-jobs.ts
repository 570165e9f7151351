// /failed-jobs: work that has failed for good, to inspect, retry or drop.
import Joi from 'joi';
import { retryAllFailed, retryFailed } from '../../../jobs/failed-work.js';
import { fail } from '../../../lib/errors/app-error.js';
import { timeKeys } from '../../../lib/input/list-query.js';
import { idsBody } from '../../../lib/input/schema.js';
import {
  deleteFailedJobs,
  failedJobCriteria,
  failedJobQuery,
  getFailedJob,
  listFailedJobs,
  stateWords,
  type FailedJobCriteria,
} from '../../../models/office/failed-job.js';
import { FailedJob } from '../../../models/office/tables.js';
import { described, integer, json, keysOf, pageOf, record, resource } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const failedJob = resource(
  'FailedJob',
  described(
    { ...keysOf(FailedJob), payload: json() },
    {
      queue: ['Queue of the job', 'payments'],
      job: ['Kind of job', 'settle-payment'],
      job_key: ['Key of the job within its queue', 'settle-payment-42'],
      error: ['Message of the last failure', 'the lock of the order timed out'],
      attempts: ['Number of runs before it was given up', 8],
      failures: ['How often it was given up', 1],
      state: [stateWords],
      failed_at: ['When it failed', '2026-11-22T08:31:12.000Z'],
      retried_at: ['When it was queued again; null if it was not', null],
    },
  ),
);

const count = record({ count: integer() });
const list = can('queue.failed', '查看失败任务', 'List failed jobs');
const retry = can('queue.retry', '重试失败任务', 'Retry failed jobs');
const destroy = can('queue.destroy', '丢弃失败任务', 'Drop failed jobs');

export const routes = [
  route('GET', '/failed-jobs', {
    name: 'listFailedJobs',
    summary: 'List jobs that have failed for good',
    description:
      'One entry for each piece of work, however often it fails. Its state is `failed` until it is retried, then `retried` until it fails again or succeeds (`done`).',
    access: list,
    query: failedJobQuery,
    response: pageOf(failedJob),
    handle: ({ query }) => listFailedJobs(query),
  }),
  route('POST', '/failed-jobs/retry', {
    name: 'retryFailedJobs',
    summary: 'Retry failed jobs by filter, the oldest 500 at most',
    description:
      'Only what is in the state `failed`; without a filter all of it. `refused` counts what cannot be retried: its work has ended, or this release has no such job.',
    access: retry,
    deadlineMs: 60_000,
    body: Joi.object<FailedJobCriteria, true>({ ...failedJobCriteria, ...timeKeys() }),
    fails: ['failed_job_not_found', 'failed_job_over', 'failed_job_unknown'],
    response: record({
      count: integer().description('Number of jobs that were queued again').example(3),
      refused: integer().description('Number of jobs that cannot be retried').example(0),
    }),
    handle: async ({ body }) => {
      const { count, refusals } = await retryAllFailed(body);
      return { count, refused: refusals.size };
    },
  }),
  route('DELETE', '/failed-jobs/batch', {
    name: 'deleteFailedJobs',
    summary: 'Drop several failed jobs',
    access: destroy,
    body: idsBody(1000),
    response: count,
    handle: async ({ body }) => ({ count: await deleteFailedJobs(body.ids) }),
  }),
  route('GET', '/failed-jobs/{id}', {
    name: 'showFailedJob',
    summary: 'Show a failed job',
    access: list,
    fails: ['failed_job_not_found'],
    response: failedJob,
    handle: ({ params }) => getFailedJob(params.id),
  }),
  route('POST', '/failed-jobs/{id}/retry', {
    name: 'retryFailedJob',
    summary: 'Retry a failed job',
    description: 'Every job may run any number of times: what has been done already is not done again.',
    access: retry,
    fails: ['failed_job_not_found', 'failed_job_over', 'failed_job_unknown'],
    response: failedJob,
    async handle({ params }) {
      await retryFailed(params.id);
      return getFailedJob(params.id);
    },
  }),
  route('DELETE', '/failed-jobs/{id}', {
    name: 'deleteFailedJob',
    summary: 'Drop a failed job',
    access: destroy,
    fails: ['failed_job_not_found'],
    subject: ({ params }, t) => getFailedJob(params.id, t),
    async handle({ params }) {
      if ((await deleteFailedJobs([params.id])) === 0) fail('failed_job_not_found');
    },
  }),
];
