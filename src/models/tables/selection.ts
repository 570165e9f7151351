// Plain SELECTs for lists of long tables and the paid path; columns and result types follow from the classes.
import type { Attributes, Model, Transaction } from 'sequelize';
import { reports, select, type Database, type SqlValues } from '../../lib/database/db.js';
import type { ListQuery, Page, Where } from '../../lib/input/list-query.js';
import type { Text } from '../../lib/values/language.js';
import type { Money } from '../../lib/values/money.js';
import type { Plain, ValueKind } from './column.js';
import { listPage } from './page.js';
import { declarationOf, type Listed, type TableClass } from './table.js';

/** An expression of a select list, and how the driver's value becomes ours. */
export interface Expression<V> {
  sql: string;
  /** Of a declared column. */
  kind?: ValueKind;
  title?: Text;
  read?: (stored: unknown) => unknown;
  /** Only its type is used. */
  gives?: V;
}

/** The columns of a row that a LEFT JOIN may not find. */
interface Joined<L> {
  /** The first one is never null in the table. */
  joined: L;
}

interface SelectList {
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
      const { kind, title, read } = columns.get(name)?.is ?? {};
      return [name, { sql: `${alias}.${name}`, kind, title, read }];
    }),
  );
}

/** Those columns as a nested record, null where the LEFT JOIN found no row. */
export const joined = <L extends SelectList>(list: L): Joined<L> => ({ joined: list });

/** An expression with an explicit type. */
export const computed = <V>(sql: string, read?: (stored: unknown) => V): Expression<V> => ({ sql, read });

/** Its sum over the rows, zero over none. */
export const sumOf = <V>({ sql, read }: Expression<V>): Expression<V> => ({
  sql: `COALESCE(SUM(${sql}), 0)`,
  read,
});

/** How a value of a row is read. */
interface Field {
  name: string;
  read: ((stored: unknown) => unknown) | undefined;
  /** The fields of a joined record. */
  fields: Field[] | undefined;
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
  readonly #fields: Field[];

  constructor(list: SelectList, base: string, joins: string) {
    const columns: string[] = [];
    this.#fields = fieldsOf(list, '', columns);
    this.#sql = `SELECT ${columns.join(', ')} FROM ${base} ${joins}`;
    this.#base = base;
  }

  /** The rows that the tail leaves, in its order. @param tail WHERE, ORDER BY, LIMIT */
  async rows(tail: string, values: SqlValues = [], { t, on }: Run = {}): Promise<R[]> {
    const sql = `${this.#sql} ${tail}`;
    const rows = await (on ? on.select<Stored>(sql, values, t) : select<Stored>(sql, values, t));
    return rows.map((row) => record(this.#fields, row, '')) as R[];
  }

  /** The first of them. */
  async first(tail: string, values: SqlValues = [], run: Run = {}): Promise<R | undefined> {
    return (await this.rows(tail, values, run))[0];
  }

  /** A page of the list. @param where conditions on the first table only */
  page(query: ListQuery, where: Where): Promise<Page<R>> {
    return listPage(this.#base, (tail, values) => this.rows(tail, values, { on: reports }), where, query);
  }
}

/**
 * @param base the table with its alias, such as `orders o`
 * @param joins the tables that are joined to it, one row each at most
 */
export const selection = <L extends SelectList>(list: L, base: string, joins = ''): Selection<RowOf<L>> =>
  new Selection<RowOf<L>>(list, base, joins);

/** The sum of an amount over the rows that match. */
export async function sumWhere(
  amount: Expression<Money>,
  base: string,
  where: Where,
): Promise<Money | undefined> {
  return (await selection({ sum: sumOf(amount) }, base).first(where.sql, where.values, { on: reports }))?.sum;
}

type Stored = Record<string, unknown>;

function fieldsOf(list: SelectList, prefix: string, columns: string[]): Field[] {
  return Object.entries(list).map(([name, entry]) => {
    if ('joined' in entry) {
      return { name, read: undefined, fields: fieldsOf(entry.joined, `${prefix}${name}.`, columns) };
    }
    columns.push(
      entry.sql.endsWith(`.${name}`) && !prefix ? entry.sql : `${entry.sql} AS \`${prefix}${name}\``,
    );
    return { name, read: entry.read, fields: undefined };
  });
}

function record(fields: readonly Field[], row: Stored, prefix: string): Stored {
  const made: Stored = {};
  for (const { name, read, fields: own } of fields) {
    const stored = row[prefix + name];
    if (own) made[name] = joinedRecord(own, row, `${prefix}${name}.`);
    else made[name] = read && stored !== null ? read(stored) : stored;
  }
  return made;
}

function joinedRecord(fields: readonly Field[], row: Stored, prefix: string): Stored | null {
  return row[prefix + (fields[0]?.name ?? '')] === null ? null : record(fields, row, prefix);
}
