// Plain SQL over declared tables: what a SELECT names and an INSERT or UPDATE sets is checked against the classes.
import type { Attributes, CreationAttributes, Model, Transaction } from 'sequelize';
import { change, insert, select, type Database, type SqlValue } from '../../lib/db.js';
import { pageSql, toPage, type ListQuery, type Page, type Where } from '../../lib/list-query.js';
import type { ValueKind } from './column.js';
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
      const { kind, read } = columns.get(name)?.is ?? {};
      return [name, { sql: `${alias}.${name}`, kind, read }];
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

  /** The rows that `tail` leaves, in its order. @param tail WHERE, ORDER BY, LIMIT */
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

/** INSERT of one row. @returns its generated id, 0 when there is none */
export function insertRow<M extends Model>(
  table: TableClass<M>,
  row: CreationAttributes<M>,
  t?: Transaction,
): Promise<number> {
  const [sql, values] = insertSql(table, row);
  return insert(`INSERT INTO ${sql}`, values, t);
}

/** As `insertRow`, unless a unique key has the row already. @returns its generated id, 0 when it was not made */
export function insertMissing<M extends Model>(
  table: TableClass<M>,
  row: CreationAttributes<M>,
  t?: Transaction,
): Promise<number> {
  const [sql, values] = insertSql(table, row);
  return insert(`INSERT IGNORE INTO ${sql}`, values, t);
}

function insertSql(table: TableClass, row: object): [string, SqlValue[]] {
  const { name } = declarationOf(table);
  const [names, values] = assignments(table, row);
  return [`${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`, values];
}

/** A number that an UPDATE adds to what the column holds. */
export class Raise {
  readonly by: number;

  constructor(by: number) {
    this.by = by;
  }
}

export const raisedBy = (by: number): Raise => new Raise(by);

/** What an UPDATE sets; what is undefined stays as it is. */
export type Changes<M extends Model> = {
  [K in keyof Attributes<M>]?:
    Attributes<M>[K] | (Attributes<M>[K] extends number ? Raise : never) | undefined;
};

/** UPDATE of the rows whose columns have those values; a list of values means one of them. @returns how many changed */
export function updateRows<M extends Model>(
  table: TableClass<M>,
  changes: Changes<M>,
  where: Having<M>,
  t?: Transaction,
): Promise<number> {
  const { name } = declarationOf(table);
  const given = Object.entries(changes as Record<string, unknown>);
  const raised = given.flatMap(([column, value]) =>
    value instanceof Raise ? [[column, value.by] as const] : [],
  );
  const [names, values] = assignments(
    table,
    Object.fromEntries(given.filter(([, value]) => !(value instanceof Raise))),
  );
  values.push(...raised.map(([, by]) => by));
  const [condition, sought] = conditions(where);
  const sets = [
    ...names.map((column) => `${column} = ?`),
    ...raised.map(([column]) => `${column} = ${column} + ?`),
  ].join(', ');
  return change(`UPDATE ${name} SET ${sets} WHERE ${condition}`, [...values, ...sought], t);
}

/** DELETE of the rows whose columns have those values, as `updateRows` takes them. @returns how many there were */
export function deleteRows<M extends Model>(
  table: TableClass<M>,
  where: Having<M>,
  t?: Transaction,
): Promise<number> {
  const [condition, values] = conditions(where);
  return change(`DELETE FROM ${declarationOf(table).name} WHERE ${condition}`, values, t);
}

/** Values that columns must have; a list means one of them. */
type Having<M extends Model> = {
  [K in keyof Attributes<M>]?: Attributes<M>[K] | readonly Attributes<M>[K][];
};

function conditions(where: object): [string, SqlValue[]] {
  const values: SqlValue[] = [];
  const terms = (Object.entries(where) as [string, SqlValue][]).map(([column, value]) => {
    if (value === null) return `${column} IS NULL`;
    values.push(value);
    return `${column} ${Array.isArray(value) ? 'IN (?)' : '= ?'}`;
  });
  return [terms.join(' AND '), values];
}

/** The columns of a row that are given, and their values as a statement takes them. */
function assignments(table: TableClass, row: object): [string[], SqlValue[]] {
  const { columns } = declarationOf(table);
  const given = Object.entries(row).filter(([, value]) => value !== undefined);
  return [given.map(([name]) => name), given.map(([name, value]) => columns.get(name)?.write(value) ?? null)];
}
