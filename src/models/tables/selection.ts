// SELECTs over declared tables; their columns and result types follow from the classes.
import type { Attributes, Model, Transaction } from 'sequelize';
import { select, type Database, type SqlValue, type Statement } from '../../lib/database/db.js';
import { pageSql, toPage, type ListQuery, type Page, type Where } from '../../lib/input/list-query.js';
import type { Plain, ValueKind } from './column.js';
import { declarationOf, type Listed, type TableClass } from './table.js';

/** An expression of a select list, and how the driver's value becomes ours. */
export interface Expression<V> {
  sql: string;
  /** Of a declared column. */
  kind?: ValueKind;
  read?: (stored: unknown) => unknown;
  /** Only its type is used. */
  gives?: V;
}

/** The columns of a row that a LEFT JOIN may not find. */
export interface Joined<L> {
  /** The first one is never null in the table. */
  joined: L;
}

export interface SelectList {
  [name: string]: Expression<unknown> | Joined<SelectList>;
}

/** What a select list gives. */
export type RowOf<L> = {
  -readonly [K in keyof L]: L[K] extends Joined<infer J>
    ? RowOf<J> | null
    : L[K] extends Expression<infer V>
      ? Plain<V>
      : never;
};

type Columns<T> = { [K in keyof T]-?: Expression<T[K]> };

/** The columns of a table under an alias: those named, or all but those that must be named. */
export function columnsOf<M extends Model>(table: TableClass<M>, alias: string): Columns<Listed<M>>;
export function columnsOf<M extends Model, K extends keyof Attributes<M>>(
  table: TableClass<M>,
  alias: string,
  ...names: K[]
): Columns<Pick<Attributes<M>, K>>;
export function columnsOf(table: TableClass, alias: string, ...names: string[]): object {
  const { columns } = declarationOf(table);
  const listed = [...columns].flatMap(([name, { is }]) => (is.unlisted ? [] : [name]));
  return Object.fromEntries(
    (names.length > 0 ? names : listed).map((name) => {
      const { kind, read } = columns.get(name)?.is ?? {};
      return [name, { sql: `${alias}.${name}`, kind, read }];
    }),
  );
}

/** Those columns as a record of its own, null where the LEFT JOIN found no row. */
export const joined = <L extends SelectList>(list: L): Joined<L> => ({ joined: list });

/** An expression with an explicit type. */
export const computed = <V>(sql: string, read?: (stored: unknown) => V): Expression<V> => ({ sql, read });

/** Its sum over the rows, zero over none. */
export const sumOf = <V>({ sql, read }: Expression<V>): Expression<V> => ({
  sql: `COALESCE(SUM(${sql}), 0)`,
  read,
});

interface Place {
  name: string;
  read: ((stored: unknown) => unknown) | undefined;
  parts: Place[] | undefined;
}

/** Where a statement runs. */
export interface Run {
  t?: Transaction;
  on?: Pick<Database, 'select'>;
}

/** A SELECT of a list, to which each use adds its conditions. */
export class Selection<R extends object, S extends object = R> {
  readonly #sql: string;
  readonly #base: string;
  readonly #alias: string;
  readonly #places: Place[];
  readonly #isPlain: boolean;
  readonly #toRecord: ((row: S) => R) | undefined;

  constructor(list: SelectList, base: string, joins: string, toRecord?: (row: S) => R) {
    const shown: string[] = [];
    this.#places = placesOf(list, '', shown);
    this.#isPlain = this.#places.every(({ read, parts }) => !read && !parts);
    this.#sql = `SELECT ${shown.join(', ')} FROM ${base} ${joins}`;
    this.#base = base;
    this.#toRecord = toRecord;
    this.#alias = base.split(' ').at(-1) ?? base;
  }

  /** The rows that the tail leaves, in its order. @param tail WHERE, ORDER BY, LIMIT */
  where({ sql, values }: Statement, run: Run = {}): Promise<R[]> {
    return this.rows(sql, [...values], run);
  }

  /** The first of them. */
  async one(tail: Statement, run: Run = {}): Promise<R | undefined> {
    return (await this.where(tail, run))[0];
  }

  /** As `where`, with `?` places. */
  async rows(tail: string, values: SqlValue[] = [], { t, on }: Run = {}): Promise<R[]> {
    const sql = `${this.#sql} ${tail}`;
    const rows = await (on ? on.select<Stored>(sql, values, t) : select<Stored>(sql, values, t));
    const read = (this.#isPlain ? rows : rows.map((row) => record(this.#places, row, ''))) as S[];
    return this.#toRecord ? read.map(this.#toRecord) : (read as object[] as R[]);
  }

  /** The first of them. */
  async first(tail: string, values: SqlValue[] = [], run: Run = {}): Promise<R | undefined> {
    return (await this.rows(tail, values, run))[0];
  }

  /** A page of a short list, counted each time. @param where conditions on the first table only */
  async page(query: ListQuery, where: Where): Promise<Page<R>> {
    const [rows, [count]] = await Promise.all([
      this.rows(`${where.sql} ${pageSql(query, this.#alias)}`, where.values),
      select<{ total: number }>(`SELECT COUNT(*) AS total FROM ${this.#base} ${where.sql}`, where.values),
    ]);
    return toPage(query, rows, count?.total ?? 0);
  }
}

/**
 * @param base the table with its alias, such as `orders o`
 * @param joins the tables that are joined to it, one row each at most
 */
export const selection = <L extends SelectList>(list: L, base: string, joins = ''): Selection<RowOf<L>> =>
  new Selection<RowOf<L>>(list, base, joins);

/** As `selection`, where each row becomes what `toRecord` makes of it. */
export const selectionOf = <L extends SelectList, R extends object>(
  toRecord: (row: RowOf<L>) => R,
  list: L,
  base: string,
  joins = '',
): Selection<R, RowOf<L>> => new Selection<R, RowOf<L>>(list, base, joins, toRecord);

type Stored = Record<string, unknown>;

function placesOf(list: SelectList, prefix: string, shown: string[]): Place[] {
  return Object.entries(list).map(([name, entry]) => {
    if ('joined' in entry) {
      const parts = placesOf(entry.joined, `${prefix}${name}.`, shown);
      return { name, read: undefined, parts };
    }
    shown.push(
      entry.sql.endsWith(`.${name}`) && !prefix ? entry.sql : `${entry.sql} AS \`${prefix}${name}\``,
    );
    return { name, read: entry.read, parts: undefined };
  });
}

function record(places: readonly Place[], row: Stored, prefix: string): Stored {
  const made: Stored = {};
  for (const { name, read, parts } of places) {
    if (parts) made[name] = joinedRecord(parts, row, `${prefix}${name}.`);
    else {
      const stored = row[prefix + name];
      made[name] = read && stored !== null ? read(stored) : stored;
    }
  }
  return made;
}

function joinedRecord(parts: readonly Place[], row: Stored, prefix: string): Stored | null {
  return row[prefix + (parts[0]?.name ?? '')] === null ? null : record(parts, row, prefix);
}
