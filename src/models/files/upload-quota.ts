// UPLOAD_QUOTA_MB: what the attachments and unmerged chunks of one administrator may take together.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { fail } from '../../lib/errors/app-error.js';
import { Admin } from '../access/tables.js';
import { Attachment, ChunkUpload } from './tables.js';

/**
 * Checks, in the transaction that adds the bytes and before it does, that they still fit. The administrator's row stays
 * locked until its end, so that uploads at the same time cannot pass together what only one of them may.
 *
 * @param freed bytes of what they replace, asked for behind the lock
 * @throws upload_quota_exceeded
 */
export async function assertFitsQuota(
  adminId: number,
  bytes: number,
  t: Transaction,
  freed?: () => Promise<number>,
): Promise<void> {
  const { quotaBytes } = config.storage;
  if (quotaBytes === 0) return;
  await Admin.findByPk(adminId, { attributes: ['id'], transaction: t, lock: true });
  const own = { where: { admin_id: adminId }, transaction: t };
  const kept = await Attachment.sum('size', own);
  const received = await ChunkUpload.sum('received_bytes', own);
  const added = bytes - ((await freed?.()) ?? 0);
  // SUM() is a text, or null over no rows.
  if (Number(kept ?? 0) + Number(received ?? 0) + added > quotaBytes)
    fail('upload_quota_exceeded', { field: 'file' });
}
