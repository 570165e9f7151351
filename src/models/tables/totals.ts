// Exact totals of long lists without counting them again after every write.
//
// What a filter counted once is carried on. Of the rows made since then those above a watermark, an id below which no
// transaction can still be under way, are counted each time; rows that changed stand in a journal, as they were and as they
// are, so that the same filter over it says what they add or take away. Both is one statement, which sees one instant:
//
//   total now = total at the base + rows above the watermark + what the journal says of rows below it
//
// Only rows that are deleted for good have everything counted anew. A total is used again as long as no mark says that
// there are changes, for 2 s at most: so it is exact on every process, also when whoever wrote died before telling.
import { joinable } from '../../lib/context.js';
import { reports, type SqlValue } from '../../lib/db.js';
import { DatabaseTimeout } from '../../lib/db-errors.js';
import type { Where } from '../../lib/list-query.js';
import { isUnannounced } from '../../lib/marks.js';
import { withTimeout } from '../../lib/with-timeout.js';
import type { Months } from './month-pages.js';
import { monthsOf } from './partitions.js';
import type { Scope } from './versions.js';

/** Steps of the server's clock by which journal entries are dated. */
export const epochSql = 'UNIX_TIMESTAMP() DIV 10';

/** Transactions end within 30 s (lib/db.ts); what is older than this is committed or gone. */
const settledMs = 40_000;
const settledEpochs = 7;
/** A base that nobody asked for is given up before its journal is removed. */
const maxBaseMs = 1_200_000;
const trustMs = 2000;
const maxKept = 500;
const maxRounds = 3;
/** Nobody waits longer for a count, also one that others have begun. */
const maxCountMs = 8000;

/** Rows by month, or by `all` where a table has no months. */
type Counts = Map<string, number>;

interface Base {
  counts: Counts;
  watermark: number;
  /** First epoch of the journal that the counts do not hold yet. */
  epoch: number;
  /** Number of the scope: rows are deleted for good under another one. */
  version: number;
  at: number;
}

interface Kept {
  mark: string | undefined;
  checkedAt: number;
  base: Base;
  counts: Counts;
}

/** What belongs to one filter. */
interface Slot {
  kept: Kept | undefined;
  /** How to join the count that is under way, and the one after it. */
  running: (() => Promise<Kept>) | undefined;
  next: (() => Promise<Kept>) | undefined;
}

export interface CountedTable {
  table: string;
  /** What a change of it announces; a row deleted for good raises its number. */
  scope: Scope;
  /** The alias that filters use for it. */
  alias: string;
  /** The column that holds a row's month, if lists are read month by month. */
  month?: string;
  /** The table that holds what changed (list-journal.ts), where rows change at all. */
  journal?: string;
}

export class Totals {
  /** Name of the mark; a list route reads it together with the session. */
  readonly scope: Scope;
  readonly #counted: CountedTable;
  readonly #slots = new Map<string, Slot>();
  readonly #samples: { at: number; highest: number }[] = [];

  constructor(counted: CountedTable) {
    this.scope = counted.scope;
    this.#counted = counted;
  }

  /**
   * How many rows match.
   *
   * @param mark the scope's mark as read at the start of the request
   */
  async count(where: Where, mark: string | undefined): Promise<number> {
    let total = 0;
    for (const count of (await this.#counts(where, mark)).values()) total += count;
    return total;
  }

  /** How many rows match in each month; months without a row are left out. */
  async months(where: Where, mark: string | undefined): Promise<Months> {
    const counts = await this.#counts(where, mark);
    return new Map([...counts].flatMap(([part, total]) => (total > 0 ? [[Number(part), total]] : [])));
  }

  async #counts(where: Where, mark: string | undefined): Promise<Counts> {
    const slot = this.#slotOf(where);
    const { kept } = slot;
    const isNews = mark === undefined || mark !== kept?.mark || isUnannounced(this.scope);
    if (kept && !isNews && performance.now() - kept.checkedAt < trustMs) return kept.counts;
    const asked = this.#ask(slot, where, mark);
    const late = () => new DatabaseTimeout(`counting ${this.scope} took longer than ${maxCountMs} ms`);
    return (await withTimeout(asked, maxCountMs, (_, reject) => reject(late()))).counts;
  }

  #slotOf(where: Where): Slot {
    const filter = JSON.stringify([where.sql, where.values]);
    const slot = this.#slots.get(filter) ?? { kept: undefined, running: undefined, next: undefined };
    this.#slots.delete(filter);
    this.#slots.set(filter, slot);
    if (this.#slots.size > maxKept) this.#slots.delete(this.#slots.keys().next().value as string);
    return slot;
  }

  // A count that is under way may have begun before the change that this caller must see; the next one has not.
  #ask(slot: Slot, where: Where, mark: string | undefined): Promise<Kept> {
    const { running } = slot;
    if (!running) return this.#run(slot, where, mark);
    slot.next ??= joinable(async () => {
      await running().catch(() => undefined);
      slot.next = undefined;
      return this.#run(slot, where, mark);
    });
    return slot.next();
  }

