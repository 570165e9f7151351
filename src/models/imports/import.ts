// imports: files that administrators have rows imported from, with how far each has come.
import { now } from '../../lib/clock.js';
import { currentLanguage } from '../../lib/context.js';
import type { CsvFormat } from '../../lib/sheets/csv-source.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { say, type Text } from '../../lib/language.js';
import { Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import type { Identity } from '../access/identity.js';
import { Admin } from '../access/tables.js';
import { keepFile, releaseFiles, removeFiles } from '../files/stored-file.js';
import { StoredFile } from '../files/tables.js';
import { columnsOf, joined, selection, selectionOf } from '../tables/selection.js';
import { deleteRows, insertRow, updateRows } from '../tables/rows.js';
import type { Listed, Row } from '../tables/table.js';
import { removeErrors } from './import-error.js';
import { endImport, importErrorText } from './import-end.js';
import { Import, type ImportStatus, type ImportType } from './tables.js';
import { over } from '../tables/sql.js';

/** An import as it is answered. */
export interface ImportRecord extends Listed<Import> {
  status_text: string;
  processed_rows: number;
  error_msg: string | null;
  admin: Pick<Listed<Admin>, 'id' | 'username'> | null;
  error_file_url: string | null;
}

export interface ImportFilter extends ListQuery {
  type?: ImportType;
  status?: ImportStatus;
  dry_run?: boolean;
}

export interface NewImport {
  type: ImportType;
  adminId: number;
  filename: string;
  size: number;
  storageKey: string;
  format: CsvFormat;
  dryRun: boolean;
}

export const importSortable = ['id', 'status', 'created_at', 'finished_at'] as const;

/** Makes the row of an import and keeps its file. @returns its id */
export function createImport(made: NewImport): Promise<number> {
  const at = now();
  return transact(async (t) => {
    await keepFile(made.storageKey, t);
    const { adminId, type, filename, size, storageKey, format, dryRun } = made;
    const source = { type, filename, size, storage_key: storageKey, ...format };
    const row = { ...source, admin_id: adminId, dry_run: dryRun, language: currentLanguage() };
    return insertRow(Import, { ...row, created_at: at, updated_at: at }, t);
  });
}

/** Imports of the caller; of everybody for a super administrator. */
export function listImports(viewer: Identity, query: ImportFilter): Promise<Page<ImportRecord>> {
  const where = visibleTo(viewer)
    .equals('i.type', query.type)
    .equals('i.status', query.status)
    .equals('i.dry_run', query.dry_run)
    .during('i.created_at', query);
  return imports.page(query, where);
}

/** @throws import_not_found also when it is another's */
export async function findImport(viewer: Identity, id: number): Promise<ImportRecord> {
  const where = visibleTo(viewer).and('i.id = ?', id);
  return (await imports.first(where.sql, where.values)) ?? fail('import_not_found');
}

/**
 * Ends a waiting or running import; what it has imported so far stays.
 *
 * @throws import_not_found, import_not_running
 */
export async function cancelImport(viewer: Identity, id: number): Promise<void> {
  const { status } = await findImport(viewer, id);
  if (status !== 0 || !(await endImport(id, { status: 2, error: 'import_cancelled' })))
    fail('import_not_running');
}

/** Hides an ended import for good; its failed rows and its file go later. @throws import_not_found, import_running */
export async function removeImport(viewer: Identity, id: number): Promise<void> {
  const { status } = await findImport(viewer, id);
  if (status === 0) fail('import_running');
  await updateRows(Import, { deleted_at: now(), expires_at: now() }, { id });
}

const maxRemovedAtOnce = 20_000;

/**
 * Removes failed rows whose time is over with the file they are in, and deleted imports with them; what is too much for now
 * waits for the next time.
 */
export async function pruneImports(): Promise<void> {
  const rows = await due.where(sql('WHERE i.expires_at < :at ORDER BY i.expires_at LIMIT 20', { at: now() }));
  for (const { id, storage_key, deleted_at } of rows) {
    if (!(await removeErrors(id, maxRemovedAtOnce))) return;
    await transact(async (t) => {
      await releaseFiles([storage_key], t);
      if (deleted_at) await deleteRows(Import, { id, concluded: true }, t);
      else await updateRows(Import, { expires_at: null }, { id }, t);
    });
    await removeFiles([storage_key]);
  }
}

function visibleTo({ adminId, isSuperAdmin }: Identity): Where {
  const where = new Where().and('i.deleted_at IS NULL');
  return isSuperAdmin ? where : where.and('i.admin_id = ?', adminId);
}

function statusText({ status, total_rows, failed_count, error }: StatusColumns): Text {
  if (status === 0 && total_rows === null) return { zh: '等待处理', en: 'Waiting' };
  if (status === 0) return { zh: '处理中', en: 'Running' };
  if (error === 'import_cancelled') return { zh: '已取消', en: 'Cancelled' };
  if (status === 2) return { zh: '失败', en: 'Failed' };
  return failed_count > 0
    ? { zh: '完成，部分行失败', en: 'Done, some rows failed' }
    : { zh: '成功', en: 'Done' };
}

type StatusColumns = Pick<Row<Import>, 'status' | 'total_rows' | 'failed_count' | 'error'>;

const imports = selectionOf(
  ({ position, error, error_row, expires_at, file_state, ...columns }): ImportRecord => {
    const isKept = file_state === 'kept' && expires_at !== null && expires_at > now();
    const hasErrorFile = columns.failed_count > 0 && isKept;
    return {
      ...columns,
      status_text: say(statusText({ ...columns, error }), currentLanguage()),
      processed_rows: position,
      error_msg: error && importErrorText(error, error_row, currentLanguage()),
      error_file_url: hasErrorFile ? `/api/admin/imports/${columns.id}/error-file` : null,
    };
  },
  {
    ...columnsOf(Import, 'i'),
    ...columnsOf(Import, 'i', 'position', 'error', 'error_row', 'expires_at'),
    admin: joined(columnsOf(Admin, 'a', 'id', 'username')),
    file_state: columnsOf(StoredFile, 'f').state,
  },
  'imports i',
  'LEFT JOIN admins a ON a.id = i.admin_id LEFT JOIN stored_files f ON f.storage_key = i.storage_key',
);

const due = selection(columnsOf(Import, 'i', 'id', 'storage_key', 'deleted_at'), 'imports i');
const sql = over({ 'imports i': Import });
