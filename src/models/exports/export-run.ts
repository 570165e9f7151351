// exports as the job sees them: claimed by a run, advanced, and ended once together with the notification of the owner.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { transact } from '../../lib/database/db.js';
import { AppError } from '../../lib/errors.js';
import type { ErrorSlug } from '../../lib/error-catalogue/index.js';
import { fill, say, type Language, type Text } from '../../lib/language.js';
import { timeKeys } from '../../lib/input/list-query.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import { updateRows, type Changes } from '../tables/rows.js';
import { execute, over } from '../tables/sql.js';
import { expiryOf } from './export.js';
import { exportSources } from './export-sources.js';
import { Export, type ExportFormat, type ExportStatus, type ExportType } from './tables.js';
import { deliver, deliverStored, notifyWithin, type NewNotification } from '../office/notification.js';
import { Notification } from '../office/tables.js';
import { abandonFile, keepFile, reserveFile } from '../files/stored-file.js';

/** One run of an export. The latest of concurrent runs wins: the row holds the key of its file. */
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

/** Claims a waiting export, also one whose run has died or hangs. @returns undefined when it has ended */
export async function claimExport(id: number): Promise<ExportRun | undefined> {
  const key = await reserveFile('exports');
  const start = { storage_key: key, progress: 0, processed_rows: 0, updated_at: now() };
  const taken = await updateRows(Export, start, { id, status: 0 });
  const row = await claimed.one(sql('WHERE e.id = :id AND e.storage_key = :key', { id, key }));
  if (taken === 0 || !row) {
    await abandonFile(key);
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

/** Stores the progress of a run and pushes it to the owner. @returns false when the export was removed or another run has it */
export async function advanceExport(run: ExportRun, { processed, total }: Progress): Promise<boolean> {
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
  const counts = { progress: 100, processed_rows: total, total_rows: total, size };
  const isMine = await endExport(
    { status: 1, ...counts },
    { id: run.id, status: 0, storage_key: run.key },
    (t) => keepFile(run.key, t),
  );
  if (!isMine) await abandonFile(run.key);
  return isMine;
}

/** Ends an export without a file. */
export async function failExport(id: number, error: ErrorSlug): Promise<void> {
  await endExport({ status: 2, error }, { id, status: 0 });
}

/** Reopens an export that failed after its last run. @returns false when it has ended otherwise or was removed */
export async function reopenExport(id: number): Promise<boolean> {
  await transact(async (t) => {
    const open = { finished_at: null, expires_at: null, updated_at: now() };
    const reopened = await updateRows(
      Export,
      { ...open, status: 0, error: null, progress: 0 },
      { id, status: 2, error: 'export_failed' },
      t,
    );
    // Its next end is another event.
    const renew = sql('UPDATE notifications SET event_key = NULL WHERE event_key LIKE :pattern', {
      pattern: `export-${id}-%`,
    });
    if (reopened > 0) await execute(renew, { t });
  });
  return (await Export.count({ where: { id, status: 0 } })) > 0;
}

/** Ends an export and notifies its owner. @returns false when it does not stand as `where` says */
async function endExport(
  end: Pick<Changes<Export>, 'status' | 'error' | 'progress' | 'processed_rows' | 'total_rows' | 'size'>,
  where: { id: number; status: 0; storage_key?: string },
  follow?: (t: Transaction) => Promise<void>,
): Promise<boolean> {
  const at = now();
  // `notified_at` is for releases that would otherwise notify again.
  const times = { updated_at: at, finished_at: at, notified_at: at, expires_at: expiryOf(at) };
  const outcome = await transact(async (t) => {
    const count = await updateRows(Export, { ...end, ...times, running_key: null }, where, t);
    if (count === 0) return undefined;
    await follow?.(t);
    const row = await ended.one(sql('WHERE e.id = :id', { id: where.id }), { t });
    return row && { row, notifications: await notifyWithin(t, noticeOf(row)) };
  });
  if (!outcome) return false;
  const { row, notifications } = outcome;
  await deliver(frame(row.admin_id, row.id, row.status, row.progress));
  await deliverStored(notifications);
  return true;
}

const endedColumns = { ...columnsOf(Export, 'e'), ...columnsOf(Export, 'e', 'language', 'error') };
const ended = selection(endedColumns, 'exports e');

const texts = {
  done: { zh: '导出完成', en: 'Your export is ready' },
  failed: { zh: '导出失败', en: 'Your export failed' },
  doneContent: { zh: '{title}：{filename}，共 {rows} 条', en: '{title}: {filename}, {rows} records' },
  failedContent: { zh: '{title}：{filename}，{reason}', en: '{title}: {filename}. {reason}' },
} satisfies Record<string, Text>;

function noticeOf(row: RowOf<typeof endedColumns>): NewNotification {
  const { id, admin_id, type, language, filename, status, error } = row;
  const places = {
    title: say(exportSources[type].title, language),
    filename,
    rows: row.total_rows ?? 0,
    reason: new AppError(error ?? 'export_failed').text(language),
  };
  return {
    type: 'system',
    title: say(status === 1 ? texts.done : texts.failed, language),
    content: fill(say(status === 1 ? texts.doneContent : texts.failedContent, language), places),
    receiverIds: [admin_id],
    eventKey: `export-${id}`,
  };
}

const ids = selection(columnsOf(Export, 'e', 'id'), 'exports e');
const sql = over({ 'exports e': Export, notifications: Notification });

/** Pending exports not updated since that instant; their job was probably lost. */
export async function stalledExports(before: Date): Promise<number[]> {
  const rows = await ids.where(
    sql('WHERE e.status = 0 AND e.updated_at < :before ORDER BY e.id LIMIT 500', { before }),
  );
  return rows.map(({ id }) => id);
}

const frame = (adminId: number, id: number, status: ExportStatus, progress: number) => ({
  adminId,
  frame: { type: 'export', data: { id, status, progress } },
});
