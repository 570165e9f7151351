// Filters that follow from a class: its `.filtered()` columns under their own names, texts by a part, others
// by their value.
import Joi from 'joi';
import type { Where } from '../../lib/input/list-query.js';
import { id, textFilter } from '../../lib/input/schema.js';
import type { ColumnType } from './column.js';
import { declarationOf, type TableClass } from './table.js';

/** The schemas of these filters. */
export const filtersOf = (table: TableClass): Record<string, Joi.Schema> =>
  Object.fromEntries(filteredColumns(table).map(([name, type]) => [name, schemaOf(type)]));

/** Adds the conditions of the filters that were given. */
export function addFilters(where: Where, table: TableClass, alias: string, criteria: object): Where {
  for (const [name, { is }] of filteredColumns(table)) {
    const value = (criteria as Record<string, string | number | boolean | undefined>)[name];
    const column = `${alias}.${name}`;
    if (is.kind !== 'text' || is.values) where.equals(column, value);
    else if (is.isAscii) where.containsAscii(column, value as string | undefined);
    else where.contains(column, value as string | undefined);
  }
  return where;
}

const filteredColumns = (table: TableClass): [string, ColumnType<unknown>][] =>
  [...declarationOf(table).columns].filter(([, { is }]) => is.isFiltered);

function schemaOf({ is }: ColumnType<unknown>): Joi.Schema {
  if (is.values) return (typeof is.values[0] === 'string' ? Joi.string() : Joi.number()).valid(...is.values);
  if (is.kind === 'boolean') return Joi.boolean();
  if (is.kind === 'integer') return id();
  const [, max = ''] = /\((\d+)\)/.exec(is.sqlType) ?? [];
  return textFilter(Number(max));
}
