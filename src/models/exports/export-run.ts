// exports as the job sees them: claimed by a run, advanced, and ended once together with the notification of the owner.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { AppError } from '../../lib/errors/app-error.js';
import { fill, say, type Text } from '../../lib/values/language.js';
import { timeKeys } from '../../lib/input/list-query.js';
import type { NewNotification } from '../office/notification.js';
import { deliverProgress, endTransfer, reopenTransfer, stalledTransfers } from '../office/transfer.js';
import { abandonFile, keepFile, reserveFile } from '../files/stored-file.js';
import { expiryOf, type ExportRequest } from './export.js';
import { exportSources } from './export-sources.js';
import { Export, type ExportType } from './tables.js';

/** One run of an export. The latest of concurrent runs wins: the row holds the key of its file. */
export interface ExportRun extends ExportRequest {
  id: number;
  key: string;
}

/** Claims a waiting export, also one whose run has died or hangs. @returns undefined when it has ended */
export async function claimExport(id: number): Promise<ExportRun | undefined> {
  const key = await reserveFile('exports');
  await Export.update({ storage_key: key, progress: 0, processed_rows: 0 }, { where: { id, status: 0 } });
  const claimed = await Export.findOne({ where: { id, status: 0, storage_key: key } });
  if (!claimed) {
    await abandonFile(key);
    return undefined;
  }
  const { admin_id: adminId, type, format, language, zone } = claimed;
  const criteria = criteriaOf(type, claimed.filter);
  return { id, key, adminId, type, format, criteria, language, zone: zone ?? undefined };
}

/** The filters as the list reads them: JSON knows neither times nor amounts. */
function criteriaOf(type: ExportType, filter: string): object {
  const schema = Joi.object({ ...timeKeys(), ...exportSources[type].filters });
  return Joi.attempt(JSON.parse(filter), schema) as object;
}

export interface Progress {
  processed: number;
  total: number | undefined;
}

/**
 * Stores the progress of a run and pushes it to the owner.
 *
 * @returns false when the export was removed or another run has it
 */
export async function advanceExport(run: ExportRun, { processed, total }: Progress): Promise<boolean> {
  const progress = total ? Math.min(99, Math.floor((processed * 100) / total)) : 0;
  const [mine] = await Export.update(
    { progress, processed_rows: processed, total_rows: total ?? null },
    { where: ownedBy(run) },
  );
  if (mine === 0) return false;
  await deliverProgress('export', { id: run.id, admin_id: run.adminId, status: 0, progress });
  return true;
}

// Another run has written its own key.
const ownedBy = ({ id, key }: ExportRun) => ({ id, status: 0 as const, storage_key: key });

/**
 * Makes the written file the one of its export.
 *
 * @returns false when the export was removed or another run has it; the file is then gone
 */
export async function finishExport(run: ExportRun, total: number, size: number): Promise<boolean> {
  const end = { status: 1, progress: 100, processed_rows: total, total_rows: total, size } as const;
  const isMine = await endExport(end, ownedBy(run), (t) => keepFile(run.key, t));
  if (!isMine) await abandonFile(run.key);
  return isMine;
}

export async function failExport(id: number): Promise<void> {
  await endExport({ status: 2, error: 'export_failed' }, { id, status: 0 });
}

/** Reopens an export that failed after its last run. @returns false when it has ended otherwise or was removed */
export const reopenExport = (id: number): Promise<boolean> =>
  reopenTransfer('export', Export, id, { progress: 0 });

/** Ends an export and notifies its owner. @returns false when the row is not as `where` says */
async function endExport(
  end: Partial<Pick<Export, 'status' | 'error' | 'progress' | 'processed_rows' | 'total_rows' | 'size'>>,
  where: { id: number; status: 0; storage_key?: string },
  follow?: (t: Transaction) => Promise<void>,
): Promise<boolean> {
  const at = now();
  // `notified_at` is for releases that would otherwise notify again.
  const times = { finished_at: at, notified_at: at, expires_at: expiryOf(at) };
  const change = async (t: Transaction): Promise<Export | undefined> => {
    const [ended] = await Export.update({ ...end, ...times, running_key: null }, { where, transaction: t });
    if (ended === 0) return undefined;
    await follow?.(t);
    return (await Export.findByPk(where.id, { transaction: t })) ?? undefined;
  };
  return (await endTransfer('export', change, noticeOf)) !== undefined;
}

const texts = {
  done: { zh: '导出完成', en: 'Your export is ready' },
  failed: { zh: '导出失败', en: 'Your export failed' },
  doneContent: { zh: '{title}：{filename}，共 {rows} 条', en: '{title}: {filename}, records: {rows}' },
  failedContent: { zh: '{title}：{filename}，{reason}', en: '{title}: {filename}. {reason}' },
} satisfies Record<string, Text>;

function noticeOf(ended: Export): NewNotification {
  const { id, admin_id, type, language, filename, status, error } = ended;
  const params = {
    title: say(exportSources[type].title, language),
    filename,
    rows: ended.total_rows ?? 0,
    reason: new AppError(error ?? 'export_failed').text(language),
  };
  return {
    type: 'system',
    title: say(status === 1 ? texts.done : texts.failed, language),
    content: fill(say(status === 1 ? texts.doneContent : texts.failedContent, language), params),
    receiverIds: [admin_id],
    eventKey: `export-${id}`,
  };
}

/** Pending exports not updated since that instant; their job was probably lost. */
export const stalledExports = (before: Date): Promise<number[]> =>
  stalledTransfers(Export, { status: 0 }, before);
