// What tables, queues and disk hold, for monitoring. Each figure comes from an index or a few rows, and is
// read at most once every few seconds, however many ask.
import { LRUCache } from 'lru-cache';
import { now } from '../../lib/values/clock.js';
import { select } from '../../lib/database/db.js';
import { periodOf } from '../../lib/values/numbers.js';
import { countJobs } from '../../lib/queue/queue.js';
import { diskUsage } from '../../lib/process/disk.js';
import { gauge, type Figures } from '../../lib/watch/metrics.js';
import { partitionedTables } from '../tables/partitions.js';
import { countFailedJobs } from './failed-job.js';
import { checkReachable } from './readiness.js';

const maxAgeMs = 5000;
/** Partitions come and go once a month. */
const maxPartitionAgeMs = 60_000;
/** More rows are not counted one by one. */
const maxCounted = 10_000;

/** Declares the gauges of the whole service; all processes report the same values: aggregate with max(). */
export function exposeServiceMetrics(): void {
  const row = shared(countRows);
  const refunds = shared(oldestRefunds);
  const queues = shared(countJobs);
  const failed = shared(countFailedJobs);
  const partitions = shared(monthsAhead, maxPartitionAgeMs);

  const ofRows = (name: string, help: string, figure: (counts: Counts) => number): void =>
    gauge(name, help, [], async () => ({ '': figure(await row()) }));
  ofRows(
    'callbacks_unsettled',
    'verified callbacks not settled yet; 10000: so many or more',
    ({ unsettled }) => unsettled,
  );
  ofRows('callbacks_unsettled_oldest_seconds', 'age of the oldest of them', ({ oldest }) => ageOf(oldest));
  ofRows('follow_up_overdue_seconds', 'how long the longest question to a company is overdue', ({ due }) =>
    ageOf(due),
  );
  ofRows(
    'payments_needing_attention',
    'payments a person must look at; 10000: so many or more',
    ({ attention }) => attention,
  );
  ofRows(
    'refunds_needing_attention',
    'refunds a person must look at; 10000: so many or more',
    ({ refund_attention }) => refund_attention,
  );
  gauge(
    'refunds_oldest_seconds',
    'age of the oldest refund that waits for approval, is not sent, has no final answer, or was not even accepted',
    ['status'],
    async () => {
      const since = await refunds();
      const states = [...openRefunds, 'unaccepted'];
      return Object.fromEntries(states.map((state) => [state, ageOf(since[state] ?? null)]));
    },
  );
  gauge('bulk_work', 'exports and imports that wait or run', ['kind'], async () => {
    const { exports, imports } = await row();
    return { export: exports, import: imports };
  });
  gauge(
    'queue_jobs',
    'jobs of a queue; failed: those that wait for a person',
    ['queue', 'state'],
    async () => {
      const [held, given] = await Promise.all([queues(), failed()]);
      return Object.fromEntries([
        ...held.flatMap(({ name, waiting, active, delayed }) =>
          Object.entries({ waiting, active, delayed }).map(([state, count]) => [`${name} ${state}`, count]),
        ),
        ...Object.entries(given).map(([name, count]) => [`${name} failed`, count]),
      ]) as Figures;
    },
  );
  gauge('queue_oldest_seconds', 'age of the oldest job that waits for a worker', ['queue'], async () =>
    Object.fromEntries((await queues()).map(({ name, oldest_seconds }) => [name, oldest_seconds])),
  );
  gauge('partition_months_ahead', 'months after this one that a table has partitions for', ['table'], () =>
    partitions(),
  );
  gauge('storage_bytes', 'the disk below STORAGE_ROOT', ['state'], async () => {
    const { bsize, blocks, bavail } = await diskUsage();
    return { total: bsize * blocks, free: bsize * bavail };
  });
  gauge('up', 'whether the database and Redis take writes', ['part'], async () => {
    const { database, redis: cache } = await checkReachable();
    return { database: Number(database), redis: Number(cache) };
  });
}

/** Read at most once in that time, however many ask; one that hangs is joined. */
function shared<T extends object>(read: () => Promise<T>, ttl = maxAgeMs): () => Promise<T> {
  const cache = new LRUCache<'figures', T>({ max: 1, ttl, fetchMethod: read });
  return () => cache.forceFetch('figures');
}

interface Counts {
  unsettled: number;
  oldest: Date | null;
  due: Date | null;
  attention: number;
  refund_attention: number;
  exports: number;
  imports: number;
}

async function countRows(): Promise<Counts> {
  const some = (rows: string): string =>
    `(SELECT COUNT(*) FROM (SELECT 1 FROM ${rows} LIMIT ${maxCounted}) counted)`;
  const [counts] = await select<Counts>(
    `SELECT ${some(`payment_callbacks WHERE state = 'pending'`)} AS unsettled,
       (SELECT MIN(created_at) FROM payment_callbacks WHERE state = 'pending') AS oldest,
       (SELECT MIN(due_at) FROM payment_follow_ups) AS due,
       ${some('payments WHERE needs_attention = 1')} AS attention,
       ${some('refunds WHERE needs_attention = 1')} AS refund_attention,
       ${some('exports WHERE status = 0')} AS exports,
       ${some('imports WHERE concluded = 0 AND status = 0')} AS imports`,
  );
  return counts as Counts;
}

const openRefunds = ['waiting', 'pending', 'processing'];

/** Since when the oldest refund has been in each of these states, and sent but not accepted by its company. */
async function oldestRefunds(): Promise<Record<string, Date>> {
  const rows = await select<{ status: string; since: Date; unaccepted: Date | null }>(
    `SELECT status, MIN(IF(status = 'processing', sent_at, updated_at)) AS since,
       MIN(IF(accepted_at IS NULL, sent_at, NULL)) AS unaccepted FROM refunds WHERE status IN (?) GROUP BY status`,
    [openRefunds],
  );
  return Object.fromEntries(
    rows.flatMap(({ status, since, unaccepted }) => [
      [status, since],
      ...(unaccepted ? [['unaccepted', unaccepted]] : []),
    ]),
  ) as Record<string, Date>;
}

const ageOf = (since: Date | null): number =>
  since === null ? 0 : Math.max(0, (now().getTime() - since.getTime()) / 1000);

async function monthsAhead(): Promise<Figures> {
  const rows = await select<{ name: string; until: string }>(
    `SELECT TABLE_NAME AS name, MAX(CAST(PARTITION_DESCRIPTION AS UNSIGNED)) AS until FROM information_schema.PARTITIONS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (?) GROUP BY TABLE_NAME`,
    [partitionedTables],
  );
  const months = (period: number): number => Math.floor(period / 100) * 12 + (period % 100);
  const current = months(periodOf(now()));
  return Object.fromEntries(rows.map(({ name, until }) => [name, months(Number(until)) - 1 - current]));
}
