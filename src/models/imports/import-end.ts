// The end of an import: stored once, in one transaction with the notification of its owner.
import { col, Op, type Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { AppError } from '../../lib/errors/app-error.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { fill, say, type Language } from '../../lib/values/language.js';
import { announce } from '../../lib/redis/changes.js';
import { releaseFiles, removeFiles } from '../files/stored-file.js';
import type { NewNotification } from '../office/notification.js';
import { endTransfer, reopenTransfer } from '../office/transfer.js';
import { maxRows } from './import-progress.js';
import { Import } from './tables.js';

export type ImportEnd = { status: 1 } | { status: 2; error: ErrorSlug; row?: number };

/**
 * Ends an import and releases its file, unless rows were refused, which the error file reads from it, or it
 * can be reopened.
 *
 * @returns false when it had ended before, or rows are missing for success
 */
export async function endImport(id: number, end: ImportEnd): Promise<boolean> {
  const at = now();
  const expires_at = new Date(at.getTime() + config.retention.importMs);
  const outcome = end.status === 1 ? { progress: 100 } : { error: end.error, error_row: end.row ?? null };
  const change = async (t: Transaction): Promise<Import | undefined> => {
    const isWhole = end.status === 1 ? { position: { [Op.eq]: col('total_rows') } } : {};
    const [ended] = await Import.update(
      { ...outcome, status: end.status, concluded: true, finished_at: at, expires_at },
      { where: { id, status: 0, ...isWhole }, transaction: t },
    );
    if (ended === 0) return undefined;
    const row = await Import.findByPk(id, { transaction: t, rejectOnEmpty: true });
    await releaseFiles(unneeded(row), t);
    return row;
  };
  const ended = await endTransfer('import', change, noticeOf);
  if (!ended) return false;
  if (!ended.dry_run) announce(['orders']);
  await removeFiles(unneeded(ended));
  return true;
}

const unneeded = ({ failed_count, error, storage_key }: Import): (string | null)[] =>
  failed_count === 0 && error !== 'import_failed' ? [storage_key] : [];

/** Reopens an import that failed after its last run, at its position. @returns false when it has ended otherwise */
export const reopenImport = (id: number): Promise<boolean> =>
  reopenTransfer('import', Import, id, { concluded: false });

export function importErrorText(error: ErrorSlug, row: number | null, language: Language): string {
  return new AppError(error, { params: { row: row ?? 1, limit: maxRows } }).text(language);
}

function noticeOf(ended: Import): NewNotification {
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
  en: '{filename}: {success} of {total} rows accepted (orders: {orders}), {failed} refused',
};
