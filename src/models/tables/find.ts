// Lists of small tables, as Sequelize reads them: the conditions of filters, and pages. Lists of long tables: page.ts.
import {
  literal,
  Op,
  type Attributes,
  type FindAttributeOptions,
  type FindOptions,
  type Model,
  type Transaction,
} from 'sequelize';
import type { ModelStatic, Utils, WhereOptions } from 'sequelize';
import {
  escapeLike,
  isAscii,
  rangeOf,
  toPage,
  type ListQuery,
  type Page,
  type TimeRange,
} from '../../lib/input/list-query.js';
import { listed, type Listed } from './table.js';

/**
 * A page of the rows that `findAll` would find, as records, and how many there are.
 *
 * @param shown for columns that are not shown as they are stored: what to sort by instead
 */
export async function findPage<M extends Model, R>(
  model: ModelStatic<M>,
  query: ListQuery,
  options: FindOptions<Attributes<M>>,
  toRecord: (row: M) => R,
  shown: Record<string, () => Utils.Literal> = {},
): Promise<Page<R>> {
  const { page, page_size, order_by } = query;
  // The key makes the order of equal rows deterministic.
  const order = [...order_by, { field: 'id', direction: 'DESC' }].map(
    ({ field, direction }): [string | Utils.Literal, string] => [shown[field]?.() ?? field, direction],
  );
  const paging = { order, limit: page_size, offset: (page - 1) * page_size };
  const { rows, count } = await model.findAndCountAll({ ...options, ...paging, distinct: true });
  return toPage(query, rows.map(toRecord), count);
}

/** Locks a row until the end of the transaction; without one nothing is locked. */
export async function lockRow<M extends Model>(
  model: ModelStatic<M>,
  id: number,
  transaction?: Transaction,
): Promise<void> {
  if (transaction) await model.findByPk(id, { attributes: ['id'], transaction, lock: true });
}

/** The conditions whose filters were given. */
export function matching<M extends Model>(conditions: {
  [K in keyof Attributes<M>]?: Attributes<M>[K] | object | undefined;
}): WhereOptions<Attributes<M>> {
  const given = Object.entries(conditions).filter(([, value]) => value !== undefined && value !== '');
  return Object.fromEntries(given) as WhereOptions<Attributes<M>>;
}

/** A literal part of the text: `%`, `_` and `\` are escaped. */
export const containing = (part: string | undefined): object | undefined =>
  part ? { [Op.like]: `%${escapeLike(part)}%` } : undefined;

/** That text, in an ASCII column, which cannot be compared with other characters: those match nothing. */
export const equalAscii = (text: string | undefined): string | object | undefined =>
  isAscii(text) ? text : { [Op.in]: [] };

/** As `containing`, for an ASCII column, which cannot be compared with other characters: those match nothing. */
export const containingAscii = (part: string | undefined): object | undefined =>
  isAscii(part) ? containing(part) : { [Op.in]: [] };

/** start_time and end_time (or their aliases). */
export function during(query: TimeRange): object | undefined {
  const [from, to] = rangeOf(query);
  if (!from && !to) return undefined;
  return { ...(from && { [Op.gte]: from }), ...(to && { [Op.lte]: to }) };
}

/**
 * A scope for `withUse`, which reads whether one of these has a row:
 * `departments c WHERE c.parent_id = Department.id`.
 */
export function inUse(...rows: string[]): { attributes: FindAttributeOptions } {
  const found = rows.map((row) => `EXISTS (SELECT 1 FROM ${row})`).join(' OR ');
  return { attributes: { include: [[literal(`(${found})`), 'in_use']] } };
}

/**
 * The listed columns of a row that such a scope has read, and whether it is in use, which keeps it from being
 * deleted.
 */
export const withUse = <M extends Model>(row: M): Listed<M> & { in_use: boolean } => ({
  ...listed(row),
  in_use: row.get('in_use') === 1,
});
