// import_errors: the rows of an import that were refused, each with its reasons.
import type { Transaction } from 'sequelize';
import { bulk, change, type SqlValue } from '../../lib/database/db.js';
import type { Language } from '../../lib/language.js';
import type { ListQuery, Page } from '../../lib/input/list-query.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import { reasonText } from './import-reason.js';
import type { Problem, SheetColumn } from './order-sheet.js';
import { ImportProblem } from './tables.js';
import { execute, over } from '../tables/sql.js';

export interface ImportError {
  /** As a spreadsheet shows it, the head being row 1. */
  row: number;
  /** Empty when it is about the row as a whole. */
  column: SheetColumn | '';
  /** At most 200 characters. */
  value: string;
  reason: string;
}

const pageSize = 1000;

/** Keeps problems, which are in the order of their rows. */
export async function keepProblems(
  importId: number,
  found: readonly Problem[],
  t: Transaction,
): Promise<void> {
  for (let start = 0; start < found.length; start += pageSize) {
    const page = found.slice(start, start + pageSize);
    await change(
      `INSERT INTO import_errors (import_id, row_no, place, field, value, reason, detail)
       VALUES ${page.map(() => '(?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
      page.flatMap((problem, index) => valuesOf(importId, problem, placeOf(found, start + index))),
      t,
    );
  }
}

/** A page of them in the order of the file. */
export async function listErrors(
  importId: number,
  { page, page_size }: Pick<ListQuery, 'page' | 'page_size'>,
  language: Language,
): Promise<Page<ImportError>> {
  const [rows, total] = await Promise.all([
    problems.where(
      sql('WHERE e.import_id = :importId ORDER BY e.row_no, e.place LIMIT :page_size OFFSET :passed', {
        importId,
        page_size,
        passed: (page - 1) * page_size,
      }),
    ),
    ImportProblem.count({ where: { import_id: importId } }),
  ]);
  return { list: rows.map((row) => toError(row, language)), page, page_size, total };
}

/** The first ones in the order of the file. */
export async function firstErrors(
  importId: number,
  count: number,
  language: Language,
): Promise<ImportError[]> {
  const rows = await errorsAfter(importId, { row_no: 0, place: 0 }, count);
  return rows.map((row) => toError(row, language));
}

/** All of them in the order of the file, read page by page. */
export async function* allErrors(importId: number, language: Language): AsyncGenerator<ImportError[]> {
  let last: Place = { row_no: 0, place: 0 };
  for (;;) {
    const rows = await errorsAfter(importId, last, pageSize);
    if (rows.length > 0) yield rows.map((row) => toError(row, language));
    if (rows.length < pageSize) return;
    last = rows.at(-1) as ErrorRow;
  }
}

/** Removes errors of an import, at most `most` of them. @returns whether all are gone */
export async function removeErrors(importId: number, most: number): Promise<boolean> {
  for (let removed = 0; removed < most; removed += pageSize) {
    const batch = sql('DELETE FROM import_errors WHERE import_id = :importId LIMIT :pageSize', {
      importId,
      pageSize,
    });
    if ((await execute(batch, { on: bulk })) < pageSize) return true;
  }
  return false;
}

const columns = columnsOf(ImportProblem, 'e', 'row_no', 'place', 'field', 'value', 'reason', 'detail');
const problems = selection(columns, 'import_errors e');
const sql = over({ 'import_errors e': ImportProblem, import_errors: ImportProblem });

type ErrorRow = RowOf<typeof columns>;

/** `place` is that among the problems of its row. */
type Place = Pick<ErrorRow, 'row_no' | 'place'>;

function valuesOf(
  importId: number,
  { row, column, value, reason, detail = '' }: Problem,
  place: number,
): SqlValue[] {
  return [importId, row, place, column, value, reason, String(detail)];
}

// Counted from 1 within the row.
function placeOf(problems: readonly Problem[], index: number): number {
  let place = 1;
  while (problems[index - place]?.row === problems[index]?.row) place++;
  return place;
}

function errorsAfter(importId: number, { row_no, place }: Place, count: number): Promise<ErrorRow[]> {
  return problems.where(
    sql(
      `WHERE e.import_id = :importId AND e.row_no >= :row_no AND (e.row_no > :row_no OR e.place > :place)
       ORDER BY e.row_no, e.place LIMIT :count`,
      { importId, row_no, place, count },
    ),
  );
}

function toError({ row_no, field, value, reason, detail }: ErrorRow, language: Language): ImportError {
  return { row: row_no, column: field, value, reason: reasonText(reason, detail, language) };
}
