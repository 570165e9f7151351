// chunk_sessions: uploads that arrive in pieces. A session belongs to the administrator who opened it.
import { Op, type Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { currentLanguage } from '../../lib/process/context.js';
import { randomToken } from '../../lib/secrets/random-id.js';
import { Admin } from '../access/tables.js';
import { listed, type Listed } from '../tables/table.js';
import { fileError, readFileName } from './attachment.js';
import { chunkIndexes, releaseChunks, type SessionKey } from './chunk.js';
import { removeFiles } from './stored-file.js';
import { ChunkUpload } from './tables.js';
import { assertFitsQuota } from './upload-quota.js';

export interface NewSession {
  filename: string;
  total_chunks: number;
  total_size?: number;
  chunk_size?: number;
  sha256?: string;
}

interface ChunkProgress extends Listed<ChunkUpload> {
  uploaded_count: number;
  uploaded_chunks: number[];
  /** Percent. */
  progress: number;
  error_msg: string | null;
}

/**
 * Opens a session under a random name.
 *
 * @throws file_name_invalid, file_type_not_allowed, chunk_sessions_exhausted, upload_quota_exceeded
 */
export async function openSession(adminId: number, session: NewSession): Promise<ChunkUpload> {
  const key = { admin_id: adminId, chunk_id: randomToken(18) };
  await insertSession(key, session);
  return getSession(key);
}

/**
 * The upload session of a chunk; the first chunk opens it under the id its client chose.
 *
 * @param session undefined when the client sent nothing to open a session with
 * @throws chunk_session_not_found, file_name_invalid, file_type_not_allowed, chunk_sessions_exhausted,
 * upload_quota_exceeded
 */
export async function getOrOpenSession(key: SessionKey, session?: NewSession): Promise<ChunkUpload> {
  const known = await findSession(key);
  if (known) return known;
  if (session) await insertSession(key, session);
  return getSession(key);
}

/** The session, locked in a transaction. @throws chunk_session_not_found, also when it is another's */
export async function getSession(key: SessionKey, t?: Transaction): Promise<ChunkUpload> {
  return (await findSession(key, t)) ?? fail('chunk_session_not_found', { field: 'chunk_id' });
}

/** @throws chunk_session_not_found */
export async function progressOf(key: SessionKey): Promise<ChunkProgress> {
  const session = await getSession(key);
  const { total_chunks, status, error } = session;
  const isDone = status === 'completed';
  const uploaded_chunks = isDone ? [...Array(total_chunks).keys()] : await chunkIndexes(key);
  const uploaded_count = uploaded_chunks.length;
  const progress = Math.floor((uploaded_count * 100) / total_chunks);
  const error_msg = error && fileError(error).text(currentLanguage());
  return { ...listed(session), error_msg, uploaded_count, uploaded_chunks, progress };
}

/** The session as a call describes it again must be the one that was opened. @throws chunk_session_mismatch */
export function assertMatchesSession(session: ChunkUpload, announced: Partial<NewSession>): void {
  const { filename } = announced;
  if (filename !== undefined && readFileName(filename, 'filename').filename !== session.filename)
    fail('chunk_session_mismatch', { field: 'filename' });
  for (const field of ['total_chunks', 'total_size', 'chunk_size', 'sha256'] as const) {
    const value = announced[field];
    if (value !== undefined && value !== (session[field] ?? value)) fail('chunk_session_mismatch', { field });
  }
}

/** Cancels an upload. @throws chunk_session_not_found; chunk_session_closed when it is being merged or was merged */
export async function cancelSession(key: SessionKey): Promise<void> {
  const files = await transact(async (t) => {
    const session = await getSession(key, t);
    if (session.status === 'merging' || session.status === 'completed')
      fail('chunk_session_closed', { field: 'chunk_id' });
    return deleteSession(session, t);
  });
  await removeFiles(files);
}

/** Removes expired sessions; one that is being merged stays. */
export async function sweepSessions(): Promise<void> {
  const expired = { expires_at: { [Op.lt]: now() }, status: { [Op.ne]: 'merging' } };
  const stale = await ChunkUpload.findAll({ where: expired, limit: 100 });
  for (const key of stale) {
    const files = await transact(async (t) => {
      const session = await findSession(key, t);
      if (!session || session.status === 'merging' || session.expires_at >= now()) return [];
      return deleteSession(session, t);
    });
    await removeFiles(files);
  }
}

export const expiry = (): Date => new Date(now().getTime() + config.storage.chunkSessionMs);

/** Locked within a transaction. */
export const findSession = (
  { admin_id, chunk_id }: SessionKey,
  t?: Transaction,
): Promise<ChunkUpload | null> =>
  ChunkUpload.findOne({ where: { admin_id, chunk_id }, transaction: t, lock: t !== undefined });

async function deleteSession(session: ChunkUpload, t: Transaction): Promise<string[]> {
  const released = await releaseChunks(session, t);
  await session.destroy({ transaction: t });
  return released;
}

// Several first chunks may come at once; one of them opens the session.
async function insertSession(key: SessionKey, session: NewSession): Promise<void> {
  const { filename } = readFileName(session.filename, 'filename');
  await transact(async (t) => {
    await assertRoom(key.admin_id, t);
    const { total_chunks, total_size = null, chunk_size = null, sha256 = null } = session;
    // Known to be too large, it is refused before its chunks are sent.
    if (total_size !== null) await assertFitsQuota(key.admin_id, total_size, t, 'total_size');
    const plan = { filename, total_chunks, total_size, chunk_size, sha256 };
    const row = { ...key, ...plan, expires_at: expiry() };
    await ChunkUpload.bulkCreate([row], { ignoreDuplicates: true, transaction: t });
  });
}

// Locks the administrator's row, so that sessions opened concurrently cannot exceed the limit together.
async function assertRoom(adminId: number, t: Transaction): Promise<void> {
  const { chunkSessionsMax } = config.storage;
  if (chunkSessionsMax === 0) return;
  await Admin.findByPk(adminId, { attributes: ['id'], transaction: t, lock: true });
  const open = await ChunkUpload.count({
    where: { admin_id: adminId, status: ['uploading', 'merging'] },
    transaction: t,
  });
  if (open >= chunkSessionsMax) fail('chunk_sessions_exhausted', { field: 'chunk_id' });
}
