// Merging a chunked upload into one attachment, exactly once; the session is the state. The end of a merge is stored in
// one transaction with the attachment and the notification of the owner.
import { Op, type Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { transact } from '../../lib/database/db.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import { checkedCharset, type Charset } from '../../lib/files/file-content.js';
import { storage } from '../../lib/storage/index.js';
import { FileMissing, StorageFull, type Composed } from '../../lib/storage/storage.js';
import { now } from '../../lib/values/clock.js';
import { inBoth } from '../../lib/values/language.js';
import { deliver, notifyWithin, type NewNotification } from '../office/notification.js';
import { fileError, insertAttachment, readFileName, type NewAttachment } from './attachment.js';
import { chunkFiles, chunkIndexes, releaseChunks, type SessionKey } from './chunk.js';
import { assertMatchesSession, expiry, findSession, getSession, type NewSession } from './chunk-session.js';
import { keepOrRemove, removeFiles, reserveFile } from './stored-file.js';
import { ChunkUpload } from './tables.js';

const maxNamed = 50;

/** How far a merge is. */
export type Merge = Pick<ChunkUpload, 'status' | 'attachment_id' | 'error'>;

const mergeOf = ({ status, attachment_id, error }: ChunkUpload): Merge => ({
  status,
  attachment_id,
  error,
});

/**
 * Closes the session for further chunks; of concurrent calls one begins the merge. A failed merge that still has its
 * chunks can be begun again.
 *
 * @param announced size and digest of the whole file, as the call gives them
 * @returns the state of the merge, and whether this call has begun it
 * @throws chunk_session_not_found, chunk_session_mismatch, chunks_missing
 */
export async function beginMerge(
  key: SessionKey,
  announced: Partial<NewSession>,
): Promise<Merge & { begun: boolean }> {
  return transact(async (t) => {
    const session = await getSession(key, t);
    assertMatchesSession(session, announced);
    const { status, received_chunks, total_chunks, attachment_id, error } = session;
    const isWhole = received_chunks === total_chunks;
    if (status === 'merging' || status === 'completed' || (status === 'failed' && !isWhole))
      return { status, attachment_id, error, begun: false };
    if (!isWhole) await refuseMissing(session, t);
    const total_size = session.total_size ?? announced.total_size ?? null;
    const sha256 = session.sha256 ?? announced.sha256 ?? null;
    await session.update(
      { status: 'merging', error: null, to_be_told: false, total_size, sha256 },
      { transaction: t },
    );
    return { status: 'merging', attachment_id: null, error: null, begun: true };
  });
}

/**
 * The request no longer waits: the owner is notified on completion.
 *
 * @returns the state of the merge, which may have ended meanwhile
 */
export async function stopWaiting({ admin_id, chunk_id }: SessionKey): Promise<Merge> {
  const where = { admin_id, chunk_id, status: 'merging' };
  await transact(async (t) => {
    await ChunkUpload.update({ to_be_told: true }, { where, silent: true, transaction: t });
  });
  return mergeOf(await getSession({ admin_id, chunk_id }));
}

/** Restarts an abandoned merge; its owner is notified of the end. @returns false when there is nothing to merge */
export async function reopenMerge(key: SessionKey): Promise<boolean> {
  try {
    const { status } = await beginMerge(key, {});
    if (status === 'merging') await stopWaiting(key);
    return status === 'merging';
  } catch (error) {
    if (error instanceof AppError) return false;
    throw error;
  }
}

/** Keys of sessions that have been merging since before that instant. */
export async function unfinishedMerges(before: Date): Promise<SessionKey[]> {
  const where = { status: 'merging', updated_at: { [Op.lt]: before } };
  const rows = await ChunkUpload.findAll({ where, limit: 100 });
  return rows.map(({ admin_id, chunk_id }) => ({ admin_id, chunk_id }));
}

/**
 * Merges the chunks. Runs may overlap: the first to end decides.
 *
 * @returns the state of the merge; undefined when the session no longer exists
 */
export async function merge(key: SessionKey, signal: AbortSignal): Promise<Merge | undefined> {
  const session = await findSession(key);
  if (session?.status !== 'merging') return session ? mergeOf(session) : undefined;
  const parts = await chunkFiles(key);
  const file = await reserveFile('attachments');
  try {
    return await keepOrRemove(file, async () => {
      const composed = await (await storage()).compose(file, parts, signal);
      const charset = await verifyFile(session, file, composed);
      return completeMerge(key, { key: file, charset, ...composed });
    });
  } catch (error) {
    if (error instanceof Overtaken) return mergeOf(error.session);
    const outcome = failureOf(error);
    if (!outcome) throw error;
    return failMerge(key, outcome.slug, { isFinal: outcome.isFinal });
  }
}

async function refuseMissing(session: ChunkUpload, t: Transaction): Promise<never> {
  const there = new Set(await chunkIndexes(session, t));
  const missing = [...Array(session.total_chunks).keys()].filter((index) => !there.has(index));
  const named = missing.slice(0, maxNamed).join(', ');
  const indexes = missing.length > maxNamed ? `${named}, … (${missing.length})` : named;
  return fail('chunks_missing', { params: { indexes }, field: 'chunk_id' });
}

/** @throws upload_size_mismatch, upload_digest_mismatch, file_content_mismatch, file_type_not_allowed */
async function verifyFile(
  session: ChunkUpload,
  file: string,
  { size, sha256 }: Composed,
): Promise<Charset | null> {
  if (size !== (session.total_size ?? session.received_bytes)) fail('upload_size_mismatch');
  if (session.sha256 !== null && session.sha256 !== sha256) fail('upload_digest_mismatch');
  const { kind } = readFileName(session.filename, 'filename');
  const driver = await storage();
  return checkedCharset(kind, size, (range) => driver.get(file, range));
}

function failureOf(error: unknown): { slug: ErrorSlug; isFinal: boolean } | undefined {
  if (error instanceof StorageFull) return { slug: 'storage_full', isFinal: false };
  // The file may be on another machine or an unmounted folder: keep the chunks.
  if (error instanceof FileMissing) return { slug: 'upload_failed', isFinal: false };
  return error instanceof AppError ? { slug: error.slug, isFinal: true } : undefined;
}

/** Another run of the same merge ended first. */
class Overtaken extends Error {
  constructor(readonly session: ChunkUpload) {
    super('another run ended first');
  }
}

/** Makes the merged file an attachment. @throws Overtaken */
async function completeMerge(
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
    if (session.status !== 'merging') return { session, chunks: [] };
    const chunks = isFinal ? await releaseChunks(key, t) : [];
    session.set({ status: 'failed', error: slug });
    return storeEnd(session, { chunks, isFinal }, t);
  });
  return publishEnd(end);
}

interface MergeEnd {
  session: ChunkUpload;
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
  if (mustNotify) await notifyWithin(t, noticeOf(session));
  return { session, chunks };
}

async function publishEnd({ session, chunks }: MergeEnd): Promise<Merge> {
  const { admin_id, chunk_id } = session;
  const merge = mergeOf(session);
  await deliver({ adminId: admin_id, frame: { type: 'merge', data: { chunk_id, ...merge } } });
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
