// The end of a merge: stored once, in one transaction with the attachment and the notification of the owner.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { transact } from '../../lib/database/db.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { now } from '../../lib/values/clock.js';
import { inBoth } from '../../lib/values/language.js';
import { deliver, deliverStored, notifyWithin, type NewNotification } from '../office/notification.js';
import { fileError, insertAttachment, readFileName, type NewAttachment } from './attachment.js';
import { releaseChunks, type SessionKey } from './chunk.js';
import { expiry, getSession } from './chunk-session.js';
import { removeFiles } from './stored-file.js';
import type { ChunkUpload } from './tables.js';

export type Merge = Pick<ChunkUpload, 'status' | 'attachment_id' | 'error'>;

export const mergeOf = ({ status, attachment_id, error }: ChunkUpload): Merge => ({
  status,
  attachment_id,
  error,
});

/** Another run of the same merge ended first. */
export class Overtaken extends Error {
  constructor(readonly session: ChunkUpload) {
    super('another run ended first');
  }
}

/** Makes the merged file an attachment. @throws Overtaken */
export async function completeMerge(
  key: SessionKey,
  file: Pick<NewAttachment, 'key' | 'charset' | 'size' | 'sha256'>,
): Promise<Merge> {
  const end = await transact(async (t) => {
    const session = await getSession(key, t);
    if (session.status !== 'merging') throw new Overtaken(session);
    const name = readFileName(session.filename, 'filename');
    const attachment_id = await insertAttachment({ adminId: key.admin_id, name, ...file }, t);
    const chunks = await releaseChunks(key, t);
    session.set({ status: 'completed', attachment_id });
    return storeEnd(session, { chunks, isFinal: true }, t);
  });
  return publishEnd(end);
}

/** Ends a merge without an attachment. Unless that is final, the chunks stay and it may be begun again. */
export async function failMerge(
  key: SessionKey,
  slug: ErrorSlug,
  { isFinal }: { isFinal: boolean },
): Promise<Merge> {
  const end = await transact(async (t) => {
    const session = await getSession(key, t);
    if (session.status !== 'merging') return { session, notifications: [], chunks: [] };
    const chunks = isFinal ? await releaseChunks(key, t) : [];
    session.set({ status: 'failed', error: slug });
    return storeEnd(session, { chunks, isFinal }, t);
  });
  return publishEnd(end);
}

interface MergeEnd {
  session: ChunkUpload;
  /** Ids, when the owner waits for a notification. */
  notifications: number[];
  /** Files to remove. */
  chunks: string[];
}

async function storeEnd(
  session: ChunkUpload,
  { chunks, isFinal }: { chunks: string[]; isFinal: boolean },
  t: Transaction,
): Promise<MergeEnd> {
  // A request that broke off has not said that it no longer waits. None waits longer than the sweeper does.
  const isLate = now().getTime() - session.updated_at.getTime() > config.worker.sweepAgeMs;
  const mustNotify = session.to_be_told || isLate;
  const left = isFinal ? { received_chunks: 0, received_bytes: 0 } : {};
  session.set({ ...left, to_be_told: false, expires_at: expiry() });
  await session.save({ transaction: t });
  const notifications = mustNotify ? await notifyWithin(t, noticeOf(session)) : [];
  return { session, notifications, chunks };
}

async function publishEnd({ session, notifications, chunks }: MergeEnd): Promise<Merge> {
  const { admin_id, chunk_id } = session;
  const merge = mergeOf(session);
  await deliver({ adminId: admin_id, frame: { type: 'merge', data: { chunk_id, ...merge } } });
  await deliverStored(notifications);
  await removeFiles(chunks);
  return merge;
}

function noticeOf({ admin_id, filename, status, error }: ChunkUpload): NewNotification {
  const isDone = status === 'completed';
  const reason = fileError(error ?? 'upload_failed');
  return {
    type: 'system',
    title: isDone
      ? { zh: '文件上传完成', en: 'The upload is complete' }
      : { zh: '文件上传失败', en: 'The upload failed' },
    content: isDone
      ? filename
      : `${filename}: ${inBoth({ zh: reason.text('zh-CN'), en: reason.text('en-US') })}`,
    receiverIds: [admin_id],
  };
}
