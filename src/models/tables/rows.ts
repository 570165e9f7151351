// INSERT, UPDATE and DELETE on declared tables; the compiler checks their columns and values against the classes.
import type { Attributes, CreationAttributes, Model, Transaction } from 'sequelize';
import { change, insert, type SqlValue, type Statement } from '../../lib/database/db.js';
import { declarationOf, type TableClass } from './table.js';

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

/** The INSERT of rows of the same columns. */
export function insertStatement<M extends Model>(
  table: TableClass<M>,
  rows: readonly CreationAttributes<M>[],
): Statement {
  const { name, columns } = declarationOf(table);
  const [first = {}] = rows as readonly Record<string, unknown>[];
  const names = Object.keys(first);
  const places = `(${names.map(() => '?').join(', ')})`;
  return {
    sql: `INSERT INTO ${name} (${names.join(', ')}) VALUES ${rows.map(() => places).join(', ')}`,
    values: (rows as readonly Record<string, unknown>[]).flatMap((row) =>
      names.map((column) => columns.get(column)?.write(row[column]) ?? null),
    ),
  };
}

/** The INSERT of one row if the condition holds. @param condition FROM and WHERE */
export function insertFrom<M extends Model>(
  table: TableClass<M>,
  row: CreationAttributes<M>,
  condition: Statement,
): Statement {
  const { name } = declarationOf(table);
  const [names, values] = assignments(table, row);
  return {
    sql: `INSERT INTO ${name} (${names.join(', ')}) SELECT ${names.map(() => '?').join(', ')} ${condition.sql}`,
    values: [...values, ...condition.values],
  };
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
