// How the rows of an export are read: month by month, page after page by key, from one snapshot.
import type Joi from 'joi';
import { say, type Language, type Text } from '../../lib/values/language.js';
import type { Where } from '../../lib/input/list-query.js';
import type { Cell, SheetColumn } from '../../lib/sheets/sheet.js';
import { localTimes } from '../../lib/values/time.js';
import type { Snapshot } from './snapshot.js';

export interface SourceColumn {
  title: Text;
  sql: string;
  kind: SheetColumn['kind'];
  /** Texts of a column with few values. */
  texts?: Readonly<Record<string, Text>>;
  /** A cell that has a value, in that language. */
  show?: (cell: string, language: Language) => string;
}

/** What one type of export consists of. */
export interface SheetSource<C> {
  title: Text;
  /** The records with their alias, such as `orders o`. */
  table: string;
  /** Column of the key and, of a table partitioned by month, of the month. */
  key: string;
  month?: string;
  columns: readonly SourceColumn[];
  /** Of the list, without its time range. */
  filters: Record<string, Joi.Schema>;
  where(criteria: C): Where | Promise<Where>;
  /** Whether the filters leave so few records that an index of their own beats reading all in the order of the keys. */
  isNarrow?(criteria: C): boolean;
  /** The LEFT JOINs that the columns need. */
  joins?: string;
  /** The order of the rows of a record that has several. */
  lines?: string;
}

/**
 * Records of a page: few enough to be answered at once, many enough that the pause between two pages does not
 * count.
 */
const maxRecords = 2000;
/** Rows of a page where a record has several, at most 200: two pages are in memory. */
const maxRows = 6000;

/** Columns as the reader sees them: headers and texts in that language, times in that zone, which their headers name. */
export function columnsFor(
  source: Pick<SheetSource<never>, 'columns'>,
  language: Language,
  zone: string | undefined,
): SheetColumn[] {
  const local = localTimes(zone);
  return source.columns.map(({ title, kind, texts, show }) => {
    const name = say(title, language);
    if (kind === 'time')
      return { title: `${name} (${zone ?? 'UTC'})`, kind, show: (cell) => local(String(cell)) };
    if (show) return { title: name, kind, show: (cell) => show(String(cell), language) };
    if (!texts) return { title: name, kind };
    const shown = new Map(Object.entries(texts).map(([value, text]) => [value, say(text, language)]));
    return { title: name, kind, show: (cell) => shown.get(String(cell)) ?? cell };
  });
}

export interface SheetPage {
  /** Each row starts with the key of its record. */
  rows: Cell[][];
  records: number;
}

/** How many records there are, and their pages, oldest first. */
export async function readSheet<C>(
  source: SheetSource<C>,
  criteria: C,
  snapshot: Snapshot,
): Promise<{ total: number; pages: AsyncGenerator<SheetPage> }> {
  const where = await source.where(criteria);
  const rows = await snapshot.rows(
    `SELECT ${source.month ?? 'NULL'}, COUNT(*) FROM ${source.table} ${where.sql} GROUP BY 1 ORDER BY 1`,
    where.values,
  );
  const parts = rows.map(([month, records]) => ({ month: month ?? null, records: Number(records) }));
  const total = parts.reduce((sum, { records }) => sum + records, 0);
  return { total, pages: readPages(source, criteria, where, parts, snapshot) };
}

// The next page is on its way while one is used.
async function* readPages<C>(
  source: SheetSource<C>,
  criteria: C,
  where: Where,
  parts: readonly { month: Cell; records: number }[],
  snapshot: Snapshot,
): AsyncGenerator<SheetPage> {
  for (const { month, records: expected } of parts) {
    let size = maxRecords;
    const read = (after: number): Promise<Cell[][]> => {
      const sql = pageSql(source, criteria, where, size);
      const page = snapshot.rows(sql, [...where.values, ...(month === null ? [] : [month]), after]);
      // A reader that stops does not see the page that is being read.
      page.catch(() => undefined);
      return page;
    };
    let seen = 0;
    let next = expected > 0 ? read(0) : undefined;
    while (next) {
      const found = await next;
      const isCut = source.lines !== undefined && found.length === maxRows;
      const rows = isCut ? withoutLast(found) : found;
      const records = countRecords(rows);
      seen += records;
      const isLast = (!isCut && records < size) || seen >= expected;
      // The next records are probably as long.
      size = isCut ? records : Math.min(2 * size, maxRecords);
      next = isLast ? undefined : read(Number(rows.at(-1)?.[0]));
      yield { rows, records };
    }
  }
}

function pageSql<C>(source: SheetSource<C>, criteria: C, where: Where, size: number): string {
  const { table, key, month, joins = '', lines } = source;
  const columns = [key, ...source.columns.map(({ sql }) => sql)].join(', ');
  const after = `${month ? `${month} = ? AND ` : ''}${key} > ?`;
  // Any other index would have its keys sorted again for every page.
  const records = source.isNarrow?.(criteria) ? table : `${table} FORCE INDEX (PRIMARY)`;
  const page = `${where.sql ? `${where.sql} AND` : 'WHERE'} ${after} ORDER BY ${key} LIMIT ${size}`;
  if (!lines) return `SELECT ${columns} FROM ${records} ${joins} ${page}`;
  const alias = table.split(' ')[1];
  return `SELECT ${columns} FROM (SELECT ${alias}.* FROM ${records} ${page}) ${alias} ${joins}
    ORDER BY ${key}, ${lines} LIMIT ${maxRows}`;
}

/** Without the last record, which may have more rows. */
function withoutLast(rows: Cell[][]): Cell[][] {
  const last = rows.at(-1)?.[0];
  return rows.slice(
    0,
    rows.findIndex(([key]) => key === last),
  );
}

// The rows of one record follow each other.
function countRecords(rows: Cell[][]): number {
  let count = 0;
  let key: Cell | undefined;
  for (const [own] of rows) {
    if (own === key) continue;
    key = own;
    count++;
  }
  return count;
}
