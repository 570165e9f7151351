// Writes CSV (RFC 4180) as spreadsheet programs read it: UTF-8 with a byte order mark, CRLF.
import { Readable } from 'node:stream';
import { neutralise, type Cell, type Sheet, type SheetColumn } from './sheet.js';

/** What a file begins with, so that spreadsheet programs take it for UTF-8. */
export const byteOrderMark = '\ufeff';

/** One line with its end; texts are neutralised, numbers stay bare. */
export function csvLine(cells: readonly (string | number)[]): string {
  return `${cells.map((cell) => (typeof cell === 'number' ? cell : field(cell))).join(',')}\r\n`;
}

/** The file as a stream; pages are asked for as fast as it is read. */
export function csvOf(sheet: Sheet): Readable {
  return Readable.from(parts(sheet), { objectMode: false });
}

async function* parts({ columns, pages }: Sheet): AsyncGenerator<Buffer> {
  const write = columns.map(fieldWriter);
  yield Buffer.from(byteOrderMark + csvLine(columns.map(({ title }) => title)));
  for await (const rows of pages) {
    let text = '';
    for (const row of rows) {
      text += (write[0] as FieldWriter)(row[1] as Cell);
      for (let column = 1; column < write.length; column++)
        text += `,${(write[column] as FieldWriter)(row[column + 1] as Cell)}`;
      text += '\r\n';
    }
    yield Buffer.from(text);
  }
}

type FieldWriter = (cell: Cell) => string | number;

// Numbers and times stay bare: -5.00 is no formula, and no time needs quotes.
function fieldWriter({ kind, show }: SheetColumn): FieldWriter {
  if (kind !== 'text') return (cell) => (cell === null ? '' : show ? show(cell) : cell);
  return (cell) => (cell === null ? '' : field(String(show ? show(cell) : cell)));
}

const special = /^\s*[=+\-@＝＋－＠]|["\r\n\t,]/;

// Most texts need no care, which one look tells.
function field(text: string): string {
  if (!special.test(text)) return text;
  const harmless = neutralise(text);
  return /["\r\n,]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless;
}
