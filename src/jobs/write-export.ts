// Writes the file of an export: one snapshot, page after page into the storage.
import Joi from 'joi';
import { csvOf } from '../lib/csv.js';
import { say } from '../lib/language.js';
import { logger } from '../lib/logger.js';
import { id } from '../lib/schema.js';
import type { Cell, Sheet } from '../lib/sheet.js';
import { storage } from '../lib/storage/index.js';
import { xlsxOf } from '../lib/xlsx.js';
import {
  claimExport,
  dropFile,
  failExport,
  finishExport,
  moveExport,
  tellOwner,
  type ExportRun,
  type Progress,
} from '../models/export-run.js';
import { columnsFor, readSheet, type SheetPage, type SheetSource } from '../models/export-sheet.js';
import { exportSources } from '../models/export-sources.js';
import { openSnapshot } from '../models/snapshot.js';
import { job } from './job.js';

/** How often the row says how far it is, and is asked whether the export is still wanted. */
const moveEveryMs = 1000;

export const writeExport = job<{ id: number }>({
  name: 'write-export',
  queue: 'exports',
  attempts: 8,
  backoffMs: 1000,
  timeoutMs: 4 * 3_600_000,
  payload: Joi.object<{ id: number }, true>({ id: id().required() }),
  key: ({ id }) => String(id),
  run: ({ id }, signal) => write(id, signal),
  gaveUp: ({ id }) => failExport(id, 'export_failed'),
});

/** Nobody wants the file of this run any more. */
class Unwanted extends Error {}

async function write(id: number, signal: AbortSignal): Promise<'written' | 'nothing to do' | 'unwanted'> {
  const run = await claimExport(id);
  if (!run) {
    await tellOwner(id);
    return 'nothing to do';
  }
  try {
    const { total, size } = await writeFile(run, signal);
    if (!(await finishExport(run, total, size))) return 'unwanted';
  } catch (error) {
    await dropFile(run.key);
    if (error instanceof Unwanted) return 'unwanted';
    throw error;
  }
  await tellOwner(id);
  return 'written';
}

interface Written {
  total: number;
  size: number;
}

async function writeFile(run: ExportRun, signal: AbortSignal): Promise<Written> {
  const progress: Progress = { processed: 0, total: undefined };
  const unwanted = new AbortController();
  const stopMoving = keepMoving(run, progress, unwanted);
  try {
    return await writeRows(run, progress, AbortSignal.any([signal, unwanted.signal]));
  } finally {
    await stopMoving();
  }
}

async function writeRows(run: ExportRun, progress: Progress, signal: AbortSignal): Promise<Written> {
  const source = exportSources[run.type] as SheetSource<object>;
  const snapshot = await openSnapshot();
  try {
    const { total, pages } = await readSheet(source, run.criteria, snapshot);
    progress.total = total;
    const sheet: Sheet = {
      title: say(source.title, run.language),
      columns: columnsFor(source, run.language, run.zone),
      pages: counted(pages, progress, signal),
    };
    const size = await (await storage()).put(run.key, run.format === 'csv' ? csvOf(sheet) : xlsxOf(sheet));
    return { total, size };
  } finally {
    snapshot.close();
  }
}

async function* counted(
  pages: AsyncIterable<SheetPage>,
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<Cell[][]> {
  for await (const { rows, records } of pages) {
    signal.throwIfAborted();
    yield rows;
    progress.processed += records;
  }
  signal.throwIfAborted();
}

// By the clock and not by the page: the row must also move while the database counts or a slow storage takes its time.
function keepMoving(run: ExportRun, progress: Progress, unwanted: AbortController): () => Promise<void> {
  let moving: Promise<void> = Promise.resolve();
  const move = async (): Promise<void> => {
    try {
      if (!(await moveExport(run, progress))) unwanted.abort(new Unwanted());
    } catch (error) {
      logger.warn({ error, export: run.id }, 'the progress of an export could not be written down');
    }
  };
  const timer = setInterval(() => void (moving = moving.then(move)), moveEveryMs);
  return () => {
    clearInterval(timer);
    return moving;
  };
}
