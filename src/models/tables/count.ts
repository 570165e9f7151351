// Counts and sums, cached in proportion to what they cost: a quick one runs each time, so it is exact; the result
// of a slow one is used for twenty times as long as it takes, so counting never takes more than a twentieth of
// the time.
import { LRUCache } from 'lru-cache';
import { reports, type SqlValues } from '../../lib/database/db.js';
import type { Where } from '../../lib/input/list-query.js';
import { logger } from '../../lib/watch/logger.js';

/** A query that takes longer is slow, when its last three runs did: a slow moment does not count. */
const quickMs = 50;
const runsToJudge = 3;
const ageInCosts = 20;

interface Result {
  rows: object[];
  /** When its query began, in milliseconds of performance.now(). */
  begunAt: number;
  costMs: number;
}

interface Query {
  statement: { sql: string; values: SqlValues };
  /** Minimum lifetime of a slow result, in milliseconds. */
  keepMs: number;
  result?: Result;
  /** What its last runs took, in milliseconds. */
  runsMs: number[];
  running?: Promise<Result>;
  next?: Promise<Result>;
}

const queries = new LRUCache<string, Query>({ max: 2000 });

const selecting = (keepMs: number) => ({
  select: <T extends object>(sql: string, values: SqlValues = []): Promise<T[]> =>
    answer({ sql, values }, keepMs) as Promise<T[]>,
});

/** Runs SELECTs of counts and sums; can replace a database in `Run.on`. */
export const cachedCounts = selecting(0);

/** The same for times that have passed, in which little changes: slow ones are kept for an hour. */
export const cachedPastCounts = selecting(3_600_000);

/** The number of rows. @param from the table with the alias that the condition uses: `orders o` */
export async function count(from: string, where: Where): Promise<number> {
  const sql = `SELECT COUNT(*) AS total FROM ${from} ${where.sql}`;
  const [row] = await cachedCounts.select<{ total: number }>(sql, where.values);
  return row?.total ?? 0;
}

async function answer(statement: Query['statement'], keepMs: number): Promise<object[]> {
  const name = JSON.stringify([statement.sql, statement.values]);
  const query: Query = queries.get(name) ?? { statement, keepMs, runsMs: [] };
  queries.set(name, query);
  const { result } = query;
  const maxAge = result ? maxAgeOf(query, result) : 0;
  if (!result || maxAge === 0) return (await runAfterNow(query)).rows;
  const age = performance.now() - result.begunAt;
  if (age < maxAge - result.costMs) return result.rows;
  const renewed = query.running ?? run(query);
  if (age >= maxAge) return (await renewed).rows;
  renewed.catch((error: unknown) => logger.warn({ error }, 'renewing a count failed'));
  return result.rows;
}

const maxAgeOf = ({ keepMs }: Query, { costMs }: Result): number =>
  costMs < quickMs ? 0 : Math.max(keepMs, ageInCosts * costMs);

// A query under way may have begun before the change that its caller must see; all who wait share the next one.
function runAfterNow(query: Query): Promise<Result> {
  if (!query.running) return run(query);
  query.next ??= query.running
    .catch(() => undefined)
    .then(() => {
      query.next = undefined;
      return run(query);
    });
  return query.next;
}

function run(query: Query): Promise<Result> {
  const begunAt = performance.now();
  const { sql, values } = query.statement;
  query.running = reports
    .timed(sql, values)
    .then(({ rows, tookMs }) => {
      query.runsMs = [...query.runsMs, tookMs].slice(-runsToJudge);
      const costMs = query.runsMs.length < runsToJudge ? 0 : Math.min(...query.runsMs);
      return (query.result = { rows, begunAt, costMs });
    })
    .finally(() => (query.running = undefined));
  return query.running;
}
