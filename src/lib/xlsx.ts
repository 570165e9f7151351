// Writes Office Open XML workbooks in constant memory.
import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { CellValue, Row, Style, Worksheet } from 'exceljs';
import { neutralise, type Cell, type Sheet, type SheetColumn } from './sheet.js';

/** A sheet holds 1,048,576 rows, of which the first is the head. */
const mostRows = 1_048_575;

const rowsAtOnce = 250;

/** The file as a stream; pages are asked for as fast as it is read. More rows than a sheet holds continue on another. */
export function xlsxOf(sheet: Sheet, rowsPerSheet = mostRows): Readable {
  const file = new PassThrough();
  write(sheet, rowsPerSheet, file).catch((error: unknown) => file.destroy(error as Error));
  return file;
}

async function write(
  { title, columns, pages }: Sheet,
  rowsPerSheet: number,
  file: PassThrough,
): Promise<void> {
  const { default: exceljs } = await import('exceljs');
  const workbook = new exceljs.stream.xlsx.WorkbookWriter({ stream: file, useStyles: true });
  const gone = new AbortController();
  file.once('close', () => gone.abort());
  const styles = columns.map(({ kind }) => formats[kind]);
  const values = columns.map(valueOf);
  const begin = (number: number): Worksheet => {
    const name = number === 1 ? title : `${title} ${number}`;
    const sheet = workbook.addWorksheet(name, { views: [{ state: 'frozen', ySplit: 1 }] });
    sheet.columns = columns.map(({ kind }) => ({ width: widths[kind] }));
    finish(sheet.addRow(columns.map((column) => column.title)), heads(columns.length));
    return sheet;
  };
  let sheet = begin(1);
  let written = 0;
  for await (const rows of pages) {
    for (const row of rows) {
      if (written > 0 && written % rowsPerSheet === 0) {
        sheet.commit();
        sheet = begin(written / rowsPerSheet + 1);
      }
      finish(sheet.addRow(values.map((value, column) => value(row[column + 1] as Cell))), styles);
      if (++written % rowsAtOnce === 0) await untilTaken(sheet, gone.signal);
    }
  }
  sheet.commit();
  await workbook.commit();
}

type Look = Partial<Style>;

const formats: Record<SheetColumn['kind'], Look> = {
  text: { numFmt: '@' },
  integer: { numFmt: '0' },
  amount: { numFmt: '0.00' },
  time: { numFmt: 'yyyy-mm-dd hh:mm:ss' },
};

const widths: Record<SheetColumn['kind'], number> = { text: 20, integer: 12, amount: 16, time: 20 };

const headLook: Look = { font: { bold: true } };

const heads = (count: number): Look[] => Array.from({ length: count }, () => headLook);

function valueOf({ kind, show }: SheetColumn): (cell: Cell) => CellValue {
  const shown = (cell: string | number): string | number => (show ? show(cell) : cell);
  const read: Record<SheetColumn['kind'], (cell: string | number) => CellValue> = {
    text: (cell) => clean(String(shown(cell))),
    integer: (cell) => Number(shown(cell)),
    amount: (cell) => Number(shown(cell)),
    // A spreadsheet knows no zones: the local time stands as it is.
    time: (cell) => new Date(`${String(shown(cell)).replace(' ', 'T')}Z`),
  };
  return (cell) => (cell === null ? null : read[kind](cell));
}

// Two characters that UTF-8 has and XML 1.0 has not; the writer leaves out control characters by itself.
const clean = (text: string): string => neutralise(text).replace(/[\ufffe\uffff]/g, '');

// Cells share the style objects of their columns: the writer looks every other one up in its list of styles.
function finish(row: Row, styles: Look[]): void {
  for (const [column, style] of styles.entries()) row.getCell(column + 1).style = style;
  row.commit();
}

// The writer knows no back-pressure (exceljs issue 734): what it has handed over and nobody has compressed yet says how
// far ahead it is. Its stream is of an old make that keeps this in its state only. Other work gets its turn here too.
async function untilTaken(sheet: Worksheet, signal: AbortSignal): Promise<void> {
  const [waiting] = (sheet as unknown as { stream: { pipes: OldWritable[] } }).stream.pipes;
  if (waiting?._writableState.needDrain) await once(waiting, 'drain', { signal });
  else await turn(undefined, { signal });
}

type OldWritable = Writable & { _writableState: { needDrain: boolean } };
