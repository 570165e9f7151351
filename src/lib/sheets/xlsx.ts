// Writes Office Open XML workbooks in constant memory.
import { once } from 'node:events';
import { PassThrough, type Readable, type Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import type { CellValue, Row, Style, Worksheet } from 'exceljs';
import { neutralise, type Cell, type Sheet, type SheetColumn } from './sheet.js';

/** Max 1,048,576 rows per sheet, including the header. */
const maxRows = 1_048_575;

/** About one chunk of the compressor. */
const rowsAtOnce = 50;

/** Max bytes the writer may be ahead of the compressor. */
const maxWaiting = 256 * 1024;

/**
 * The file as a stream; pages are requested as fast as it is read. Rows beyond the limit of a sheet continue on
 * another.
 */
export function xlsxOf(sheet: Sheet, rowsPerSheet = maxRows): Readable {
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
  const shown = columns.map((column, index) => ({
    cell: index + 1,
    value: valueOf(column),
    style: formats[column.kind],
  }));
  const begin = (number: number): Worksheet => {
    const name = number === 1 ? title : `${title} ${number}`;
    const sheet = workbook.addWorksheet(name, { views: [{ state: 'frozen', ySplit: 1 }] });
    sheet.columns = columns.map(({ kind }) => ({ width: widths[kind] }));
    const head = newRow(sheet);
    for (const [index, { title }] of columns.entries()) put(head, index + 1, title, headLook);
    head.commit();
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
      const line = newRow(sheet);
      for (const { cell, value, style } of shown) {
        const given = row[cell] as Cell;
        if (given !== null) put(line, cell, value(given), style);
      }
      line.commit();
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

const rowLook: Look = {};

const headLook: Look = { font: { bold: true } };

function valueOf({ kind, show }: SheetColumn): (cell: string | number) => CellValue {
  const shown = (cell: string | number): string | number => (show ? show(cell) : cell);
  const read: Record<SheetColumn['kind'], (cell: string | number) => CellValue> = {
    text: (cell) => clean(String(shown(cell))),
    integer: (cell) => Number(shown(cell)),
    amount: (cell) => Number(shown(cell)),
    // Spreadsheets have no zones, so the local time is stored.
    time: (cell) => new Date(`${String(shown(cell)).replace(' ', 'T')}Z`),
  };
  return read[kind];
}

// Two characters valid in UTF-8 but not in XML 1.0; the writer removes control characters itself.
const clean = (text: string): string => neutralise(text).replace(/[\ufffe\uffff]/g, '');

// Rows and columns share style objects, because the writer looks up every other one in its list.
function newRow(sheet: Worksheet): Row {
  const row = sheet.addRow([]) as Row & { style: Look };
  row.style = rowLook;
  return row;
}

function put(row: Row, column: number, value: CellValue, style: Look): void {
  const cell = row.getCell(column);
  cell.value = value;
  cell.style = style;
}

// The writer has no back-pressure (exceljs issue 734), so the bytes not yet compressed are measured. Its legacy
// stream exposes them only in its state. Other work gets its turn here too.
async function untilTaken(sheet: Worksheet, signal: AbortSignal): Promise<void> {
  const [waiting] = (sheet as unknown as { stream: { pipes: OldWritable[] } }).stream.pipes;
  if (waiting && waiting._writableState.length > maxWaiting) await once(waiting, 'drain', { signal });
  else await turn(undefined, { signal });
}

type OldWritable = Writable & { _writableState: { length: number } };
