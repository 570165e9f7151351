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
  const writers = columns.map(fieldWriter);
  yield Buffer.from(byteOrderMark + csvLine(columns.map(({ title }) => title)));
  for await (const rows of pages) {
    let text = '';
    for (const row of rows) {
      for (let column = 0; column < writers.length; column++) {
        if (column > 0) text += ',';
        // NULL is an empty cell.
        const cell = row[column + 1] as Cell;
        if (cell !== null) text += (writers[column] as FieldWriter)(cell);
      }
      text += '\r\n';
      if (text.length < blockLength) continue;
      yield Buffer.from(text);
      text = '';
    }
    if (text !== '') yield Buffer.from(text);
  }
}

type FieldWriter = (cell: string | number) => string | number;

// Numbers and times are unquoted: -5.00 is no formula. Texts of few values are checked once.
function fieldWriter({ kind, show }: SheetColumn): FieldWriter {
  if (kind !== 'text') return show ?? ((cell) => cell);
  if (!show) return (cell) => field(String(cell));
  const fields = new Map<string | number, string>();
  return (cell) => {
    const known = fields.get(cell);
    if (known !== undefined) return known;
    const written = field(String(show(cell)));
    if (fields.size < maxFields) fields.set(cell, written);
    return written;
  };
}

const maxFields = 100;

const special = /^\s*[=+\-@＝＋－＠]|["\r\n\t,]/;

// A quick test: most texts need no quoting.
function field(text: string): string {
  if (!special.test(text)) return text;
  const harmless = neutralise(text);
  return /["\r\n,]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
