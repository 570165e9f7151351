// Pages of lists over month partitions: a deep page reads only its own months.
import { reports, select, type SqlValue } from '../../lib/database/db.js';
import { narrowSteps, type AmountSteps } from './amount-steps.js';
import { narrowed, type Part } from './part.js';
import {
  orderSql,
  pageSql,
  toPage,
  type ListQuery,
  type Order,
  type Page,
  type Where,
} from '../../lib/input/list-query.js';

/** Matching rows by month (YYYYMM). */
export type Months = ReadonlyMap<number, number>;

/** What a page is read from, and how its rows are made. */
export interface MonthlyList<T extends { id: number }> {
  table: string;
  /** The alias that filters use for the table. */
  alias: string;
  /** The rows that `tail` (WHERE, ORDER BY and LIMIT) selects. */
  rows(this: void, tail: string, values: SqlValue[]): Promise<T[]>;
}

/** So many first rows of a list without filters, newest or oldest first, are read as they come. */
const shortRead = 1000;

/** So many rows that a search inside texts has found are kept by their keys. */
const fewFound = 2000;

/** What a page may ask for beyond the months. */
export interface Known {
  /** Which rows match; asked for when a search inside texts finds few of them, instead of searching again. */
  matching?(): Promise<Key[]>;
  /** How many rows match in each step of amounts; asked for when a page sorted by amount lies deep. */
  steps?(): Promise<AmountSteps>;
}

/**
 * The requested page, with its total.
 *
 * @param months how many rows match in each month
 */
export async function monthlyPage<T extends { id: number }>(
  list: MonthlyList<T>,
  where: Where,
  asked: ListQuery,
  months: Months,
  known: Known = {},
): Promise<Page<T>> {
  const query = { ...asked, order_by: inIndexOrder(asked.order_by) };
  const total = [...months.values()].reduce((sum, rows) => sum + rows, 0);
  if (known.matching && where.isSearch && total > 0 && total <= fewFound)
    return toPage(query, await foundRows(list, where, query, await known.matching()), total);
  const isPlain = where.values.length === 0 && query.order_by[0]?.field === 'id';
  const isShort = isPlain && query.page * query.page_size <= shortRead;
  const found = isShort
    ? await list.rows(`${where.sql} ${pageSql(query, list.alias)}`, where.values)
    : await rowsOf(list, where, await pageKeys(list, where, query, months, known));
  return toPage(query, found, total);
}

// Equal rows are sorted by id in the direction of the last column, as in an index.
function inIndexOrder(orders: Order[]): Order[] {
  const direction = orders.at(-1)?.direction ?? 'DESC';
  return orders.some(({ field }) => field === 'id') ? orders : [...orders, { field: 'id', direction }];
}

