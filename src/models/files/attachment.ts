// attachments: files of administrators: name, kind and digest in the row, content in the storage.
import { createReadStream } from 'node:fs';
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { transact } from '../../lib/database/db.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { checkedCharset, type Charset } from '../../lib/files/file-content.js';
import { fileTypes, kindOf, type FileKind, type FileType } from '../../lib/files/file-kinds.js';
import { cleanFilename, extensionOf } from '../../lib/files/filename.js';
import { listQuery, type Criteria, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { id, textFilter } from '../../lib/input/schema.js';
import { adminOf, withAdmin } from '../access/tables.js';
import { containing, during, equalAscii, findPage, lockRow, matching } from '../tables/find.js';
import { listed, type Listed } from '../tables/table.js';
import { keepFile, keepOrRemove, releaseFiles, removeFiles, storeFile } from './stored-file.js';
import { Attachment, ChunkUpload } from './tables.js';
import { assertFitsQuota, lockQuota } from './upload-quota.js';

interface AttachmentRecord extends Listed<Attachment> {
  admin: ReturnType<typeof adminOf>;
  /** Path of its preview. */
  url: string;
}

const toRecord = (attachment: Attachment): AttachmentRecord => ({
  ...listed(attachment),
  admin: adminOf(attachment),
  url: `/api/admin/attachments/${attachment.id}/preview`,
});

const attachmentFilters = {
  filename: textFilter(255),
  display_name: textFilter(255),
  type: Joi.string<FileType>().valid(...fileTypes),
  extension: textFilter(16),
  admin_id: id(),
};

type AttachmentFilter = Criteria<typeof attachmentFilters> & ListQuery;

/** The query of the list. */
export const attachmentQuery = listQuery<AttachmentFilter>(
  ['id', 'filename', 'display_name', 'extension', 'type', 'size', 'created_at', 'updated_at'],
  attachmentFilters,
);

interface FileName {
  filename: string;
  extension: string;
  kind: FileKind;
}

/**
 * The name of a file to be uploaded, as it is stored.
 *
 * @param field the field to report in the error
 * @throws file_name_invalid, file_type_not_allowed
 */
export function readFileName(given: string, field: string): FileName {
  const filename = cleanFilename(given) ?? fail('file_name_invalid', { field });
  const extension = extensionOf(filename);
  const allowed = config.storage.extensions;
  const kind = allowed.includes(extension) ? kindOf(extension) : undefined;
  if (!kind) throw fileError('file_type_not_allowed', field);
  return { filename, extension, kind };
}

/** What a file is refused with; the text may name the extensions that are allowed. */
export const fileError = (slug: ErrorSlug, field?: string): AppError =>
  new AppError(slug, { field, params: { types: config.storage.extensions.join(', ') } });

interface ReceivedFile {
  /** On the local disk; the storage takes it over. */
  path: string;
  size: number;
  sha256: string;
}

/**
 * Stores a received file as an attachment.
 *
 * @throws file_content_mismatch, upload_quota_exceeded, storage_full, upload_failed
 */
export async function addAttachment(adminId: number, name: FileName, file: ReceivedFile): Promise<number> {
  const charset = await checkedCharset(name.kind, file.size, (range) =>
    Promise.resolve(createReadStream(file.path, range)),
  );
  const key = await storeFile('attachments', file.path);
  return keepOrRemove(key, () =>
    transact(async (t) => {
      await lockQuota(adminId, t);
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
  const named = { filename, display_name: filename, extension, mime_type: kind.mime, type: kind.type };
  const attachment = await Attachment.create(
    { ...named, admin_id: adminId, storage_key: key, charset, size, sha256 },
    { transaction: t },
  );
  await keepFile(key, t);
  return attachment.id;
}

export function listAttachments(query: AttachmentFilter): Promise<Page<AttachmentRecord>> {
  const where = matching<Attachment>({
    filename: containing(query.filename),
    display_name: containing(query.display_name),
    type: query.type,
    extension: equalAscii(query.extension?.toLowerCase()),
    admin_id: query.admin_id,
    created_at: during(query),
  });
  return findPage(Attachment, query, { where, include: withAdmin }, toRecord);
}

/** @throws attachment_not_found */
export async function getAttachment(id: number, transaction?: Transaction): Promise<AttachmentRecord> {
  await lockRow(Attachment, id, transaction);
  const found = await Attachment.findByPk(id, { include: withAdmin, transaction });
  return toRecord(found ?? fail('attachment_not_found'));
}

/** The whole row, with what its file is sent by. @throws attachment_not_found */
export async function attachmentRow(id: number): Promise<Attachment> {
  return (await Attachment.findByPk(id)) ?? fail('attachment_not_found');
}

/** @throws file_name_invalid */
export async function renameAttachment(id: number, displayName: string): Promise<void> {
  const name = cleanFilename(displayName) ?? fail('file_name_invalid', { field: 'display_name' });
  await transact(async (t) => {
    await Attachment.update({ display_name: name }, { where: { id }, transaction: t });
  });
}

/** Deletes attachments with their files; ids that do not exist are ignored. @returns how many were deleted */
export async function deleteAttachments(ids: readonly number[]): Promise<number> {
  const keys = await transact(async (t) => {
    const where = { id: ids };
    const rows = await Attachment.findAll({ where, order: ['id'], transaction: t, lock: true });
    const found = rows.map(({ storage_key }) => storage_key);
    if (found.length === 0) return found;
    await Attachment.destroy({ where, transaction: t });
    await releaseFiles(found, t);
    // A client that names its uploads by their content may send the same file again.
    const uploads = await ChunkUpload.findAll({ where: { attachment_id: ids }, transaction: t });
    for (const upload of uploads) await upload.destroy({ transaction: t });
    return found;
  });
  await removeFiles(keys);
  return keys.length;
}
