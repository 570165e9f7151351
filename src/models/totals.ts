// Exact totals of long lists without counting on every request.
//
// Each process keeps the counts it made, per filter and month, together with the version marks they were made under. A
// write marks the months it touches after its commit and before its answer (lib/versions.ts), so a list asked for after
// that answer counts those months again, and only those. Without Redis everything is counted every time.
import { select } from '../lib/db.js';
import type { Where } from '../lib/list-query.js';
import { longRead } from './long-read.js';
import type { Months } from './month-pages.js';
import { monthsOf } from './partitions.js';
import { bump, ensureVersion, isPending, readParts, renewOnReconnect } from '../lib/versions.js';

interface Kept {
  mark: string;
  parts: Map<string, string>;
  counts: Map<string, number>;
  countedAt: number;
}

const mostKept = 500;
const longestMs = 600_000;

export class Totals {
  /** Name of the version mark; a list route reads it together with the session. */
  readonly scope: string;
  readonly #table: string;
  readonly #name: string;
  readonly #month: string | undefined;
  readonly #kept = new Map<string, Promise<Kept>>();

  /**
   * @param table the FROM clause, such as `orders o`
   * @param month the column that holds a row's month, if the table has one, such as `o.period`
   */
  constructor(scope: string, table: string, month?: string) {
    this.scope = scope;
    this.#table = table;
    this.#name = table.split(' ')[0] as string;
    this.#month = month;
    renewOnReconnect([scope]);
  }

  /** Tells every process that rows of these months, or of any month, were added, removed or changed. */
  async changed(...parts: number[]): Promise<void> {
    await (parts.length > 0 ? bump(this.scope, parts) : bump(this.scope));
  }

  /**
   * How many rows match.
   *
   * @param mark the scope's version mark as read at the start of the request
   */
  async count(where: Where, mark: string | undefined): Promise<number> {
    return sum((await this.#counts(where, mark)).values());
  }

  /** How many rows match in each month; months without a row are left out. */
  async months(where: Where, mark: string | undefined): Promise<Months> {
    const counts = await this.#counts(where, mark);
    return new Map([...counts].map(([part, total]) => [Number(part), total]));
  }

  async #counts(where: Where, mark: string | undefined): Promise<Map<string, number>> {
    if (isPending(this.scope)) return this.#countParts(where);
    const current = mark ?? (await ensureVersion(this.scope));
    if (current === undefined) return this.#countParts(where);
    const filter = JSON.stringify([where.sql, where.values]);
    const known = this.#kept.get(filter);
    // Counts that are being made under another mark are no use here, but what they hold is.
    const before = await known?.catch(() => undefined);
    const fresh = before && before.mark === current && Date.now() - before.countedAt < longestMs;
    if (fresh) return before.counts;
    const started = this.#kept.get(filter);
    if (started && started !== known) return this.#counts(where, mark);
    const counting = this.#recount(where, current, before);
    this.#keep(filter, counting);
    return (await counting).counts;
  }

  #keep(filter: string, counting: Promise<Kept>): void {
    this.#kept.delete(filter);
    this.#kept.set(filter, counting);
    if (this.#kept.size > mostKept) this.#kept.delete(this.#kept.keys().next().value as string);
    counting.catch(() => this.#kept.delete(filter));
  }

  async #recount(where: Where, mark: string, before: Kept | undefined): Promise<Kept> {
    const parts = (await readParts(this.scope)) ?? new Map<string, string>();
    const usable = before && parts.get('whole') === before.parts.get('whole') && parts.size > 0;
    if (!usable || Date.now() - before.countedAt >= longestMs) {
      return { mark, parts, counts: await this.#countParts(where), countedAt: Date.now() };
    }
    const stale = [...parts.keys()].filter((part) => parts.get(part) !== before.parts.get(part));
    const counts = new Map(before.counts);
    for (const part of stale) counts.delete(part);
    if (stale.length > 0)
      for (const [part, total] of await this.#countParts(where, stale)) counts.set(part, total);
    return { mark, parts, counts, countedAt: before.countedAt };
  }

  async #countParts(where: Where, only?: string[]): Promise<Map<string, number>> {
    const parts = only?.map(Number) ?? (this.#month ? await monthsOf(this.#name) : undefined);
    const shares = parts ? dealt(parts) : [undefined];
    const counted = await Promise.all(shares.map((share) => longRead(() => this.#countShare(where, share))));
    const found = counted.flat().filter(({ total }) => total > 0);
    return new Map(found.map(({ part, total }) => [String(part), total]));
  }

  // One SELECT per month, joined into one statement: grouping makes the server build a table of all it reads.
  async #countShare(where: Where, months: number[] | undefined): Promise<Counted[]> {
    if (!months) {
      const all = `SELECT 'all' AS part, COUNT(*) AS total FROM ${this.#table} ${where.sql}`;
      return select<Counted>(all, where.values);
    }
    const counts = months.map((month) => where.with(`${this.#month} = ?`, month));
    const sql = counts.map((one, index) => {
      return `SELECT ${months[index]} AS part, COUNT(*) AS total FROM ${this.#table} ${one.sql}`;
    });
    return select<Counted>(
      sql.join(' UNION ALL '),
      counts.flatMap(({ values }) => values),
    );
  }
}

interface Counted {
  part: string | number;
  total: number;
}

// The months' statements are dealt out to this many, which run at once.
const statementsAtOnce = 2;

function dealt(months: number[]): number[][] {
  const shares = Array.from({ length: statementsAtOnce }, (_, share) =>
    months.filter((_, index) => index % statementsAtOnce === share),
  );
  return shares.filter((share) => share.length > 0);
}

function sum(counts: Iterable<number>): number {
  let total = 0;
  for (const count of counts) total += count;
  return total;
}
