// Counts the rows of a table once and updates the counts from then on.
//
// No transaction below the watermark, an id, is still running. Rows above it are counted each time; rows that changed are in a
// journal, before and after, so that the same filter over the journal gives the difference. One statement reads both at one
// instant:
//
//   total now = total at the base + rows above the watermark + differences in the journal for rows below it
//
// Only rows deleted for good require a new count.
import { reports, type SqlValue, type Statement } from '../../lib/database/db.js';
import type { Where } from '../../lib/input/list-query.js';
import { addTo, minus, plus, toGroup, type Group, type Groups } from './group.js';
import { monthsOf } from './partitions.js';
import { versionOf, type Scope } from './versions.js';

/** Steps of the server's clock by which journal entries are dated. */
export const epochSql = 'UNIX_TIMESTAMP() DIV 10';

/** Transactions end within 30 s (lib/database/db.ts); what is older than this is committed or gone. */
const settledMs = 40_000;
const settledEpochs = 7;
/** Max age of an unused base; shorter than the journal is kept. */
const maxBaseMs = 1_200_000;
const maxRounds = 3;

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

/** What is counted: rows that match, by month or by another expression, and one of their amounts. */
export interface Question {
  where: Where;
  by?: Statement;
  /** A DECIMAL(…, 2) column of which each group tells the sum. */
  amount?: string;
}

/** The groups at some instant, from which they are carried on. */
export interface Base {
  groups: Groups;
  watermark: number;
  /** First epoch of the journal that the groups do not hold yet. */
  epoch: number;
  /** Number of the scope: rows are deleted for good under another one. */
  version: number;
  at: number;
}

export class Tally {
  readonly #counted: CountedTable;
  readonly #samples: { at: number; highest: number }[] = [];

  constructor(counted: CountedTable) {
    this.#counted = counted;
  }

  /** The groups of now, and the base they are carried on from next time. */
  async carryOn(base: Base | undefined, question: Question): Promise<{ base: Base; groups: Groups }> {
    const isUsable = base !== undefined && performance.now() - base.at < maxBaseMs;
    let usable = isUsable ? base : await this.#makeBase(question);
    for (let round = 1; ; round++) {
      const changes = await this.#changesSince(usable, question);
      const isSame = changes.version === usable.version;
      const carried = applied(usable, changes);
      if (isSame) return carried;
      // Rows are being deleted continuously: this is the best estimate, and the next caller counts again.
      if (round === maxRounds) return { ...carried, base: { ...usable, at: -Infinity } };
      usable = await this.#makeBase(question);
    }
  }

