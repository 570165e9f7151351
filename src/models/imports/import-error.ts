// import_errors: the rows of an import that were refused, each with its reasons.
import { Op, type Transaction } from 'sequelize';
import { bulk } from '../../lib/database/db.js';
import type { Language } from '../../lib/values/language.js';
import type { ListQuery, Page } from '../../lib/input/list-query.js';
import { reasonText } from './import-reason.js';
import type { Problem, SheetColumn } from './order-sheet.js';
import { ImportProblem } from './tables.js';

export interface ImportError {
  /** As a spreadsheet shows it, the header being row 1. */
  row: number;
  /** Empty when it is about the row as a whole. */
  column: SheetColumn | '';
  /** At most 200 characters. */
  value: string;
  reason: string;
}

const pageSize = 1000;
/** Max characters stored of a refused value. */
const maxValue = 200;

/** Stores problems, which are in the order of their rows. */
export async function storeProblems(
  importId: number,
  found: readonly Problem[],
  t: Transaction,
): Promise<void> {
  for (let start = 0; start < found.length; start += pageSize) {
    const page = found.slice(start, start + pageSize);
    const rows = page.map(({ row, column, value, reason, detail = '' }, index) => ({
      import_id: importId,
      row_no: row,
      place: placeOf(found, start + index),
      field: column,
      value: value.slice(0, maxValue),
      reason,
      detail: String(detail),
    }));
    await ImportProblem.bulkCreate(rows, { transaction: t });
  }
}

/** A page of them in the order of the file. */
export async function listErrors(
  importId: number,
  { page, page_size }: Pick<ListQuery, 'page' | 'page_size'>,
  language: Language,
): Promise<Page<ImportError>> {
  const { rows, count } = await ImportProblem.findAndCountAll({
    where: { import_id: importId },
    order: inFile,
    limit: page_size,
    offset: (page - 1) * page_size,
  });
  return { list: rows.map((row) => toError(row, language)), page, page_size, total: count };
}

const inFile = ['row_no', 'place'];

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
  let last: Position = { row_no: 0, place: 0 };
  for (;;) {
    const rows = await errorsAfter(importId, last, pageSize);
    if (rows.length > 0) yield rows.map((row) => toError(row, language));
    if (rows.length < pageSize) return;
    last = rows.at(-1) as ImportProblem;
  }
}

/** Removes errors of an import, `max` of them at most. @returns whether all are gone */
export async function removeErrors(importId: number, max: number): Promise<boolean> {
  const sql = `DELETE FROM import_errors WHERE import_id = :importId LIMIT ${pageSize}`;
  for (let removed = 0; removed < max; removed += pageSize)
    if ((await bulk.change(sql, { importId })) < pageSize) return true;
  return false;
}

/** `place` is that among the problems of its row. */
type Position = Pick<ImportProblem, 'row_no' | 'place'>;

// Counted from 1 within the row.
function placeOf(problems: readonly Problem[], index: number): number {
  let place = 1;
  while (problems[index - place]?.row === problems[index]?.row) place++;
  return place;
}

function errorsAfter(importId: number, { row_no, place }: Position, count: number): Promise<ImportProblem[]> {
  const after = [{ row_no: { [Op.gt]: row_no } }, { place: { [Op.gt]: place } }];
  return ImportProblem.findAll({
    where: { import_id: importId, row_no: { [Op.gte]: row_no }, [Op.or]: after },
    order: inFile,
    limit: count,
  });
}

const toError = (
  { row_no, field, value, reason, detail }: ImportProblem,
  language: Language,
): ImportError => ({ row: row_no, column: field, value, reason: reasonText(reason, detail, language) });
