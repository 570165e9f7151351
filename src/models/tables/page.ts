// Pages of lists: the keys of a page come from an index, then its rows by their keys, in one statement.
import type { SqlValue } from '../../lib/database/db.js';
import {
  orderSql,
  toPage,
  type ListQuery,
  type Page,
  type Sort,
  type Where,
} from '../../lib/input/list-query.js';
import { count } from './count.js';
import { isPartitioned } from './partitions.js';

/** Reads the rows that the tail of a SELECT leaves, in its order. @param tail more joins, WHERE, ORDER BY */
type ReadRows<T> = (tail: string, values: SqlValue[]) => Promise<T[]>;

/** Up to this offset a page is read while the rows are counted, without knowing which end is nearer. */
const maxReadAhead = 1000;

/**
 * The requested page and the total.
 *
 * @param from the table with the alias that the condition uses: `orders o`
 * @param where conditions on that table only
 */
export async function listPage<T>(
  from: string,
  rows: ReadRows<T>,
  where: Where,
  query: ListQuery,
): Promise<Page<T>> {
  const read = (offset: number, size: number, isReversed = false): Promise<T[]> =>
    rows(tailOf(from, where, query, isReversed, `LIMIT ${size} OFFSET ${offset}`), where.values);
  const offset = (query.page - 1) * query.page_size;
  if (offset <= maxReadAhead) {
    const [total, list] = await Promise.all([count(from, where), read(offset, query.page_size)]);
    // A page that is not full is the last one and says the total itself, however old the count is.
    const isLast = list.length < query.page_size && (list.length > 0 || offset === 0);
    return toPage(query, list, isLast ? offset + list.length : total);
  }
  const total = await count(from, where);
  const size = Math.min(query.page_size, total - offset);
  if (size <= 0) return toPage(query, [], total);
  const behind = total - offset - size;
  return toPage(query, behind < offset ? await read(behind, size, true) : await read(offset, size), total);
}

function tailOf(from: string, where: Where, asked: ListQuery, isReversed: boolean, limit: string): string {
  const [table, alias] = from.split(' ') as [string, string];
  const isLong = isPartitioned(table);
  const query = isLong ? { ...asked, order_by: inIndexOrder(asked.order_by) } : asked;
  const key = isLong ? ['id', 'period'] : ['id'];
  const columns = key.map((name) => `${alias}.${name}`).join(', ');
  const found = key.map((name) => `${alias}.${name} = page_keys.${name}`).join(' AND ');
  const keys = `SELECT ${columns} FROM ${from} ${where.sql} ${orderSql(query, alias, isReversed)} ${limit}`;
  return `JOIN (${keys}) page_keys ON ${found} ${orderSql(query, alias)}`;
}

// In long lists equal rows follow their ids in the direction of the last column, as in an index.
function inIndexOrder(sorts: Sort[]): Sort[] {
  const direction = sorts.at(-1)?.direction ?? 'DESC';
  return sorts.some(({ field }) => field === 'id') ? sorts : [...sorts, { field: 'id', direction }];
}