  #run(slot: Slot, where: Where, mark: string | undefined): Promise<Kept> {
    const running = joinable(async () => {
      try {
        return (slot.kept = await this.#carryOn(slot.kept?.base, where, mark));
      } finally {
        if (slot.running === running) slot.running = undefined;
      }
    });
    slot.running = running;
    return running();
  }

  async #carryOn(base: Base | undefined, where: Where, mark: string | undefined): Promise<Kept> {
    const checkedAt = performance.now();
    const isUsable = base !== undefined && checkedAt - base.at < maxBaseMs;
    let usable = isUsable ? base : await this.#makeBase(where);
    for (let round = 1; ; round++) {
      const changes = await this.#changesSince(usable, where);
      const isSame = changes.version === usable.version;
      const carried = { mark, checkedAt, ...this.#applied(usable, changes) };
      if (isSame) return carried;
      // Rows are being deleted all the time: this is as near as it gets, and the next caller counts anew.
      if (round === maxRounds) return { ...carried, base: { ...usable, at: -Infinity } };
      usable = await this.#makeBase(where);
    }
  }

  #applied(base: Base, { rows, watermark, epoch, version }: Changes): Pick<Kept, 'base' | 'counts'> {
    const counts = new Map(base.counts);
    const settled = new Map(base.counts);
    for (const { kind, part, first, second } of rows) {
      // Rows made: below the new watermark, above it. Rows changed: since the base, of those the ones it will not hold.
      const [settles, adds] = kind === 'made' ? [first, first + second] : [first - second, first];
      settled.set(part, (settled.get(part) ?? 0) + settles);
      counts.set(part, (counts.get(part) ?? 0) + adds);
    }
    return { counts, base: { counts: settled, watermark, epoch, version, at: performance.now() } };
  }

  async #changesSince(base: Base, where: Where): Promise<Changes> {
    const { scope, table, alias, month, journal } = this.#counted;
    const part = month ?? `'all'`;
    const watermark = Math.max(base.watermark, this.#settled());
    const made = where.with(`${alias}.id > ?`, base.watermark);
    const parts = [
      `SELECT 'made' AS kind, ${part} AS part, SUM(${alias}.id <= ?) AS first, SUM(${alias}.id > ?) AS second
       FROM ${table} ${alias} FORCE INDEX (PRIMARY) ${made.sql} GROUP BY ${part}`,
    ];
    const values: SqlValue[] = [watermark, watermark, ...made.values];
    if (journal) {
      const moved = where.with(`${alias}.epoch >= ? AND ${alias}.id <= ?`, base.epoch, watermark);
      parts.push(
        `SELECT 'moved', ${part}, SUM(IF(${alias}.id <= ?, ${alias}.sign, 0)),
           SUM(IF(${alias}.epoch >= ${settledEpochSql}, ${alias}.sign, 0))
         FROM ${journal} ${alias} ${moved.sql} GROUP BY ${part}`,
      );
      values.push(base.watermark, ...moved.values);
    }
    parts.push(`SELECT 'state', ${settledEpochSql}, ${versionSql}, (SELECT MAX(id) FROM ${table})`);
    const at = performance.now();
    const rows = await reports.select<ChangeRow>(parts.join(' UNION ALL '), [...values, scope]);
    const state = rows.find(({ kind }) => kind === 'state') as ChangeRow;
    this.#sample(at, Number(state.second ?? 0));
    return {
      rows: rows.flatMap(({ kind, part: name, first, second }) =>
        kind === 'state' ? [] : [{ kind, part: String(name), first: Number(first), second: Number(second) }],
      ),
      watermark,
      epoch: Math.max(base.epoch, Number(state.part)),
      version: Number(state.first),
    };
  }

  /** An id below which everything is committed or gone. */
  #settled(): number {
    const before = performance.now() - settledMs;
    return this.#samples.findLast(({ at }) => at < before)?.highest ?? 0;
  }

  #sample(at: number, highest: number): void {
    const last = this.#samples.at(-1);
    if (last && at - last.at < settledMs / 8) return;
    this.#samples.push({ at, highest });
    // One that is old enough stays behind the younger ones.
    const before = at - settledMs;
    while ((this.#samples[1]?.at ?? Infinity) < before) this.#samples.shift();
  }

  // One SELECT per month, joined into one statement: grouping makes the server build a table of all it reads.
  async #makeBase(where: Where): Promise<Base> {
    const { scope, table, month } = this.#counted;
    const [state] = await reports.select<{ epoch: string; version: string; watermark: string }>(
      `SELECT ${settledEpochSql} AS epoch, ${versionSql} AS version, COALESCE((SELECT id FROM ${table}
         WHERE created_at < NOW(3) - INTERVAL 5 MINUTE ORDER BY created_at DESC LIMIT 1), 0) AS watermark`,
      [scope],
    );
    // Beside a constant, what is unsigned comes as a DECIMAL, which the driver hands over as text.
    const [epoch, version] = [Number(state?.epoch), Number(state?.version)];
    const settled = Math.max(Number(state?.watermark), this.#settled());
    const months = month ? await monthsOf(table) : [undefined];
    const shares = await Promise.all(
      dealt(months).map((share) => this.#countShare(where, share, settled, epoch)),
    );
    return {
      ...{ counts: new Map(shares.flat()), watermark: settled, epoch, version },
      at: performance.now(),
    };
  }

  /** Rows of these months as the base holds them: without those above the watermark and without the open journal. */
  async #countShare(
    where: Where,
    months: (number | undefined)[],
    watermark: number,
    epoch: number,
  ): Promise<[string, number][]> {
    const { table, alias, month, journal } = this.#counted;
    const parts: string[] = [];
    const values: SqlValue[] = [];
    const add = (sql: string, { sql: clause, values: bound }: Where): void => {
      parts.push(`${sql} ${clause}`);
      values.push(...bound);
    };
    for (const one of months) {
      const part = one ?? `'all'`;
      const here = one === undefined ? where : where.with(`${month} = ?`, one);
      add(`SELECT ${part} AS part, COUNT(*) AS total FROM ${table} ${alias}`, here);
      const above = here.with(`${alias}.id > ?`, watermark);
      add(`SELECT ${part}, -COUNT(*) FROM ${table} ${alias} FORCE INDEX (PRIMARY)`, above);
    }
    if (journal) {
      const open = where.with(`${alias}.epoch >= ? AND ${alias}.id <= ?`, epoch, watermark);
      const here = month ? open.with(`${month} IN (?)`, months as number[]) : open;
      add(`SELECT ${month ?? `'all'`}, -SUM(${alias}.sign) FROM ${journal} ${alias}`, here);
      parts.push(`${parts.pop()} GROUP BY ${month ?? `'all'`}`);
    }
    const sql = parts.join(' UNION ALL ');
    const rows = await reports.select<{ part: string | number; total: string | number }>(sql, values);
    const counts: Counts = new Map();
    for (const { part, total } of rows)
      counts.set(String(part), (counts.get(String(part)) ?? 0) + Number(total));
    return [...counts];
  }
}

const settledEpochSql = `${epochSql} - ${settledEpochs}`;
const versionSql = `COALESCE((SELECT version FROM versions WHERE scope = ?), 0)`;

interface Changes {
  rows: { kind: 'made' | 'moved'; part: string; first: number; second: number }[];
  watermark: number;
  epoch: number;
  version: number;
}

interface ChangeRow {
  kind: 'made' | 'moved' | 'state';
  part: string | number;
  first: string | number;
  second: string | number | null;
}

// The months' statements are dealt out to this many, which run at once.
const statementsAtOnce = 2;

function dealt<T>(months: T[]): T[][] {
  const shares = Array.from({ length: statementsAtOnce }, (_, share) =>
    months.filter((_, index) => index % statementsAtOnce === share),
  );
  return shares.filter((share) => share.length > 0);
}
