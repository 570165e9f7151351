// Exact totals of long lists without counting on every request.
//
// Each process keeps the counts it made, per filter and month, together with the version marks they were made under. A
// write marks the months it touches after its commit and before its answer (lib/versions.ts), so a list asked for after
// that answer counts those months again, and only those. Without Redis everything is counted every time.
import { select } from '../lib/db.js';
import type { Where } from '../lib/list-query.js';
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
  readonly #part: string;
  readonly #kept = new Map<string, Promise<Kept>>();

  /**
   * @param table the FROM clause, such as `orders o`
   * @param part what the table is counted by, such as `o.period`; a table without months has one part only
   */
  constructor(scope: string, table: string, part = "'all'") {
    this.scope = scope;
    this.#table = table;
    this.#part = part;
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
    if (isPending(this.scope)) return sum(await this.#countParts(where));
    const current = mark ?? (await ensureVersion(this.scope));
    if (current === undefined) return sum(await this.#countParts(where));
    const filter = JSON.stringify([where.sql, where.values]);
    const known = this.#kept.get(filter);
    // Counts that are being made under another mark are no use here, but what they hold is.
    const before = await known?.catch(() => undefined);
    const fresh = before && before.mark === current && Date.now() - before.countedAt < longestMs;
    if (fresh) return sum(before.counts);
    const started = this.#kept.get(filter);
    if (started && started !== known) return this.count(where, mark);
    const counting = this.#recount(where, current, before);
    this.#keep(filter, counting);
    return sum((await counting).counts);
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
    const narrowed = only ? `${where.sql ? `${where.sql} AND` : 'WHERE'} ${this.#part} IN (?)` : where.sql;
    const rows = await select<{ part: string | number; total: number }>(
      `SELECT ${this.#part} AS part, COUNT(*) AS total FROM ${this.#table} ${narrowed} GROUP BY part`,
      only ? [...where.values, only] : where.values,
    );
    return new Map(rows.map(({ part, total }) => [String(part), total]));
  }
}

function sum(counts: Map<string, number>): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}
