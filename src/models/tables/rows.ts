// INSERT and UPDATE of the paid path as plain statements, without what Sequelize's instances cost; the
// compiler checks columns and values against the classes.
import type { Attributes, CreationAttributes, Model, Transaction } from 'sequelize';
import { change, insert, select, type SqlValue } from '../../lib/database/db.js';
import type { Where } from '../../lib/input/list-query.js';
import { declarationOf, type TableClass } from './table.js';

/** INSERT of one row. @returns its generated id, 0 when there is none */
export function insertRow<M extends Model>(
  table: TableClass<M>,
  row: CreationAttributes<M>,
  t?: Transaction,
): Promise<number> {
  const { sql, values } = insertSql(table, [row]);
  return insert(sql, values, t);
}

/** The INSERT of rows of the same columns, to which a caller may add a clause. */
export function insertSql<M extends Model>(
  table: TableClass<M>,
  rows: readonly CreationAttributes<M>[],
): { sql: string; values: SqlValue[] } {
  const { name, columns } = declarationOf(table);
  const given = rows as readonly Record<string, unknown>[];
  const names = Object.keys(given[0] ?? {}).filter((column) => given[0]?.[column] !== undefined);
  const places = `(${names.map(() => '?').join(', ')})`;
  return {
    sql: `INSERT INTO ${name} (${names.join(', ')}) VALUES ${given.map(() => places).join(', ')}`,
    values: given.flatMap((row) => names.map((column) => columns.get(column)?.write(row[column]) ?? null)),
  };
}

/**
 * Locks the rows that match until the end of the transaction.
 *
 * @param base the table with its alias, such as `orders o`
 */
export async function lockRows(base: string, where: Where, t: Transaction): Promise<void> {
  await select(`SELECT 1 FROM ${base} ${where.sql} FOR UPDATE`, where.values, t);
}

/** UPDATE of the rows whose columns have those values. @returns how many changed */
export function updateRows<M extends Model>(
  table: TableClass<M>,
  changes: Partial<Attributes<M>>,
  where: Partial<Attributes<M>>,
  t?: Transaction,
): Promise<number> {
  const { name, columns } = declarationOf(table);
  const write = ([column, value]: [string, unknown]): SqlValue => columns.get(column)?.write(value) ?? null;
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const sought = Object.entries(where);
  const sets = given.map(([column]) => `${column} = ?`).join(', ');
  const condition = sought.map(([column]) => `${column} = ?`).join(' AND ');
  return change(`UPDATE ${name} SET ${sets} WHERE ${condition}`, [...given, ...sought].map(write), t);
}
