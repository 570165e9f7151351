// The error file of an import: the rows that were not imported, as in its file, each with the reasons in one
// more column. Corrected, it is a file to import.
//
// The rows are read from the imported file, which is stored as long as their problems. So an import writes
// nothing for it, and it has each row once, however often the import was interrupted.
import { Readable } from 'node:stream';
import { byteOrderMark, csvLine } from '../../lib/sheets/csv.js';
import { isBlank, readCsv, type CsvBlock } from '../../lib/sheets/csv-source.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import { fill, say, type Language } from '../../lib/values/language.js';
import { storage } from '../../lib/storage/index.js';
import { FileMissing } from '../../lib/storage/storage.js';
import { allErrors } from './import-error.js';
import { Import } from './tables.js';
import { columnHead, isReasonHead, layoutOf, reasonHead } from './order-sheet.js';

/** Characters of a cell. No column takes as many, so a row with a longer cell stays refused until it is corrected. */
const maxCell = 1000;
/**
 * Cells without a column. They and those above leave room for the reasons within the longest record that can
 * be read.
 */
const maxSurplus = 5;

/** Opens the error file of an import, a CSV that is made while it is read. @throws import_errors_missing */
export async function openErrorFile(importId: number, language: Language): Promise<Readable> {
  const source = await Import.findByPk(importId);
  if (!source?.storage_key) fail('import_errors_missing');
  const { storage_key, failed_count, encoding, delimiter } = source;
  const content = await contentOf(storage_key);
  const file = Readable.from(
    linesOf(readCsv(content, { encoding, delimiter }), refusedRows(importId, language), failed_count),
  );
  // The client may have disconnected before the first line.
  return file.once('close', () => content.destroy());
}

async function contentOf(key: string): Promise<Readable> {
  try {
    return await (await storage()).get(key);
  } catch (error) {
    throw error instanceof FileMissing ? new AppError('import_errors_missing', { cause: error }) : error;
  }
}

interface RefusedRow {
  row: number;
  reason: string;
}

/** Goes through the file and its refused rows side by side; both are in the order of the file. */
async function* linesOf(
  blocks: AsyncIterable<CsvBlock>,
  refused: AsyncGenerator<RefusedRow>,
  expected: number,
): AsyncGenerator<string> {
  let writer: LineWriter | undefined;
  let found = 0;
  let next = await refused.next();
  for await (const { row, records } of blocks) {
    let text = '';
    for (const [index, record] of records.entries()) {
      if (!writer && !isBlank(record)) {
        writer = new LineWriter(record);
        text += byteOrderMark + writer.head;
      } else if (writer && !next.done && next.value.row === row + index) {
        text += writer.line(record, next.value.reason);
        found++;
        next = await refused.next();
      }
    }
    if (text !== '') yield text;
    if (next.done) break;
  }
  // A download that breaks off is better than one that silently lacks rows.
  if (found < expected) throw new Error('rows of an import have gone while its error file was read');
}

async function* refusedRows(importId: number, language: Language): AsyncGenerator<RefusedRow> {
  let row = 0;
  let problems: string[] = [];
  const refused = (): RefusedRow => ({ row, reason: reasonOf(row, problems, language) });
  for await (const errors of allErrors(importId, language)) {
    for (const error of errors) {
      if (error.row !== row && problems.length > 0) yield refused();
      if (error.row !== row) [row, problems] = [error.row, []];
      const head = error.column && columnHead(error.column, language);
      problems.push(head ? fill(say(problemText, language), { head, reason: error.reason }) : error.reason);
    }
  }
  if (problems.length > 0) yield refused();
}

// Reasons name rows of the imported file, so each starts with its own row number there.
function reasonOf(row: number, problems: string[], language: Language): string {
  return fill(say(rowText, language), { row, problems: problems.join(say(separator, language)) });
}

const rowText = { zh: '第 {row} 行。{problems}', en: 'Row {row}. {problems}' };
const problemText = { zh: '{head}：{reason}', en: '{head}: {reason}' };
const separator = { zh: '；', en: '; ' };

/** Writes rows under the header of their file, reasons as the last column; those of an earlier error file are left out. */
class LineWriter {
  readonly head: string;
  readonly #width: number;
  readonly #kept: number[];

  constructor(head: readonly string[]) {
    this.#width = layoutOf(head).width;
    this.#kept = [...Array(this.#width).keys()].filter((place) => !isReasonHead(head[place] as string));
    this.head = csvLine([...this.#kept.map((place) => head[place] as string), reasonHead]);
  }

  // Surplus cells stay, after the last column: without them the row would pass when imported again.
  line(record: readonly string[], reason: string): string {
    const surplus = record.slice(this.#width).filter((cell) => cell.trim() !== '');
    const cells = this.#kept.map((place) => bounded(record[place] ?? ''));
    return csvLine([...cells, reason, ...surplus.slice(0, maxSurplus).map(bounded)]);
  }
}

// The `…` keeps the cell too long, so that the row is refused until it is corrected.
function bounded(cell: string): string {
  if (cell.length <= maxCell) return cell;
  const text = cell.trim();
  return text.length > maxCell ? `${text.slice(0, maxCell)}…` : text;
}
