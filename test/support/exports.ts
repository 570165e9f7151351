// Requests exports, and reads their files with independent readers.
import { parse } from 'csv-parse/sync';
import type { Client } from './client.js';
import { until } from './until.js';

/** Asks for an export. @returns its id @throws Error when it is refused */
export async function askExport(
  caller: Client,
  path: string,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<number> {
  const { status, text, data } = await caller.post(`${path}/export`, body, headers);
  if (status !== 200) throw new Error(`an export was refused: ${text}`);
  return data.export_id as number;
}

/** The record of an export that has ended. */
interface EndedExport {
  id: number;
  status: number;
  filename: string;
  error_msg: string | null;
  size: number;
  total_rows: number;
  admin: { username: string };
  finished_at: string;
  expires_at: string;
}

export const endOf = (caller: Client, id: number): Promise<EndedExport> =>
  until(async () => {
    const { data } = await caller.get(`/exports/${id}`);
    return data.status === 0 ? undefined : (data as EndedExport);
  }, 30_000);

/** The file of an export, when it is there. */
export async function fileOf(caller: Client, id: number): Promise<Buffer> {
  const record = await endOf(caller, id);
  if (record.status !== 1) throw new Error(`the export failed: ${record.error_msg}`);
  const { status, bytes } = await caller.download(`/exports/${id}/download`);
  if (status !== 200 || bytes.length !== record.size) throw new Error(`the file came with ${status}`);
  return bytes;
}

/** The rows of a CSV file, its head first. @throws Error unless it starts with a byte order mark and all are as wide */
export function readCsv(bytes: Buffer, mayDiffer = false): string[][] {
  if (bytes.subarray(0, 3).toString('hex') !== 'efbbbf') throw new Error('there is no byte order mark');
  return parse(bytes, { bom: true, record_delimiter: '\r\n', relax_column_count: mayDiffer });
}

/** Asks, waits and reads. */
export async function exportedCsv(
  caller: Client,
  path: string,
  body: object = {},
  headers: Record<string, string> = {},
): Promise<string[][]> {
  return readCsv(await fileOf(caller, await askExport(caller, path, body, headers)));
}

/** Rows as records by the names in the head. */
export const byHead = <V>([head = [], ...rows]: V[][]): Record<string, V | undefined>[] =>
  rows.map((row) => Object.fromEntries(head.map((name, at) => [String(name), row[at]])));

/** The sheets of a workbook: name and rows of values, the head first. */
export async function readXlsx(bytes: Buffer): Promise<{ name: string; rows: unknown[][] }[]> {
  // Large, and most files that import this read no workbook.
  const { default: exceljs } = await import('exceljs');
  const workbook = new exceljs.Workbook();
  await workbook.xlsx.load(bytes as unknown as ArrayBuffer);
  return workbook.worksheets.map((sheet) => ({
    name: sheet.name,
    rows: Array.from({ length: sheet.rowCount }, (_, index) =>
      Array.from({ length: sheet.columnCount }, (_, column) => sheet.getCell(index + 1, column + 1).value),
    ),
  }));
}
