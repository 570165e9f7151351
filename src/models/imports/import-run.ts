// Imports orders from a CSV file: every order once, however often its job is killed, repeated or run twice at
// the same time.
//
// The orders of a file come in a fixed sequence (order-gathering.ts), and imports.position counts the rows
// that are done. A batch advances the position if it is still where the batch begins, in the transaction
// that makes its orders: so of two runs one writes a batch and the other finds the position moved and stops.
import { CsvBroken, readCsv, type CsvBlock } from '../../lib/sheets/csv-source.js';
import { AppError } from '../../lib/errors/app-error.js';
import { say } from '../../lib/values/language.js';
import { announce } from '../../lib/redis/changes.js';
import { storage } from '../../lib/storage/index.js';
import { FileMissing, whole, type Storage } from '../../lib/storage/storage.js';
import { deliverProgress } from '../office/transfer.js';
import { endImport, type ImportEnd } from './import-end.js';
import { maxRows, storeTotal } from './import-progress.js';
import type { OrderDraft } from './order-draft.js';
import { gather, survey } from './order-gathering.js';
import { writeBatch } from './import-batch.js';
import { Import } from './tables.js';

const batchRows = 1000;
const frameEveryMs = 500;
/** Every open list of orders reloads. */
const announceEveryMs = 60_000;

/** Works on an import until it has ended, or another run is found to work on it. */
export async function runImport(id: number, signal: AbortSignal): Promise<void> {
  const work = await Import.findByPk(id);
  if (work?.status === 0) await run(work, signal);
}

async function run(work: Import, signal: AbortSignal): Promise<void> {
  const files = await storage();
  const read = (): AsyncIterable<CsvBlock> => blocksOf(files, work, signal);
  try {
    const known = await survey(read, maxRows);
    if (known.rows > maxRows) {
      await endImport(work.id, { status: 2, error: 'import_too_many_rows' });
      return;
    }
    await storeTotal(work.id, known.rows);
    const unnamed = say({ zh: '导入订单', en: 'Imported order' }, work.language);
    const isWhole = await writeAll(work, known.rows, gather(read, known, unnamed), signal);
    if (isWhole && !(await endImport(work.id, { status: 1 }))) await assertEnded(work.id);
  } catch (error) {
    const end = finalEnd(error);
    if (!end) throw error;
    await endImport(work.id, end);
  }
}

async function* blocksOf(
  files: Storage,
  { storage_key, size, encoding, delimiter }: Import,
  signal: AbortSignal,
): AsyncGenerator<CsvBlock> {
  if (storage_key === null) throw new FileMissing('the import has no file');
  for await (const block of readCsv(whole(await files.get(storage_key), size), { encoding, delimiter })) {
    signal.throwIfAborted();
    yield block;
  }
}

/** Writes the orders after the position, a batch while the next one is read. @returns false when it was overtaken */
async function writeAll(
  work: Import,
  total: number,
  orders: AsyncIterable<OrderDraft[]>,
  signal: AbortSignal,
): Promise<boolean> {
  const report = reporter(work);
  let from = work.position;
  let written = Promise.resolve(true);
  try {
    for await (const { drafts, rows } of batches(orders, work.position)) {
      if (!(await written)) return false;
      signal.throwIfAborted();
      await report(percent(from, total));
      written = writeBatch(work, drafts, { from, rows, progress: percent(from + rows, total) });
      // The next turn awaits it and throws its failure, which is not unhandled until then.
      written.catch(() => undefined);
      from += rows;
    }
    return await written;
  } finally {
    // A next run that began earlier would see the position move, and take that for the work of another run.
    await written.catch(() => undefined);
  }
}

interface Batch {
  drafts: OrderDraft[];
  rows: number;
}

async function* batches(orders: AsyncIterable<OrderDraft[]>, position: number): AsyncGenerator<Batch> {
  let toSkip = position;
  let batch: Batch = { drafts: [], rows: 0 };
  for await (const drafts of orders) {
    for (const draft of drafts) {
      if (toSkip > 0) {
        toSkip -= draft.rows.length;
        continue;
      }
      batch.drafts.push(draft);
      batch.rows += draft.rows.length;
      if (batch.rows < batchRows) continue;
      yield batch;
      batch = { drafts: [], rows: 0 };
    }
  }
  if (batch.rows > 0) yield batch;
}

/** Throttled progress frames and list invalidation. */
function reporter({ id, admin_id, dry_run }: Import): (progress: number) => Promise<void> {
  let deliveredAt = 0;
  let announcedAt = Date.now();
  return async (progress) => {
    const at = Date.now();
    if (at - deliveredAt >= frameEveryMs) {
      deliveredAt = at;
      await deliverProgress('import', { id, admin_id, status: 0, progress });
    }
    if (dry_run || at - announcedAt < announceEveryMs) return;
    announcedAt = at;
    announce(['orders']);
  };
}

// 100 is the end's.
const percent = (rows: number, total: number): number => Math.min(99, Math.floor((rows * 100) / total));

async function assertEnded(id: number): Promise<void> {
  const work = await Import.findByPk(id);
  if (work?.status === 0) throw new Error(`import ${id} ended at row ${work.position} of its file`);
}

// What another run would meet again.
function finalEnd(error: unknown): ImportEnd | undefined {
  if (error instanceof CsvBroken) return { status: 2, error: 'import_file_invalid', row: error.row };
  return error instanceof AppError && error.status === 422 ? { status: 2, error: error.slug } : undefined;
}
