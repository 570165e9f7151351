// back-office jobs …: queued jobs, and those that failed for good.
import type { Command } from 'commander';
import { queueNames, type QueueName } from '../../lib/queue/names.js';
import { isId } from '../../lib/values/numbers.js';
import { newest } from '../../lib/input/list-query.js';
import { retryAllFailed, retryEach } from '../../jobs/failed-work.js';
import { deleteFailedJobs, listFailedJobs, type FailedJobCriteria } from '../../models/office/failed-job.js';
import { listQueues } from '../../models/office/queue-list.js';
import { failedJobStates, type FailedJobState } from '../../models/office/tables.js';
import { does, Misuse, assertRedis, table, type Given, type Outcome } from './command.js';

const shown = 100;

export const add = {
  jobs(jobs: Command): void {
    does(jobs.command('queues').description('what each queue holds'), queues);
    does(
      filtered(jobs.command('list'))
        .option('--state <state>', failedJobStates.join(', '), 'failed')
        .description(`work that has failed for good, the newest ${shown}`),
      list,
    );
    does(
      filtered(jobs.command('retry'))
        .argument('[ids...]')
        .option('--all', 'those that --queue and --job name, the oldest 500')
        .description('queues failed work again'),
      retry,
      { changes: true },
    );
    does(jobs.command('drop').argument('<ids...>').description('forgets failed work'), drop, {
      changes: true,
      asks: (given) => `Forget failed jobs ${idsOf(given).join(', ')}?`,
    });
  },
};

const filtered = (command: Command): Command =>
  command.option('--queue <name>', queueNames.join(', ')).option('--job <name>', 'kind of job');

async function queues(): Promise<Outcome> {
  assertRedis();
  const rows = (await listQueues()).map(({ oldest_seconds: _, ...counts }) => counts);
  return { data: rows, text: table(rows, 'Redis does not answer') };
}

async function list(given: Given): Promise<Outcome> {
  const state = given.option('state') as FailedJobState;
  if (!failedJobStates.includes(state)) throw new Misuse(`--state: one of ${failedJobStates.join(', ')}`);
  const page = await listFailedJobs({ ...criteria(given), state, ...newest(shown) });
  const rows = page.list.map(({ id, queue, job, failures, failed_at, error, trace_id }) => ({
    id,
    queue,
    job,
    failures,
    failed_at,
    trace_id,
    error: error.slice(0, 120),
  }));
  return { data: page, text: `${table(rows, `no work is ${state}`)}\n${page.total} in all` };
}

async function retry(given: Given): Promise<Outcome> {
  assertRedis();
  if (given.flag('all') === given.args.length > 0) throw new Misuse('Name the ids, or --all.');
  const { count, refusals } = given.flag('all')
    ? await retryAllFailed(criteria(given))
    : await retryEach(idsOf(given));
  const refused = [...refusals].map(([id, error]) => ({ id, reason: error.text('en-US') }));
  const lines = refused.map(({ id, reason }) => `${id}: ${reason}`);
  return {
    data: { count, refused: refused.length, refusals: refused },
    text: [
      `${count} queued again${refused.length > 0 ? `, ${refused.length} cannot be` : ''}`,
      ...lines,
    ].join('\n'),
    isBad: refused.length > 0,
  };
}

async function drop(given: Given): Promise<Outcome> {
  const ids = idsOf(given);
  const dropped = await deleteFailedJobs(ids);
  return { data: { dropped }, text: `${dropped} forgotten`, isBad: dropped < ids.length };
}

function criteria(given: Given): FailedJobCriteria {
  const queue = given.option('queue') as QueueName | undefined;
  if (queue && !queueNames.includes(queue)) throw new Misuse(`--queue: one of ${queueNames.join(', ')}`);
  return { queue, job: given.option('job') };
}

function idsOf({ args }: Given): number[] {
  const wrong = args.find((arg) => !isId(arg));
  if (wrong !== undefined) throw new Misuse(`"${wrong}" is no id`);
  return [...new Set(args.map(Number))];
}
