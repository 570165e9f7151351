// exports as the job sees them: taken by a run, moved on, finished once, and told to their owner.
import Joi from 'joi';
import { now } from '../../lib/clock.js';
import { change, transact } from '../../lib/db.js';
import { AppError } from '../../lib/errors.js';
import type { ErrorSlug } from '../../lib/error-catalogue.js';
import { fill, say, type Language, type Text } from '../../lib/language.js';
import { timeKeys } from '../../lib/list-query.js';
import { columnsOf, selection } from '../tables/selection.js';
import { updateRows } from '../tables/rows.js';
import { expiryOf } from './export.js';
import { exportSources } from './export-sources.js';
import { Export, type ExportFormat, type ExportStatus, type ExportType } from './tables.js';
import { deliver, notify } from '../office/notification.js';
import { keepFile, releaseFiles, removeFiles, reserveFile } from '../files/stored-file.js';

/** One run of an export. Of several at the same time the latest counts: the row holds the key of its file. */
export interface ExportRun {
  id: number;
  key: string;
  adminId: number;
  type: ExportType;
  format: ExportFormat;
  criteria: object;
  language: Language;
  zone: string | undefined;
}

/** Takes a waiting export, also from a run that has died or hangs. @returns undefined when there is nothing to do */
export async function claimExport(id: number): Promise<ExportRun | undefined> {
  const key = await reserveFile('exports');
  const start = { storage_key: key, progress: 0, processed_rows: 0, updated_at: now() };
  const taken = await updateRows(Export, start, { id, status: 0 });
  const row = await claimed.first('WHERE e.id = ? AND e.storage_key = ?', [id, key]);
  if (taken === 0 || !row) {
    await dropFile(key);
    return undefined;
  }
  const { admin_id: adminId, type, format, language, zone } = row;
  const criteria = criteriaOf(type, row.filter);
  return { id, key, adminId, type, format, criteria, language, zone: zone ?? undefined };
}

const claimed = selection(
  columnsOf(Export, 'e', 'admin_id', 'type', 'format', 'filter', 'language', 'zone'),
  'exports e',
);

/** The filters as the list reads them: JSON knows neither times nor amounts. */
function criteriaOf(type: ExportType, filter: string): object {
  const schema = Joi.object({ ...timeKeys(), ...exportSources[type].filters });
  return Joi.attempt(JSON.parse(filter), schema) as object;
}

export interface Progress {
  /** Records. */
  processed: number;
  total: number | undefined;
}

/** Writes down how far a run is and tells the owner. @returns false when the export was removed or another run has it */
export async function moveExport(run: ExportRun, { processed, total }: Progress): Promise<boolean> {
  const progress = total ? Math.min(99, Math.floor((processed * 100) / total)) : 0;
  const isMine = await updateRows(
    Export,
    { progress, processed_rows: processed, total_rows: total ?? null, updated_at: now() },
    { id: run.id, status: 0, storage_key: run.key },
  );
  if (isMine === 0) return false;
  await deliver(frame(run.adminId, run.id, 0, progress));
  return true;
}

/**
 * Makes the written file the one of its export.
 *
 * @returns false when the export was removed or another run has it; the file is then gone
 */
export async function finishExport(run: ExportRun, total: number, size: number): Promise<boolean> {
  const at = now();
  const isMine = await transact(async (t) => {
    const finished = await updateRows(
      Export,
      { ...endedAt(at), status: 1, progress: 100, processed_rows: total, total_rows: total, size },
      { id: run.id, status: 0, storage_key: run.key },
      t,
    );
    if (finished > 0) await keepFile(run.key, t);
    return finished > 0;
  });
  if (!isMine) await dropFile(run.key);
  return isMine;
}

/** Frees the file of a run that came to nothing. */
export async function dropFile(key: string): Promise<void> {
  await releaseFiles([key]);
  await removeFiles([key]);
}

/** Gives an export up. */
export async function failExport(id: number, error: ErrorSlug): Promise<void> {
  await updateRows(Export, { ...endedAt(now()), status: 2, error }, { id, status: 0 });
  await tellOwner(id);
}

/** Has an export that was given up wait again. @returns false when it has ended otherwise or is gone */
export async function reopenExport(id: number): Promise<boolean> {
  await transact(async (t) => {
    const open = { finished_at: null, expires_at: null, notified_at: null, updated_at: now() };
    const reopened = await updateRows(
      Export,
      { ...open, status: 0, error: null, progress: 0 },
      { id, status: 2, error: 'export_failed' },
      t,
    );
    // Its end is news again.
    const sql = 'UPDATE notifications SET event_key = NULL WHERE event_key LIKE ?';
    if (reopened > 0) await change(sql, [`export-${id}-%`], t);
  });
  return (await Export.count({ where: { id, status: 0 } })) > 0;
}

function endedAt(at: Date) {
  return { running_key: null, updated_at: at, finished_at: at, expires_at: expiryOf(at) };
}

const ended = selection(
  { ...columnsOf(Export, 'e'), ...columnsOf(Export, 'e', 'language', 'error') },
  'exports e',
);

const texts = {
  done: { zh: '导出完成', en: 'Your export is ready' },
  failed: { zh: '导出失败', en: 'Your export failed' },
  doneContent: { zh: '{title}：{filename}，共 {rows} 条', en: '{title}: {filename}, {rows} records' },
  failedContent: { zh: '{title}：{filename}，{reason}', en: '{title}: {filename}. {reason}' },
} satisfies Record<string, Text>;

/** Tells the owner of an export that has ended, once. */
export async function tellOwner(id: number): Promise<void> {
  const row = await ended.first('WHERE e.id = ? AND e.status <> 0 AND e.notified_at IS NULL', [id]);
  if (!row) return;
  const { admin_id, type, language, filename, status, error } = row;
  const places = {
    title: say(exportSources[type].title, language),
    filename,
    rows: row.total_rows ?? 0,
    reason: new AppError(error ?? 'export_failed').text(language),
  };
  await deliver(frame(admin_id, id, status, row.progress));
  await notify({
    type: 'system',
    title: say(status === 1 ? texts.done : texts.failed, language),
    content: fill(say(status === 1 ? texts.doneContent : texts.failedContent, language), places),
    receiverIds: [admin_id],
    eventKey: `export-${id}`,
  }).catch((error: unknown) => {
    // An administrator who was deleted in the meantime needs no news.
    if (!(error instanceof AppError) || error.slug !== 'receiver_unknown') throw error;
  });
  await updateRows(Export, { notified_at: now() }, { id });
}

const ids = selection(columnsOf(Export, 'e', 'id'), 'exports e');

/** Pending exports not updated since that instant; their job was probably lost. */
export async function stalledExports(before: Date): Promise<number[]> {
  const rows = await ids.rows('WHERE e.status = 0 AND e.updated_at < ? ORDER BY e.id LIMIT 500', [before]);
  return rows.map(({ id }) => id);
}

/** Tells of exports that ended before that instant and whose owner was not told: the process died in between. */
export async function tellForgottenExports(before: Date): Promise<void> {
  const forgotten = await ids.rows(
    'WHERE e.status <> 0 AND e.notified_at IS NULL AND e.updated_at < ? ORDER BY e.id LIMIT 100',
    [before],
  );
  for (const { id } of forgotten) await tellOwner(id);
}

const frame = (adminId: number, id: number, status: ExportStatus, progress: number) => ({
  adminId,
  frame: { type: 'export', data: { id, status, progress } },
});
