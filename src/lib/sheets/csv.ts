// Writes CSV (RFC 4180) for spreadsheet programs: UTF-8 with a byte order mark, CRLF.
import { Readable } from 'node:stream';
import { neutralise, type Cell, type Sheet, type SheetColumn } from './sheet.js';

/** The byte order mark, by which spreadsheet programs recognise UTF-8. */
export const byteOrderMark = '\ufeff';

/** Characters that are handed on together. */
const blockLength = 500_000;

/** One line with its line end; texts are neutralised, numbers are unquoted. */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => (typeof cell === 'number' ? cell : field(cell))).join(',')}\r\n`;
}

/** The file as a stream; pages are requested as fast as it is read. */
export function csvOf(sheet: Sheet): Readable {
  return Readable.from(parts(sheet), { objectMode: false });
}

async function* parts({ columns, pages }: Sheet): AsyncGenerator<Buffer> {
  yield Buffer.from(byteOrderMark + csvLine(columns.map(({ title }) => title)));
  for await (const rows of pages) {
    let text = '';
    for (const row of rows) {
      text += `${columns.map((column, index) => cellOf(column, row[index + 1] as Cell)).join(',')}\r\n`;
      if (text.length < blockLength) continue;
      yield Buffer.from(text);
      text = '';
    }
    if (text !== '') yield Buffer.from(text);
  }
}

// NULL is an empty cell. Numbers and times are unquoted: -5.00 is no formula.
function cellOf({ kind, show }: SheetColumn, cell: Cell): string | number {
  if (cell === null) return '';
  const shown = show ? show(cell) : cell;
  return kind === 'text' ? field(String(shown)) : shown;
}

const special = /^\s*[=+\-@＝＋－＠]|["\r\n\t,]/;

// A quick test: most texts need no quoting.
function field(text: string): string {
  if (!special.test(text)) return text;
  const harmless = neutralise(text);
  return /["\r\n,]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
