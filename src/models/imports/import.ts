// imports: files that administrators have rows imported from, with how far each has come.
import { now } from '../../lib/clock.js';
import { currentLanguage } from '../../lib/context.js';
import type { CsvFormat } from '../../lib/sheets/csv-source.js';
import { change, insert, select, transact } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import type { ErrorSlug } from '../../lib/error-catalogue.js';
import { say, type Text } from '../../lib/language.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../../lib/list-query.js';
import type { Identity } from '../access/identity.js';
import { removeErrors } from './import-error.js';
import { endImport, importErrorText, type ImportStatus } from './import-run.js';
import { keepFile, releaseFiles, removeFiles } from '../files/stored-file.js';

export const importTypes = ['orders'] as const;

export type ImportType = (typeof importTypes)[number];

export interface ImportRecord {
  id: number;
  type: ImportType;
  filename: string;
  /** Bytes. */
  size: number;
  /** Everything is checked and counted, nothing is imported. */
  dry_run: boolean;
  status: ImportStatus;
  status_text: string;
  /** Percent. */
  progress: number;
  /** Null until the rows are counted. */
  total_rows: number | null;
  processed_rows: number;
  /** Rows. */
  success_count: number;
  failed_count: number;
  order_count: number;
  error_msg: string | null;
  admin_id: number;
  admin: { id: number; username: string } | null;
  created_at: Date;
  finished_at: Date | null;
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
    return insert(
      `INSERT INTO imports (admin_id, type, filename, size, storage_key, encoding, delimiter, dry_run, language, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        ...[made.adminId, made.type, made.filename, made.size, made.storageKey],
        ...[made.format.encoding, made.format.delimiter, made.dryRun, currentLanguage(), at, at],
      ],
      t,
    );
  });
}

/** Imports of the caller; of everybody for a super administrator. */
export async function listImports(viewer: Identity, query: ImportFilter): Promise<Page<ImportRecord>> {
  const where = visibleTo(viewer)
    .equals('i.type', query.type)
    .equals('i.status', query.status)
    .equals('i.dry_run', query.dry_run)
    .during('i.created_at', query);
  const [rows, [count]] = await Promise.all([
    select<ImportRow>(`${recordSql} ${where.sql} ${pageSql(query, 'i')}`, where.values),
    select<{ total: number }>(`SELECT COUNT(*) AS total FROM imports i ${where.sql}`, where.values),
  ]);
  return toPage(query, rows.map(toRecord), count?.total ?? 0);
}

/** @throws import_not_found also when it is another's */
export async function findImport(viewer: Identity, id: number): Promise<ImportRecord> {
  const where = visibleTo(viewer).and('i.id = ?', id);
  const [row] = await select<ImportRow>(`${recordSql} ${where.sql}`, where.values);
  return row ? toRecord(row) : fail('import_not_found');
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
  await change('UPDATE imports SET deleted_at = ?, expires_at = ? WHERE id = ?', [now(), now(), id]);
}

const maxRemovedAtOnce = 20_000;

/**
 * Removes failed rows whose time is over with the file they are in, and deleted imports with them; what is too much for now
 * waits for the next time.
 */
export async function pruneImports(): Promise<void> {
  const rows = await select<{ id: number; storage_key: string; deleted_at: Date | null }>(
    'SELECT id, storage_key, deleted_at FROM imports WHERE expires_at < ? ORDER BY expires_at LIMIT 20',
    [now()],
  );
  for (const { id, storage_key, deleted_at } of rows) {
    if (!(await removeErrors(id, maxRemovedAtOnce))) return;
    await transact(async (t) => {
      await releaseFiles([storage_key], t);
      await change(
        deleted_at
          ? 'DELETE FROM imports WHERE id = ? AND concluded = 1'
          : 'UPDATE imports SET expires_at = NULL WHERE id = ?',
        [id],
        t,
      );
    });
    await removeFiles([storage_key]);
  }
}

interface ImportRow extends Omit<
  ImportRecord,
  'dry_run' | 'status_text' | 'processed_rows' | 'error_msg' | 'admin' | 'error_file_url'
> {
  dry_run: number;
  position: number;
  error: ErrorSlug | null;
  error_row: number | null;
  username: string | null;
  expires_at: Date | null;
  file_state: string | null;
}

const recordSql = `SELECT i.id, i.type, i.filename, i.size, i.dry_run, i.status, i.progress, i.position, i.total_rows, i.success_count,
    i.failed_count, i.order_count, i.error, i.error_row, i.admin_id, a.username, i.created_at, i.finished_at, i.expires_at,
    f.state AS file_state
  FROM imports i LEFT JOIN admins a ON a.id = i.admin_id LEFT JOIN stored_files f ON f.storage_key = i.storage_key`;

function visibleTo({ adminId, isSuperAdmin }: Identity): Where {
  const where = new Where().and('i.deleted_at IS NULL');
  return isSuperAdmin ? where : where.and('i.admin_id = ?', adminId);
}

function toRecord(row: ImportRow): ImportRecord {
  const { username, position, error, error_row, expires_at, file_state, ...columns } = row;
  const isKept = file_state === 'kept' && expires_at !== null && expires_at > now();
  const hasErrorFile = row.failed_count > 0 && isKept;
  return {
    ...columns,
    dry_run: row.dry_run === 1,
    status_text: say(statusText(row), currentLanguage()),
    processed_rows: position,
    error_msg: error && importErrorText(error, error_row, currentLanguage()),
    admin: username === null ? null : { id: row.admin_id, username },
    error_file_url: hasErrorFile ? `/api/admin/imports/${row.id}/error-file` : null,
  };
}

function statusText({ status, total_rows, failed_count, error }: ImportRow): Text {
  if (status === 0 && total_rows === null) return { zh: '等待处理', en: 'Waiting' };
  if (status === 0) return { zh: '处理中', en: 'Running' };
  if (error === 'import_cancelled') return { zh: '已取消', en: 'Cancelled' };
  if (status === 2) return { zh: '失败', en: 'Failed' };
  return failed_count > 0
    ? { zh: '完成，部分行失败', en: 'Done, some rows failed' }
    : { zh: '成功', en: 'Done' };
}
