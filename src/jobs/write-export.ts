// Writes the file of an export: one snapshot, page after page into the storage.
import Joi from 'joi';
import { csvOf } from '../lib/sheets/csv.js';
import { say } from '../lib/values/language.js';
import { logger } from '../lib/watch/logger.js';
import { every, processTime } from '../lib/process/timers.js';
import { id } from '../lib/input/schema.js';
import type { Cell, Sheet } from '../lib/sheets/sheet.js';
import { storage } from '../lib/storage/index.js';
import { xlsxOf } from '../lib/sheets/xlsx.js';
import {
  claimExport,
  failExport,
  finishExport,
  advanceExport,
  reopenExport,
  type ExportRun,
  type Progress,
} from '../models/exports/export-run.js';
import { columnsFor, readSheet, type SheetPage, type SheetSource } from '../models/exports/export-sheet.js';
import { exportSources } from '../models/exports/export-sources.js';
import { openSnapshot } from '../models/exports/snapshot.js';
import { keepOrRemove } from '../models/files/stored-file.js';
import { job } from './job.js';

/** Interval for saving progress and checking for cancellation. */
const moveEveryMs = 1000;
const maxPauseMs = 60_000;

export const writeExport = job({
  name: 'write-export',
  queue: 'exports',
  attempts: 8,
  backoffMs: 1000,
  timeoutMs: 4 * 3_600_000,
  payload: Joi.object<{ id: number }, true>({ id: id().required() }),
  key: ({ id }) => String(id),
  run: ({ id }, signal) => write(id, signal),
  onAbandoned: ({ id }) => failExport(id),
  reopen: ({ id }) => reopenExport(id),
});

/** The export was cancelled, or a newer run has claimed it. */
class Unwanted extends Error {}

async function write(id: number, signal: AbortSignal): Promise<'written' | 'nothing to do' | 'unwanted'> {
  const run = await claimExport(id);
  if (!run) return 'nothing to do';
  try {
    const isMine = await keepOrRemove(run.key, async () => {
      const { total, size } = await writeFile(run, signal);
      return finishExport(run, total, size);
    });
    return isMine ? 'written' : 'unwanted';
  } catch (error) {
    if (error instanceof Unwanted) return 'unwanted';
    throw error;
  }
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
    // Safe here, unlike in gateway.ts and worker/run.ts: both signals end with this run, and neither is a timeout.
    return await writeRows(run, progress, AbortSignal.any([signal, unwanted.signal]));
  } finally {
    await stopMoving();
  }
}

async function writeRows(run: ExportRun, progress: Progress, signal: AbortSignal): Promise<Written> {
  const source = exportSources[run.type] as SheetSource<object>;
  const snapshot = await openSnapshot();
  // A read that hangs ends with its connection.
  signal.addEventListener('abort', snapshot.close, { once: true });
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
  } catch (error) {
    // A read that was cut knows nothing of why.
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', snapshot.close);
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

// Saves progress by the clock, not by the page: the row must also advance while the database counts or the
// storage is slow. A run without progress for a minute is aborted.
function keepMoving(run: ExportRun, progress: Progress, unwanted: AbortController): () => Promise<void> {
  let moving: Promise<void> = Promise.resolve();
  let seen = { ...progress, at: processTime() };
  const move = async (): Promise<void> => {
    const { processed, total } = progress;
    if (processed !== seen.processed || total !== seen.total) seen = { processed, total, at: processTime() };
    if (processTime() - seen.at > maxPauseMs)
      unwanted.abort(new Error('an export made no progress for a minute'));
    try {
      if (!(await advanceExport(run, progress))) unwanted.abort(new Unwanted());
    } catch (error) {
      logger.warn({ error, export: run.id }, 'storing the progress of an export failed');
    }
  };
  const stop = every(moveEveryMs, () => (moving = move()));
  return () => {
    stop();
    return moving;
  };
}
