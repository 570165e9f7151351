// UPLOAD_QUOTA_MB: what the attachments and unmerged chunks of one administrator may take together.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { fail } from '../../lib/errors/app-error.js';
import { Admin } from '../access/tables.js';
import { Attachment, ChunkUpload } from './tables.js';

/**
 * Locks the quota of an administrator until the end of the transaction, so that concurrent uploads cannot exceed
 * it together.
 */
export async function lockQuota(adminId: number, t: Transaction): Promise<void> {
  if (config.storage.quotaBytes === 0) return;
  await Admin.findByPk(adminId, { attributes: ['id'], transaction: t, lock: true });
}

/**
 * Checks, after `lockQuota`, that the bytes which the transaction is about to add still fit.
 *
 * @throws upload_quota_exceeded
 */
export async function assertFitsQuota(
  adminId: number,
  bytes: number,
  t: Transaction,
  field = 'file',
): Promise<void> {
  const { quotaBytes } = config.storage;
  if (quotaBytes === 0) return;
  const own = { where: { admin_id: adminId }, transaction: t };
  const kept = await Attachment.sum('size', own);
  const received = await ChunkUpload.sum('received_bytes', own);
  // SUM() is a text, or null over no rows.
  if (Number(kept ?? 0) + Number(received ?? 0) + bytes > quotaBytes)
    fail('upload_quota_exceeded', { field });
}
