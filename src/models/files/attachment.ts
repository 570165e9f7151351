// attachments: files that administrators keep; each with its name, kind and digest, its content in the storage.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { change, insert, select, transact, type SqlValue } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { config } from '../../../config/index.js';
import { mustBeOfKind, type Charset, type OpenFile } from '../../lib/files/file-content.js';
import { kindOf, type FileKind, type FileType } from '../../lib/files/file-kinds.js';
import { cleanFilename, extensionOf } from '../../lib/files/filename.js';
import { pageSql, toPage, Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { keepFile, keepOrRemove, releaseFiles, removeFiles, storeFile } from './stored-file.js';
import { mustFitQuota } from './upload-quota.js';

export interface AttachmentRecord {
  id: number;
  filename: string;
  display_name: string;
  extension: string;
  mime_type: string;
  size: number;
  type: FileType;
  sha256: string;
  admin_id: number;
  admin: { id: number; username: string } | null;
  created_at: Date;
  updated_at: Date;
  /** Path of its preview. */
  url: string;
}

export interface AttachmentFilter extends ListQuery {
  filename?: string;
  display_name?: string;
  type?: FileType;
  extension?: string;
  admin_id?: number;
}

export const attachmentSortable = [
  'id',
  'filename',
  'display_name',
  'extension',
  'type',
  'size',
  'created_at',
  'updated_at',
] as const;

export interface FileName {
  filename: string;
  extension: string;
  kind: FileKind;
}

/**
 * The name of a file to be uploaded, as it is kept.
 *
 * @param field the field to report in the error
 * @throws file_name_invalid, file_type_not_allowed
 */
export function readFileName(given: string, field: string): FileName {
  const filename = cleanFilename(given) ?? fail('file_name_invalid', { field });
  const extension = extensionOf(filename);
  const kind = config.storage.extensions.includes(extension) ? kindOf(extension) : undefined;
  return { filename, extension, kind: kind ?? fail('file_type_not_allowed', { field }) };
}

export interface ReceivedFile {
  /** On the local disk; the storage takes it over. */
  path: string;
  size: number;
  sha256: string;
}

/**
 * Keeps a received file as an attachment.
 *
 * @throws file_content_mismatch, upload_quota_exceeded, storage_full, upload_failed
 */
export async function addAttachment(
  adminId: number,
  name: FileName,
  file: ReceivedFile,
  open: OpenFile,
): Promise<number> {
  const charset = await mustBeOfKind(name.kind, file.size, open);
  const key = await storeFile('attachments', file.path);
  return keepOrRemove(key, () =>
    transact(async (t) => {
      await mustFitQuota(adminId, file.size, t);
      return insertAttachment({ adminId, name, charset, key, ...file }, t);
    }),
  );
}

export interface NewAttachment {
  adminId: number;
  name: FileName;
  charset: Charset | null;
  key: string;
  size: number;
  sha256: string;
}

/** Writes the row of a stored file, in the transaction that decides about it. @returns its id */
export async function insertAttachment(file: NewAttachment, t: Transaction): Promise<number> {
  const { adminId, charset, key, size, sha256 } = file;
  const { filename, extension, kind } = file.name;
  const at = now();
  const id = await insert(
    `INSERT INTO attachments (admin_id, storage_key, filename, display_name, extension, mime_type, charset, type, size,
       sha256, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [adminId, key, filename, filename, extension, kind.mime, charset, kind.type, size, sha256, at, at],
    t,
  );
  await keepFile(key, t);
  return id;
}

export async function listAttachments(query: AttachmentFilter): Promise<Page<AttachmentRecord>> {
  const where = new Where()
    .contains('f.filename', query.filename)
    .contains('f.display_name', query.display_name)
    .equals('f.type', query.type)
    .equalsAscii('f.extension', query.extension?.toLowerCase())
    .equals('f.admin_id', query.admin_id)
    .during('f.created_at', query);
  const [list, [count]] = await Promise.all([
    selectAttachments(`${where.sql} ${pageSql(query, 'f')}`, where.values),
    select<{ total: number }>(`SELECT COUNT(*) AS total FROM attachments f ${where.sql}`, where.values),
  ]);
  return toPage(query, list, count?.total ?? 0);
}

/** @throws attachment_not_found */
export async function findAttachment(id: number): Promise<AttachmentRecord> {
  const [found] = await selectAttachments('WHERE f.id = ?', [id]);
  return found ?? fail('attachment_not_found');
}

/** Where the content of an attachment lies, and how it is encoded when it is a text. @throws attachment_not_found */
export async function contentOfAttachment(id: number): Promise<{ key: string; charset: Charset | null }> {
  const [found] = await select<{ key: string; charset: Charset | null }>(
    'SELECT storage_key AS `key`, charset FROM attachments WHERE id = ?',
    [id],
  );
  return found ?? fail('attachment_not_found');
}

/** @throws file_name_invalid */
export async function renameAttachment(id: number, displayName: string): Promise<void> {
  const name = cleanFilename(displayName) ?? fail('file_name_invalid', { field: 'display_name' });
  await change('UPDATE attachments SET display_name = ?, updated_at = ? WHERE id = ?', [name, now(), id]);
}

/** Deletes attachments with their files; those that do not exist count for nothing. @returns how many were deleted */
export async function removeAttachments(ids: readonly number[]): Promise<number> {
  const keys = await transact(async (t) => {
    const rows = await select<{ storage_key: string }>(
      'SELECT storage_key FROM attachments WHERE id IN (?) ORDER BY id FOR UPDATE',
      [ids],
      t,
    );
    const found = rows.map(({ storage_key }) => storage_key);
    if (found.length === 0) return found;
    await change('DELETE FROM attachments WHERE id IN (?)', [ids], t);
    await releaseFiles(found, t);
    return found;
  });
  await removeFiles(keys);
  return keys.length;
}

interface AttachmentRow extends Omit<AttachmentRecord, 'admin' | 'url'> {
  username: string | null;
}

async function selectAttachments(tail: string, values: SqlValue[]): Promise<AttachmentRecord[]> {
  const rows = await select<AttachmentRow>(
    `SELECT f.id, f.filename, f.display_name, f.extension, f.mime_type, f.size, f.type, f.sha256, f.admin_id, a.username,
       f.created_at, f.updated_at
     FROM attachments f LEFT JOIN admins a ON a.id = f.admin_id ${tail}`,
    values,
  );
  return rows.map(toRecord);
}

function toRecord({ username, ...row }: AttachmentRow): AttachmentRecord {
  return {
    id: row.id,
    filename: row.filename,
    display_name: row.display_name,
    extension: row.extension,
    mime_type: row.mime_type,
    size: row.size,
    type: row.type,
    sha256: row.sha256,
    admin_id: row.admin_id,
    admin: username === null ? null : { id: row.admin_id, username },
    created_at: row.created_at,
    updated_at: row.updated_at,
    url: `/api/admin/attachments/${row.id}/preview`,
  };
}
