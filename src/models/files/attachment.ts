// attachments: files that administrators keep; each with its name, kind and digest, its content in the storage.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { config } from '../../../config/index.js';
import { assertKind, type Charset, type OpenFile } from '../../lib/files/file-content.js';
import { kindOf, type FileKind, type FileType } from '../../lib/files/file-kinds.js';
import { cleanFilename, extensionOf } from '../../lib/files/filename.js';
import { Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { Admin } from '../access/tables.js';
import { columnsOf, joined, selection, selectionOf } from '../tables/selection.js';
import { insertRow, updateRows } from '../tables/rows.js';
import type { Listed } from '../tables/table.js';
import { keepFile, keepOrRemove, releaseFiles, removeFiles, storeFile } from './stored-file.js';
import { Attachment } from './tables.js';
import { assertFitsQuota } from './upload-quota.js';
import { over } from '../tables/sql.js';

/** An attachment as it is answered. */
export interface AttachmentRecord extends Listed<Attachment> {
  admin: Pick<Listed<Admin>, 'id' | 'username'> | null;
  /** Path of its preview. */
  url: string;
}

const attachments = selectionOf(
  (row): AttachmentRecord => ({ ...row, url: `/api/admin/attachments/${row.id}/preview` }),
  { ...columnsOf(Attachment, 'f'), admin: joined(columnsOf(Admin, 'a', 'id', 'username')) },
  'attachments f',
  'LEFT JOIN admins a ON a.id = f.admin_id',
);

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
  const charset = await assertKind(name.kind, file.size, open);
  const key = await storeFile('attachments', file.path);
  return keepOrRemove(key, () =>
    transact(async (t) => {
      await assertFitsQuota(adminId, file.size, t);
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
  const named = { filename, display_name: filename, extension, mime_type: kind.mime, type: kind.type };
  const id = await insertRow(
    Attachment,
    { ...named, admin_id: adminId, storage_key: key, charset, size, sha256, created_at: at, updated_at: at },
    t,
  );
  await keepFile(key, t);
  return id;
}

export function listAttachments(query: AttachmentFilter): Promise<Page<AttachmentRecord>> {
  const where = new Where()
    .contains('f.filename', query.filename)
    .contains('f.display_name', query.display_name)
    .equals('f.type', query.type)
    .equalsAscii('f.extension', query.extension?.toLowerCase())
    .equals('f.admin_id', query.admin_id)
    .during('f.created_at', query);
  return attachments.page(query, where);
}

/** @throws attachment_not_found */
export async function findAttachment(id: number): Promise<AttachmentRecord> {
  return (await attachments.one(sql('WHERE f.id = :id', { id }))) ?? fail('attachment_not_found');
}

/** Where the content of an attachment lies, and how it is encoded when it is a text. @throws attachment_not_found */
export async function contentOfAttachment(id: number): Promise<{ key: string; charset: Charset | null }> {
  return (await contents.one(sql('WHERE f.id = :id', { id }))) ?? fail('attachment_not_found');
}

const { storage_key, charset } = columnsOf(Attachment, 'f', 'storage_key', 'charset');
const contents = selection({ key: storage_key, charset }, 'attachments f');
const sql = over({ 'attachments f': Attachment });

/** @throws file_name_invalid */
export async function renameAttachment(id: number, displayName: string): Promise<void> {
  const name = cleanFilename(displayName) ?? fail('file_name_invalid', { field: 'display_name' });
  await updateRows(Attachment, { display_name: name, updated_at: now() }, { id });
}

/** Deletes attachments with their files; those that do not exist count for nothing. @returns how many were deleted */
export async function removeAttachments(ids: readonly number[]): Promise<number> {
  const keys = await transact(async (t) => {
    const rows = await contents.where(sql('WHERE f.id IN (:ids) ORDER BY f.id FOR UPDATE', { ids }), { t });
    const found = rows.map(({ key }) => key);
    if (found.length === 0) return found;
    await Attachment.destroy({ where: { id: ids }, transaction: t });
    await releaseFiles(found, t);
    return found;
  });
  await removeFiles(keys);
  return keys.length;
}
