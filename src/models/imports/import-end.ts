// The end of an import: stored once, in one transaction with the notification of its owner.
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import { transact } from '../../lib/database/db.js';
import { AppError } from '../../lib/errors.js';
import type { ErrorSlug } from '../../lib/error-catalogue/index.js';
import { fill, say, type Language } from '../../lib/language.js';
import { announce } from '../../lib/redis/marks.js';
import { releaseFiles, removeFiles } from '../files/stored-file.js';
import { deliver, deliverStored, notifyWithin, type NewNotification } from '../office/notification.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import { execute, over } from '../tables/sql.js';
import { maxRows } from './import-run.js';
import { Import } from './tables.js';

export type ImportEnd = { status: 1 } | { status: 2; error: ErrorSlug; row?: number };

/**
 * Ends an import and releases its file, unless rows were refused: the error file is read from it.
 *
 * @returns false when it had ended before, or rows are missing for success
 */
export async function endImport(id: number, end: ImportEnd): Promise<boolean> {
  const at = now();
  const expiry = new Date(at.getTime() + config.storage.importRetentionMs);
  const [error, row] = end.status === 1 ? [null, null] : [end.error, end.row ?? null];
  const outcome = await transact(async (t) => {
    const ended = await execute(
      sql(
        `UPDATE imports i SET i.status = :status, i.progress = IF(:status = 1, 100, i.progress), i.error = :error,
           i.error_row = :row, i.concluded = 1, i.finished_at = :at, i.expires_at = :expiry, i.updated_at = :at
         WHERE i.id = :id AND i.status = 0 AND (:status = 2 OR i.position = i.total_rows)`,
        { status: end.status, error, row, at, expiry, id },
      ),
      { t },
    );
    if (ended === 0) return undefined;
    const record = (await endedImports.one(sql('WHERE i.id = :id', { id }), { t })) as EndedImport;
    const files = record.failed_count === 0 ? [record.storage_key] : [];
    await releaseFiles(files, t);
    return { record, files, notifications: await notifyWithin(t, noticeOf(record)) };
  });
  if (!outcome) return false;
  const { record, files, notifications } = outcome;
  const { admin_id, status, progress, dry_run } = record;
  if (!dry_run) await announce(['orders']);
  await deliver({ adminId: admin_id, frame: { type: 'import', data: { id, status, progress } } });
  await deliverStored(notifications);
  await removeFiles(files);
  return true;
}

const endedColumns = {
  ...columnsOf(Import, 'i'),
  ...columnsOf(Import, 'i', 'language', 'error', 'error_row', 'storage_key'),
};

type EndedImport = RowOf<typeof endedColumns>;

const endedImports = selection(endedColumns, 'imports i');
const sql = over({ 'imports i': Import });

/** Why an import failed. */
export function importErrorText(error: ErrorSlug, row: number | null, language: Language): string {
  return new AppError(error, { params: { row: row ?? 1, limit: maxRows } }).text(language);
}

function noticeOf(ended: EndedImport): NewNotification {
  const { language, error, error_row, status, dry_run } = ended;
  const reason = error ? importErrorText(error, error_row, language) : '';
  const kind = dry_run ? check : real;
  const content = status === 1 ? counts : { zh: '{filename}：{reason}', en: '{filename}: {reason}' };
  return {
    type: 'system',
    title: say(status === 1 ? kind.done : kind.failed, language),
    content: fill(say(content, language), {
      filename: ended.filename,
      reason,
      total: ended.total_rows ?? 0,
      success: ended.success_count,
      failed: ended.failed_count,
      orders: ended.order_count,
    }),
    receiverIds: [ended.admin_id],
    eventKey: `import-${ended.id}`,
  };
}

const real = {
  done: { zh: '订单导入完成', en: 'Orders imported' },
  failed: { zh: '订单导入失败', en: 'Importing orders failed' },
};

const check = {
  done: { zh: '订单导入校验完成', en: 'Orders checked for import' },
  failed: { zh: '订单导入校验失败', en: 'Checking orders for import failed' },
};

const counts = {
  zh: '{filename}：共 {total} 行，成功 {success} 行（{orders} 个订单），失败 {failed} 行',
  en: '{filename}: {total} rows, {success} accepted ({orders} orders), {failed} refused',
};
