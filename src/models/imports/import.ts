// imports: files that administrators have rows imported from, with how far each has come.
import Joi from 'joi';
import { Op, type Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { currentLanguage } from '../../lib/process/context.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { say, type Text } from '../../lib/values/language.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import type { Identity } from '../access/identity.js';
import { adminOf, withAdmin } from '../access/tables.js';
import { keepFile, releaseFiles, removeFiles } from '../files/stored-file.js';
import { during, findPage, lockRow, matching } from '../tables/find.js';
import { listed, type Listed } from '../tables/table.js';
import { removeErrors } from './import-error.js';
import { endImport, importErrorText } from './import-end.js';
import { Import, importStatuses, importTypes, type ImportStatus, type ImportType } from './tables.js';

/** An import in answers. */
interface ImportRecord extends Listed<Import> {
  status_text: string;
  processed_rows: number;
  error_msg: string | null;
  admin: ReturnType<typeof adminOf>;
  error_file_url: string | null;
}

const importFilters = {
  type: Joi.string<ImportType>().valid(...importTypes),
  status: Joi.number<ImportStatus>()
    .valid(...importStatuses)
    .description('0 waiting or running, 1 finished, 2 failed or cancelled'),
  dry_run: Joi.boolean(),
};

type ImportFilter = Criteria<typeof importFilters> & ListQuery;

/** The query of the list. */
export const importQuery = listQuery<ImportFilter>(
  ['id', 'status', 'created_at', 'finished_at'],
  importFilters,
);

type Source = Pick<Import, 'admin_id' | 'filename' | 'size' | 'encoding' | 'delimiter' | 'dry_run'> & {
  storage_key: string;
};

/** Makes the row of an import of orders and keeps its file. @returns its id */
export function createImport(source: Source): Promise<number> {
  return transact(async (t) => {
    await keepFile(source.storage_key, t);
    const row = { ...source, type: 'orders', language: currentLanguage() } as const;
    return (await Import.create(row, { transaction: t })).id;
  });
}

/** Imports of the caller; of everybody for a super administrator. */
export function listImports(viewer: Identity, query: ImportFilter): Promise<Page<ImportRecord>> {
  const { type, status, dry_run } = query;
  const where = {
    ...matching<Import>({ type, status, dry_run, created_at: during(query) }),
    ...visibleTo(viewer),
  };
  return findPage(Import, query, { where, include: shown }, toRecord);
}

/** @throws import_not_found also when it is another's */
export async function getImport(
  viewer: Identity,
  id: number,
  transaction?: Transaction,
): Promise<ImportRecord> {
  await lockRow(Import, id, transaction);
  const found = await Import.findOne({ where: { id, ...visibleTo(viewer) }, include: shown, transaction });
  return toRecord(found ?? fail('import_not_found'));
}

/** Ends a waiting or running import; what it has imported so far stays. @throws import_not_found, import_not_running */
export async function cancelImport(viewer: Identity, id: number): Promise<void> {
  const { status } = await getImport(viewer, id);
  if (status !== 0 || !(await endImport(id, { status: 2, error: 'import_cancelled' })))
    fail('import_not_running');
}

/** Hides an ended import for good; its failed rows and its file go later. @throws import_not_found, import_running */
export async function deleteImport(viewer: Identity, id: number): Promise<void> {
  await getImport(viewer, id);
  await transact(async (t) => {
    const where = { id, status: { [Op.ne]: 0 } };
    const [removed] = await Import.update(
      { deleted_at: now(), expires_at: now() },
      { where, transaction: t },
    );
    if (removed === 0) fail('import_running');
  });
}

const expiredAtOnce = 20;
const maxRemovedAtOnce = 20_000;

/**
 * Removes failed rows whose time is over with the file they are in, and deleted imports with them.
 *
 * @returns whether some are left for the next time
 */
export async function pruneImports(): Promise<boolean> {
  const rows = await Import.findAll({
    where: { expires_at: { [Op.lt]: now() }, concluded: true },
    order: ['expires_at'],
    limit: expiredAtOnce,
  });
  for (const row of rows) {
    if (!(await removeErrors(row.id, maxRemovedAtOnce))) return true;
    await transact(async (t) => {
      await releaseFiles([row.storage_key], t);
      if (row.deleted_at) await row.destroy({ transaction: t });
      else await row.update({ expires_at: null }, { transaction: t });
    });
    await removeFiles([row.storage_key]);
  }
  return rows.length === expiredAtOnce;
}

const visibleTo = ({ adminId, isSuperAdmin }: Identity): { deleted_at: null; admin_id?: number } =>
  isSuperAdmin ? { deleted_at: null } : { deleted_at: null, admin_id: adminId };

type Progress = Pick<Import, 'status' | 'total_rows' | 'failed_count' | 'error'>;

/** How far an import is, in words. */
export function importStatusText({ status, total_rows, failed_count, error }: Progress): Text {
  if (status === 0 && total_rows === null) return { zh: '等待处理', en: 'Waiting' };
  if (status === 0) return { zh: '处理中', en: 'Running' };
  if (error === 'import_cancelled') return { zh: '已取消', en: 'Cancelled' };
  if (status === 2) return { zh: '失败', en: 'Failed' };
  return failed_count > 0
    ? { zh: '完成，部分行失败', en: 'Done, some rows failed' }
    : { zh: '成功', en: 'Done' };
}

const shown = [withAdmin, { association: 'file', attributes: ['state'] }];

function toRecord(row: Import): ImportRecord {
  const { id, file, error, error_row, expires_at, failed_count } = row;
  const isKept = file?.state === 'kept' && expires_at !== null && expires_at > now();
  return {
    ...listed(row),
    status_text: say(importStatusText(row), currentLanguage()),
    processed_rows: row.position,
    error_msg: error && importErrorText(error, error_row, currentLanguage()),
    admin: adminOf(row),
    error_file_url: failed_count > 0 && isKept ? `/api/admin/imports/${id}/error-file` : null,
  };
}
