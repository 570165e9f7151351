// versions: a number per scope, raised by every transaction that changes cached data.
//
// A copy is used while its mark in Redis is unchanged (lib/redis/marks.ts) and its number was verified within the last seconds: so it
// is exact on the next request with Redis, and within 3 s without, even if the writer died before announcing its change.
import type { Transaction } from 'sequelize';
import { inLastingContext } from '../../lib/context.js';
import { change, transact, type Statement } from '../../lib/database/db.js';
import { announce, isUnannounced } from '../../lib/redis/marks.js';
import { copies } from '../../lib/watch/metrics.js';
import { Version } from './bookkeeping.js';
import { columnsOf, selection } from './selection.js';

/** What processes keep copies of. */
export const scopes = [
  'identity',
  'blacklist',
  'dictionaries',
  'orders',
  'payments',
  'users',
  'user_balance_logs',
  'operation_logs',
  'login_logs',
  'system_logs',
  'notifications',
] as const;

export type Scope = (typeof scopes)[number];

/**
 * Runs a write in one transaction that also raises the numbers of the scopes. The change is announced before this
 * returns, even if the outcome is unknown because the reply to COMMIT was lost.
 */
export async function changing<T>(
  touched: readonly Scope[],
  write: (t: Transaction) => Promise<T>,
): Promise<T> {
  return announcing(touched, () =>
    transact(async (t) => {
      const result = await write(t);
      await raise(touched, t);
      return result;
    }),
  );
}

/** Announces a write after it was made, also when it fails: its COMMIT may have succeeded. */
export async function announcing<T>(touched: readonly Scope[], write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } finally {
    await announce(touched);
  }
}

/** Raises the versions, within a transaction; in a fixed order, against deadlocks. */
export async function raise(touched: readonly Scope[], t: Transaction): Promise<void> {
  const sorted = [...touched].sort();
  await change(
    `INSERT INTO versions (scope, version) VALUES ${sorted.map(() => '(?, 1)').join(', ')}
     ON DUPLICATE KEY UPDATE version = version + 1`,
    sorted,
    t,
  );
}

/**
 * Runs a change that has no transaction to raise a number in: ALTER TABLE. Meanwhile its scope has no number, so nothing is
 * counted on from an earlier count; if the process dies, until the next `recount`.
 */
export async function whileUncounted<T>(scope: Scope, run: () => Promise<T>): Promise<T> {
  await change('INSERT IGNORE INTO versions (scope, version) VALUES (?, 0)', [uncounted(scope)]);
  try {
    return await run();
  } finally {
    await recount(scope);
  }
}

/** Has everything of a scope counted anew. */
export async function recount(scope: Scope): Promise<void> {
  await transact(async (t) => {
    await raise([scope], t);
    await change('DELETE FROM versions WHERE scope = ?', [uncounted(scope)], t);
  });
}

const uncounted = (scope: Scope): string => `${scope} uncounted`;

/** Reads the number of a scope; NULL while it has none. */
export const versionOf = (scope: Scope): Statement => ({
  sql: '(SELECT IF(COALESCE(SUM(scope = ?), 0) = 0, COALESCE(MAX(version), 0), NULL) FROM versions WHERE scope IN (?, ?))',
  values: [uncounted(scope), scope, uncounted(scope)],
});

/** What a copy was made under. */
export interface Stamp {
  mark: string | undefined;
  version: number;
  /** When the number was asked for, in milliseconds of performance.now(). */
  checkedAt: number;
}

/** A stamp for a copy that is about to be read. @param mark as read at the start of the request */
export async function stamp(scope: Scope, mark: string | undefined): Promise<Stamp> {
  const { versions, askedAt } = await askVersions();
  return { mark, version: versionIn(versions, scope), checkedAt: askedAt };
}

/** Copies are trusted for this long without asking, and answers shared for the rest of the 3 s. */
const trustMs = 2000;
const shareMs = 1000;

/**
 * Whether a copy with that stamp is current; if so, renews the stamp.
 *
 * @param mark as read at the start of the request; undefined when Redis is unavailable
 */
export async function isCurrent(scope: Scope, stamped: Stamp, mark: string | undefined): Promise<boolean> {
  const isNews = mark === undefined || mark !== stamped.mark || isUnannounced(scope);
  if (!isNews && performance.now() - stamped.checkedAt < trustMs) {
    copies.inc({ scope, outcome: 'hit' });
    return true;
  }
  const { versions, askedAt } = isNews ? await askVersions() : await sharedVersions();
  const isSame = versionIn(versions, scope) === stamped.version;
  copies.inc({ scope, outcome: isSame ? 'hit' : 'stale' });
  if (!isSame) return false;
  Object.assign(stamped, { mark, checkedAt: askedAt });
  return true;
}

interface Answer {
  versions: ReadonlyMap<string, number>;
  askedAt: number;
}

const versionIn = (versions: ReadonlyMap<string, number>, scope: Scope): number => versions.get(scope) ?? 0;

const stored = selection(columnsOf(Version, 'v'), 'versions v');

let latest: Promise<Answer> | undefined;
let latestAt = -Infinity;
let running: Promise<Answer> | undefined;
let next: Promise<Answer> | undefined;

// Callers share the next query, never one already under way: its result may be older than a change they must see.
function askVersions(): Promise<Answer> {
  if (!running) return ask();
  next ??= running
    .catch(() => undefined)
    .then(() => {
      next = undefined;
      return ask();
    });
  return next;
}

function sharedVersions(): Promise<Answer> {
  return latest && performance.now() - latestAt < shareMs ? latest : askVersions();
}

function ask(): Promise<Answer> {
  const askedAt = performance.now();
  const asked = inLastingContext(() => stored.rows(''));
  const answer = asked.then((rows) => ({
    versions: new Map(rows.map(({ scope, version }) => [scope, version])),
    askedAt,
  }));
  const asking = answer.finally(() => {
    if (running === asking) running = undefined;
  });
  running = asking;
  [latest, latestAt] = [asking, askedAt];
  asking.catch(() => {
    if (latest === asking) latest = undefined;
  });
  return asking;
}
