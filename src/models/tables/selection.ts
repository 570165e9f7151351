// Plain SQL over declared tables: what a SELECT names and an INSERT or UPDATE sets is checked against the classes.
import type { Attributes, CreationAttributes, Model, Transaction } from 'sequelize';
import { change, insert, select, type Database, type SqlValue } from '../../lib/db.js';
import { pageSql, toPage, type ListQuery, type Page, type Where } from '../../lib/list-query.js';
import { declarationOf, type Listed, type TableClass } from './table.js';

/** An expression of a select list, and how the driver's value becomes ours. */
export interface Expression<V> {
  sql: string;
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
      ? V
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
      const sql = `${alias}.${name}`;
      return [name, { sql, read: columns.get(name)?.is.read }];
    }),
  );
}

/** Those columns as a record of its own, null where the LEFT JOIN found no row. */
export const joined = <L extends SelectList>(list: L): Joined<L> => ({ joined: list });

/** An expression whose type the compiler has to be told. */
export const computed = <V>(sql: string, read?: (stored: unknown) => V): Expression<V> => ({ sql, read });

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
export class Selection<R extends object> {
  readonly #sql: string;
  readonly #base: string;
  readonly #alias: string;
  readonly #places: Place[];
  readonly #isPlain: boolean;

  constructor(list: SelectList, base: string, joins: string) {
    const shown: string[] = [];
    this.#places = placesOf(list, '', shown);
    this.#isPlain = this.#places.every(({ read, parts }) => !read && !parts);
    this.#sql = `SELECT ${shown.join(', ')} FROM ${base} ${joins}`;
    this.#base = base;
    this.#alias = base.split(' ').at(-1) ?? base;
  }

  /** The rows that `tail` leaves, in its order. @param tail WHERE, ORDER BY, LIMIT */
  async rows(tail: string, values: SqlValue[] = [], { t, on }: Run = {}): Promise<R[]> {
    const sql = `${this.#sql} ${tail}`;
    const rows = await (on ? on.select<Stored>(sql, values, t) : select<Stored>(sql, values, t));
    return (this.#isPlain ? rows : rows.map((row) => record(this.#places, row, ''))) as R[];
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

/** INSERT of one row. @returns its generated id, 0 when there is none */
export function insertRow<M extends Model>(
  table: TableClass<M>,
  row: CreationAttributes<M>,
  t?: Transaction,
): Promise<number> {
  const { name } = declarationOf(table);
  const [names, values] = assignments(table, row);
  const places = names.map(() => '?').join(', ');
  return insert(`INSERT INTO ${name} (${names.join(', ')}) VALUES (${places})`, values, t);
}

/** UPDATE of the rows whose columns have those values; a list of values means one of them. @returns how many changed */
export function updateRows<M extends Model>(
  table: TableClass<M>,
  changes: Partial<Attributes<M>>,
  where: { [K in keyof Attributes<M>]?: Attributes<M>[K] | readonly Attributes<M>[K][] },
  t?: Transaction,
): Promise<number> {
  const { name } = declarationOf(table);
  const [names, values] = assignments(table, changes);
  const terms: string[] = [];
  for (const [column, value] of Object.entries(where) as [string, SqlValue][]) {
    terms.push(value === null ? `${column} IS NULL` : `${column} ${Array.isArray(value) ? 'IN (?)' : '= ?'}`);
    if (value !== null) values.push(value);
  }
  const sets = names.map((column) => `${column} = ?`).join(', ');
  return change(`UPDATE ${name} SET ${sets} WHERE ${terms.join(' AND ')}`, values, t);
}

/** The columns of a row that are given, and their values as a statement takes them. */
function assignments(table: TableClass, row: object): [string[], SqlValue[]] {
  const { columns } = declarationOf(table);
  const given = Object.entries(row).filter(([, value]) => value !== undefined);
  return [given.map(([name]) => name), given.map(([name, value]) => columns.get(name)?.write(value) ?? null)];
}