// Filtered again: a row may have changed since its key was read.
async function rowsOf<T extends { id: number }>(
  { alias, rows }: MonthlyList<T>,
  where: Where,
  keys: Key[],
): Promise<T[]> {
  if (keys.length === 0) return [];
  const months = [...new Set(keys.map(({ period }) => period))];
  const ids = keys.map(({ id }) => id);
  const matching = where.with(`${alias}.id IN (?) AND ${alias}.period IN (?)`, ids, months);
  const found = await rows(matching.sql, matching.values);
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

export interface Key {
  id: number;
  period: number;
}

/** The page among rows whose keys are known. */
function foundRows<T extends { id: number }>(
  list: MonthlyList<T>,
  where: Where,
  query: ListQuery,
  keys: readonly Key[],
): Promise<T[]> {
  const { alias, rows } = list;
  const [order] = query.order_by;
  const offset = (query.page - 1) * query.page_size;
  if (order?.field === 'id') {
    const sign = order.direction === 'DESC' ? -1 : 1;
    const sorted = keys.toSorted((one, other) => sign * (one.id - other.id));
    return rowsOf(list, where, sorted.slice(offset, offset + query.page_size));
  }
  if (keys.length === 0) return Promise.resolve([]);
  const months = [...new Set(keys.map(({ period }) => period))];
  const ids = keys.map(({ id }) => id);
  const found = where.with(`${alias}.id IN (?) AND ${alias}.period IN (?)`, ids, months);
  return rows(`${found.sql} ${pageSql(query, alias)}`, found.values);
}

/** So many rows before a page, and behind it, are passed over quicker than all are counted by amount. */
const maxPassed = 10_000;

const isDeep = ({ matching, offset, size }: Span): boolean =>
  Math.min(offset, matching - offset - size) > maxPassed;

/** Some months, in which `matching` rows match, and the page among those. */
interface Span extends Part {
  months: number[];
}

interface Source {
  table: string;
  alias: string;
}

// The counts per month give the months of a page sorted by time. Ids are only roughly chronological around a month boundary;
// a page that is affected is read from all months.
async function pageKeys(
  source: Source,
  where: Where,
  query: ListQuery,
  months: Months,
  known: Known,
): Promise<Key[]> {
  const everywhere = wholeSpan(months, query);
  if (everywhere.size <= 0) return [];
  const [order] = query.order_by;
  if (order?.field === 'amount' && known.steps && isDeep(everywhere)) {
    const { between, part } = narrowSteps(await known.steps(), everywhere, query, source.alias);
    const among = where.with(between.sql, ...between.values);
    return readKeys(source, among, query, { ...everywhere, ...part });
  }
  if (order?.field === 'created_at') return readKeys(source, where, query, narrowSpan(months, query));
  if (order?.field !== 'id') return readKeys(source, where, query, everywhere);
  const span = narrowSpan(months, query);
  const keys = await readKeys(source, where, query, span);
  return (await hasIntruder(source, where, keys, span)) ? readKeys(source, where, query, everywhere) : keys;
}

function wholeSpan(months: Months, { page, page_size }: ListQuery): Span {
  const matching = [...months.values()].reduce((sum, rows) => sum + rows, 0);
  const offset = (page - 1) * page_size;
  return { months: [...months.keys()], matching, offset, size: Math.min(page_size, matching - offset) };
}

function narrowSpan(months: Months, query: ListQuery): Span {
  const isDescending = query.order_by[0]?.direction === 'DESC';
  const ordered = [...months].sort(([one], [other]) => (isDescending ? other - one : one - other));
  const { touched, part } = narrowed(ordered, wholeSpan(months, query));
  return { months: touched, ...part };
}

// Reads keys from an index alone where one fits; a page past the middle is read from the other end.
async function readKeys(
  { table, alias }: Source,
  where: Where,
  query: ListQuery,
  span: Span,
): Promise<Key[]> {
  const behind = span.matching - span.offset - span.size;
  const isReversed = behind < span.offset;
  const { sql, values } = where.with(`${alias}.period IN (?)`, span.months);
  const keys = await reports.select<Key>(
    `SELECT ${alias}.id, ${alias}.period FROM ${table} ${alias} ${sql}
     ${orderSql(query, alias, isReversed)} LIMIT ${span.size} OFFSET ${isReversed ? behind : span.offset}`,
    values,
  );
  return isReversed ? keys.reverse() : keys;
}

/** Whether a matching row of another month belongs between these or on their other side. */
async function hasIntruder(
  { table, alias }: Source,
  where: Where,
  keys: Key[],
  { months }: Span,
): Promise<boolean> {
  // The counted rows were deleted meanwhile.
  if (keys.length === 0) return false;
  const ids = keys.map(({ id }) => id);
  const older = where.with(`${alias}.period < ? AND ${alias}.id > ?`, Math.min(...months), Math.min(...ids));
  const newer = where.with(`${alias}.period > ? AND ${alias}.id < ?`, Math.max(...months), Math.max(...ids));
  const from = `SELECT 1 FROM ${table} ${alias} FORCE INDEX (PRIMARY)`;
  const [row] = await select<{ found: number }>(
    `SELECT EXISTS (${from} ${older.sql}) OR EXISTS (${from} ${newer.sql}) AS found`,
    [...older.values, ...newer.values],
  );
  return row?.found === 1;
}
