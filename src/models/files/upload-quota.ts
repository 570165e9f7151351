// UPLOAD_QUOTA_MB: what the attachments and unmerged chunks of one administrator may take together.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { select } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import { Admin } from '../access/tables.js';

/**
 * Checks, in the transaction that adds the bytes and before it does, that they still fit. The administrator's row stays
 * locked until its end, so that uploads at the same time cannot pass together what only one of them may.
 *
 * @throws upload_quota_exceeded
 */
export async function assertFitsQuota(adminId: number, bytes: number, t: Transaction): Promise<void> {
  const { quotaBytes } = config.storage;
  if (quotaBytes === 0) return;
  await Admin.findByPk(adminId, { attributes: ['id'], transaction: t, lock: true });
  const [row] = await select<{ used: string | number }>(
    `SELECT (SELECT COALESCE(SUM(size), 0) FROM attachments WHERE admin_id = ?)
       + (SELECT COALESCE(SUM(received_bytes), 0) FROM chunk_sessions WHERE admin_id = ?) AS used`,
    [adminId, adminId],
    t,
  );
  if (Number(row?.used ?? 0) + bytes > quotaBytes) fail('upload_quota_exceeded', { field: 'file' });
}
