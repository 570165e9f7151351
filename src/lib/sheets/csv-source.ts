// Reads CSV files of unknown origin (RFC 4180 and the variants of spreadsheets) as streams of any size.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { TextDecoder } from 'node:util';
import { fail } from '../errors/app-error.js';

const delimiters = [',', ';', '\t'] as const;

export interface CsvFormat {
  /** GBK is read as its superset GB 18030; UTF-16 requires a byte order mark. */
  encoding: 'utf-8' | 'gb18030' | 'utf-16le' | 'utf-16be';
  delimiter: (typeof delimiters)[number];
}

/** Consecutive records of the file. */
export interface CsvBlock {
  /** Row of the first record as a spreadsheet shows it, from 1; quoted line breaks do not count, blank lines do. */
  row: number;
  records: string[][];
}

/** The records end within a quoted cell, or a record has no end. */
export class CsvBroken extends Error {
  /** Start of the broken record. */
  readonly row: number;

  constructor(row: number) {
    super(`no record can be read from row ${row} on`);
    this.row = row;
  }
}

const maxHead = 64 * 1024;
const maxRecord = 64 * 1024;
/** Limits the cells of a row: outside quotes a record ends with its line. */
const maxLine = 1024 * 1024;
const blockSize = 100;

/**
 * Detects how a file must be read by scanning it once.
 *
 * @throws import_not_csv, import_encoding_unknown, import_line_too_long
 */
export async function formatOf(path: string): Promise<CsvFormat> {
  const head = await firstBytes(path);
  const marked = markedEncoding(head);
  for (const encoding of marked ? [marked] : (['utf-8', 'gb18030'] as const)) {
    if (await isWrittenIn(path, encoding)) return { encoding, delimiter: delimiterOf(head, encoding) };
  }
  return fail('import_encoding_unknown', { field: 'file' });
}

/** The records of a file, including blank lines. Cells are unchanged texts. @throws CsvBroken */
export async function* readCsv(
  content: Readable,
  { encoding, delimiter }: CsvFormat,
): AsyncGenerator<CsvBlock> {
  const { parse, CsvError } = await import('csv-parse');
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: maxRecord,
  });
  // An error in the content also ends the parser, and so the loop below.
  pipeline(encoding === 'utf-8' ? content : decoded(content, encoding), parser, () => undefined);
  let row = 1;
  let records: string[][] = [];
  try {
    for await (const record of parser as AsyncIterable<string[]>) {
      if (record.some(isUnclosed)) throw new CsvBroken(row + records.length);
      records.push(record);
      if (records.length < blockSize) continue;
      yield { row, records };
      row += records.length;
      records = [];
    }
    yield { row, records };
  } catch (error) {
    // By the parser's own count: its read-ahead is lost.
    if (error instanceof CsvError) throw new CsvBroken(Number(error.records) + 1);
    throw error;
  } finally {
    parser.destroy();
  }
}

// The parser takes a cell whose quote is not closed cleanly as it stands, up to the next quote: that may be
// rows away. More of the cell follows that quote in its line; a text that only begins with a quote is sound.
function isUnclosed(cell: string): boolean {
  if (!cell.startsWith('"')) return false;
  const lastLine = Math.max(cell.lastIndexOf('\n'), cell.lastIndexOf('\r'));
  return lastLine > 0 && /"[^"]/.test(cell.slice(lastLine));
}

/** Whether a record is a blank line or has only empty cells. */
export const isBlank = (record: readonly string[]): boolean => record.every((cell) => cell.trim() === '');

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(maxHead), 0, maxHead, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function markedEncoding(head: Buffer): CsvFormat['encoding'] | undefined {
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) return 'utf-8';
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  return head[0] === 0xfe && head[1] === 0xff ? 'utf-16be' : undefined;
}

async function isWrittenIn(path: string, encoding: CsvFormat['encoding']): Promise<boolean> {
  // Keeps the first bytes of a character until the rest arrives with the next chunk.
  const decoder = new TextDecoder(encoding, { fatal: true });
  let lineLength = 0;
  for await (const bytes of createReadStream(path) as AsyncIterable<Buffer>) {
    if (!encoding.startsWith('utf-16') && bytes.includes(0)) fail('import_not_csv', { field: 'file' });
    const text = decodeOrRefuse(decoder, bytes);
    if (text === undefined) return false;
    if (text.includes('\0')) fail('import_not_csv', { field: 'file' });
    lineLength = unfinishedLine(text, lineLength);
  }
  return decodeOrRefuse(decoder) !== undefined;
}

function decodeOrRefuse(decoder: TextDecoder, bytes?: Buffer): string | undefined {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch {
    return undefined;
  }
}

/** @returns length of the unfinished last line */
function unfinishedLine(text: string, before: number): number {
  const lines = text.split(/[\r\n]/).map(({ length }) => length);
  lines[0] = (lines[0] ?? 0) + before;
  if (lines.some((length) => length > maxLine)) fail('import_line_too_long', { field: 'file' });
  return lines.at(-1) ?? 0;
}

// The most frequent one in the first line, quoted or not: column names contain none of them.
function delimiterOf(head: Buffer, encoding: CsvFormat['encoding']): CsvFormat['delimiter'] {
  const text = new TextDecoder(encoding).decode(head, { stream: true });
  const line = text.trimStart().split(/[\r\n]/, 1)[0] ?? '';
  const occurrences = (delimiter: string): number => line.split(delimiter).length;
  return delimiters.reduce((best, one) => (occurrences(one) > occurrences(best) ? one : best));
}

async function* decoded(content: Readable, encoding: CsvFormat['encoding']): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding);
  for await (const chunk of content) {
    const text = decoder.decode(chunk as Buffer, { stream: true });
    if (text !== '') yield text;
  }
  const rest = decoder.decode();
  if (rest !== '') yield rest;
}