  async #changesSince(base: Base, question: Question): Promise<Changes> {
    const { scope, table, alias: a, journal } = this.#counted;
    const watermark = Math.max(base.watermark, this.#settled());
    const made = question.where.with(`${a}.id > ?`, base.watermark);
    const parts = [this.#select('made', question, `${a}.id <= ${watermark}`, `${a}.id > ${watermark}`)];
    const values: SqlValue[] = [...(question.by?.values ?? []), ...made.values];
    parts.push(`FROM ${table} ${a} FORCE INDEX (PRIMARY) ${made.sql} GROUP BY part`);
    if (journal) {
      const moved = question.where.with(`${a}.epoch >= ? AND ${a}.id <= ?`, base.epoch, watermark);
      const [isOld, isOpen] = [`${a}.id <= ${base.watermark}`, `${a}.epoch >= ${settledEpochSql}`];
      parts.push('UNION ALL', this.#select('moved', question, isOld, isOpen, `${a}.sign`));
      parts.push(`FROM ${journal} ${a} ${moved.sql} GROUP BY part`);
      values.push(...(question.by?.values ?? []), ...moved.values);
    }
    const version = versionOf(scope);
    parts.push(
      `UNION ALL SELECT 'state', ${settledEpochSql}, ${version.sql}, (SELECT MAX(id) FROM ${table}), 0, 0`,
    );
    const at = performance.now();
    const rows = await reports.select<ChangeRow>(parts.join(' '), [...values, ...version.values]);
    const state = rows.find(({ kind }) => kind === 'state') as ChangeRow;
    this.#sample(at, Number(state.second ?? 0));
    return {
      rows: rows.flatMap((row) => (row.kind === 'state' ? [] : [toChange(row)])),
      watermark,
      epoch: Math.max(base.epoch, Number(state.part)),
      version: toVersion(state.first),
    };
  }

  /** What two conditions say of rows and amounts, by group. */
  #select(kind: string, { by, amount }: Question, first: string, second: string, sign = '1'): string {
    const { alias, month = `'all'` } = this.#counted;
    const sum = (condition: string, of: string): string => `SUM(IF(${condition}, ${of}, 0))`;
    const amounts = [first, second].map((one) => (amount ? sum(one, `${sign} * ${alias}.${amount}`) : '0'));
    return `SELECT '${kind}' AS kind, ${by?.sql ?? month} AS part, ${sum(first, sign)} AS first, ${sum(second, sign)} AS second,
      ${amounts[0]} AS first_amount, ${amounts[1]} AS second_amount`;
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
    // An old one is kept behind newer ones.
    const before = at - settledMs;
    while ((this.#samples[1]?.at ?? Infinity) < before) this.#samples.shift();
  }

  async #makeBase(question: Question): Promise<Base> {
    const { scope, table, month } = this.#counted;
    const numbered = versionOf(scope);
    const [state] = await reports.select<{ epoch: string; version: string | null; watermark: string }>(
      `SELECT ${settledEpochSql} AS epoch, ${numbered.sql} AS version, COALESCE((SELECT id FROM ${table}
         WHERE created_at < NOW(3) - INTERVAL 5 MINUTE ORDER BY created_at DESC LIMIT 1), 0) AS watermark`,
      [...numbered.values],
    );
    // UNION with a constant turns unsigned columns into DECIMAL, which the driver returns as text.
    const [epoch, version] = [Number(state?.epoch), toVersion(state?.version)];
    const settled = Math.max(Number(state?.watermark), this.#settled());
    const months = month ? await monthsOf(table) : [undefined];
    const groups: Groups = new Map();
    await Promise.all(
      dealt(months).map(async (share) => {
        for (const { part, total, amount } of await this.#readShare(question, share, settled, epoch))
          if (total !== null) addTo(groups, String(part), toGroup(total, amount));
      }),
    );
    return { groups, watermark: settled, epoch, version, at: performance.now() };
  }

  /** Rows of these months as the base holds them: without those above the watermark and without the open journal. */
  // One SELECT per month in a UNION: GROUP BY period would materialise all rows in a temporary table.
  #readShare(
    { where, by, amount }: Question,
    months: (number | undefined)[],
    watermark: number,
    epoch: number,
  ): Promise<BaseRow[]> {
    const { table, alias, month, journal } = this.#counted;
    const parts: string[] = [];
    const values: SqlValue[] = [];
    const add = (part: string, count: string, sum: string, from: string, filter: Where): void => {
      parts.push(`SELECT ${by?.sql ?? part} AS part, ${count} AS total, ${amount ? sum : '0'} AS amount
        FROM ${from} ${filter.sql} ${by || part === month ? 'GROUP BY part' : ''}`);
      values.push(...(by?.values ?? []), ...filter.values);
    };
    const sum = `SUM(${alias}.${amount})`;
    for (const one of months) {
      const part = one === undefined ? `'all'` : String(one);
      const here = one === undefined ? where : where.with(`${month} = ?`, one);
      const above = here.with(`${alias}.id > ?`, watermark);
      add(part, 'COUNT(*)', sum, `${table} ${alias}`, here);
      add(part, '-COUNT(*)', `-${sum}`, `${table} ${alias} FORCE INDEX (PRIMARY)`, above);
    }
    if (journal) {
      const open = where.with(`${alias}.epoch >= ? AND ${alias}.id <= ?`, epoch, watermark);
      const here = month ? open.with(`${month} IN (?)`, months as number[]) : open;
      const signed = `-SUM(${alias}.sign * ${alias}.${amount})`;
      add(month ?? `'all'`, `-SUM(${alias}.sign)`, signed, `${journal} ${alias}`, here);
    }
    return reports.select<BaseRow>(parts.join(' UNION ALL '), values);
  }
}

const settledEpochSql = `${epochSql} - ${settledEpochs}`;
/** Never the same as another while the scope has no number. */
const toVersion = (found: string | number | null | undefined): number =>
  found === null ? NaN : Number(found);

interface Change {
  kind: 'made' | 'moved';
  part: string;
  first: Group;
  second: Group;
}

interface Changes {
  rows: Change[];
  watermark: number;
  epoch: number;
  version: number;
}

interface ChangeRow {
  kind: 'made' | 'moved' | 'state';
  part: string | number;
  first: string | number | null;
  second: string | number | null;
  first_amount: string | number;
  second_amount: string | number;
}

interface BaseRow {
  part: string | number;
  total: string | number | null;
  amount: string | number | null;
}

function toChange({ kind, part, first, second, first_amount, second_amount }: ChangeRow): Change {
  return {
    kind: kind as Change['kind'],
    part: String(part),
    first: toGroup(first, first_amount),
    second: toGroup(second, second_amount),
  };
}

function applied(base: Base, { rows, watermark, epoch, version }: Changes): { base: Base; groups: Groups } {
  const groups = new Map(base.groups);
  const settled = new Map(base.groups);
  for (const { kind, part, first, second } of rows) {
    // Rows made: below the new watermark, above it. Rows changed: since the base, of those the ones it will not hold.
    const [settles, adds] = kind === 'made' ? [first, plus(first, second)] : [minus(first, second), first];
    addTo(settled, part, settles);
    addTo(groups, part, adds);
  }
  return { groups, base: { groups: settled, watermark, epoch, version, at: performance.now() } };
}

// The months are distributed over this many concurrent statements.
const statementsAtOnce = 2;

function dealt<T>(months: T[]): T[][] {
  const shares = Array.from({ length: statementsAtOnce }, (_, share) =>
    months.filter((_, index) => index % statementsAtOnce === share),
  );
  return shares.filter((share) => share.length > 0);
}
