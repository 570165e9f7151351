// chunk_sessions and chunks: uploads that arrive in pieces. A session belongs to the administrator who opened it.
import type { Transaction } from 'sequelize';
import { config } from '../../config/index.js';
import { now } from '../lib/clock.js';
import { change, select, transact } from '../lib/db.js';
import type { ErrorSlug } from '../lib/error-catalogue.js';
import { fail } from '../lib/errors.js';
import { randomToken } from '../lib/random-id.js';
import { readFileName, storeFile } from './attachment.js';
import { keepFile, keepOrRemove, releaseFiles, removeFiles } from './stored-file.js';
import { mustFitQuota } from './upload-quota.js';

export const chunkStatuses = ['uploading', 'merging', 'completed', 'failed'] as const;

export type ChunkStatus = (typeof chunkStatuses)[number];

/** Nobody else's session has the same two. */
export interface SessionKey {
  admin_id: number;
  chunk_id: string;
}

export interface ChunkSession extends SessionKey {
  filename: string;
  /** Bytes, when they were announced. */
  total_size: number | null;
  /** Bytes of every chunk but the last, when they were announced. */
  chunk_size: number | null;
  total_chunks: number;
  sha256: string | null;
  received_chunks: number;
  received_bytes: number;
  status: ChunkStatus;
  error: ErrorSlug | null;
  attachment_id: number | null;
  /** Its owner left without an answer. */
  to_be_told: number;
  expires_at: Date;
}

export interface NewSession {
  filename: string;
  total_chunks: number;
  total_size?: number;
  chunk_size?: number;
  sha256?: string;
}

export interface ChunkProgress {
  chunk_id: string;
  filename: string;
  total_chunks: number;
  uploaded_count: number;
  uploaded_chunks: number[];
  /** Percent. */
  progress: number;
  status: ChunkStatus;
  error: ErrorSlug | null;
  attachment_id: number | null;
  expires_at: Date;
}

/** Opens a session under a random name. @throws file_name_invalid, file_type_not_allowed */
export async function openSession(adminId: number, session: NewSession): Promise<ChunkSession> {
  const key = { admin_id: adminId, chunk_id: randomToken(18) };
  await insertSession(key, session);
  return findSession(key);
}

/**
 * The session a chunk belongs to; the first chunk opens it under the name its client chose.
 *
 * @param session undefined when the client told nothing that a session could be opened with
 * @throws chunk_session_not_found, file_name_invalid, file_type_not_allowed
 */
export async function findOrOpenSession(key: SessionKey, session?: NewSession): Promise<ChunkSession> {
  const [known] = await selectSession(key);
  if (known) return known;
  if (session) await insertSession(key, session);
  return findSession(key);
}

/** @throws chunk_session_not_found, also when it is another's */
export async function findSession(key: SessionKey): Promise<ChunkSession> {
  const [found] = await selectSession(key);
  return found ?? fail('chunk_session_not_found', { field: 'chunk_id' });
}

/** @throws chunk_session_not_found */
export async function progressOf(key: SessionKey): Promise<ChunkProgress> {
  const session = await findSession(key);
  const rows = await select<{ chunk_index: number }>(
    'SELECT chunk_index FROM chunks WHERE admin_id = ? AND chunk_id = ? ORDER BY chunk_index',
    [key.admin_id, key.chunk_id],
  );
  const { chunk_id, filename, total_chunks, status, error, attachment_id, expires_at } = session;
  const isDone = status === 'completed';
  const uploaded_chunks = isDone ? [...Array(total_chunks).keys()] : rows.map((row) => row.chunk_index);
  const uploaded_count = uploaded_chunks.length;
  const progress = Math.floor((uploaded_count * 100) / total_chunks);
  return {
    ...{ chunk_id, filename, total_chunks, uploaded_count, uploaded_chunks, progress },
    ...{ status, error, attachment_id, expires_at },
  };
}

/** The session as a call describes it again must be the one that was opened. @throws chunk_session_mismatch */
export function mustMatchSession(session: ChunkSession, told: Partial<NewSession>): void {
  const { filename, ...numbers } = told;
  if (filename !== undefined && readFileName(filename, 'filename').filename !== session.filename)
    fail('chunk_session_mismatch', { field: 'filename' });
  for (const [field, value] of Object.entries(numbers)) {
    const known = session[field as keyof NewSession] ?? value;
    if (value !== undefined && value !== known) fail('chunk_session_mismatch', { field });
  }
}

export interface ReceivedChunk {
  index: number;
  /** On the local disk; the storage takes it over. */
  path: string;
  size: number;
}

/**
 * Keeps a chunk; one of the same index is replaced.
 *
 * @returns how many chunks there are now
 * @throws chunk_session_closed, chunk_index_invalid, chunk_size_invalid, payload_too_large, upload_quota_exceeded,
 * storage_full
 */
export async function addChunk(session: ChunkSession, chunk: ReceivedChunk): Promise<number> {
  mustFitSession(session, chunk);
  const key = await storeFile('chunks', chunk.path);
  const { count, replaced } = await keepOrRemove(key, () =>
    transact((t) => insertChunk(session, chunk, key, t)),
  );
  await removeFiles(replaced);
  return count;
}

/** Removes sessions that nobody continued; one that is being merged stays. */
export async function sweepSessions(): Promise<void> {
  const stale = await select<SessionKey>(
    `SELECT admin_id, chunk_id FROM chunk_sessions WHERE expires_at < ? AND status <> 'merging' LIMIT 100`,
    [now()],
  );
  for (const { admin_id, chunk_id } of stale) {
    const keys = await transact(async (t) => {
      const [session] = await selectSession({ admin_id, chunk_id }, t);
      if (!session || session.status === 'merging' || session.expires_at >= now()) return [];
      const released = await releaseChunks(session, t);
      await change('DELETE FROM chunk_sessions WHERE admin_id = ? AND chunk_id = ?', [admin_id, chunk_id], t);
      return released;
    });
    await removeFiles(keys);
  }
}

/** The session, locked for the rest of the transaction. @throws chunk_session_not_found */
export async function lockSession(key: SessionKey, t: Transaction): Promise<ChunkSession> {
  const [found] = await selectSession(key, t);
  return found ?? fail('chunk_session_not_found', { field: 'chunk_id' });
}

/** The chunks of a session lose their files. @returns the keys of those */
export async function releaseChunks({ admin_id, chunk_id }: SessionKey, t: Transaction): Promise<string[]> {
  const rows = await select<{ storage_key: string }>(
    'SELECT storage_key FROM chunks WHERE admin_id = ? AND chunk_id = ?',
    [admin_id, chunk_id],
    t,
  );
  const keys = rows.map(({ storage_key }) => storage_key);
  await releaseFiles(keys, t);
  await change('DELETE FROM chunks WHERE admin_id = ? AND chunk_id = ?', [admin_id, chunk_id], t);
  return keys;
}

export const expiry = (): Date => new Date(now().getTime() + config.storage.chunkSessionMs);

async function selectSession({ admin_id, chunk_id }: SessionKey, t?: Transaction): Promise<ChunkSession[]> {
  return select<ChunkSession>(
    `SELECT admin_id, chunk_id, filename, total_size, chunk_size, total_chunks, sha256, received_chunks, received_bytes,
       status, error, attachment_id, to_be_told, expires_at
     FROM chunk_sessions WHERE admin_id = ? AND chunk_id = ?${t ? ' FOR UPDATE' : ''}`,
    [admin_id, chunk_id],
    t,
  );
}

// Several first chunks may come at once; one of them opens the session.
async function insertSession({ admin_id, chunk_id }: SessionKey, session: NewSession): Promise<void> {
  const { filename } = readFileName(session.filename, 'filename');
  const at = now();
  await change(
    `INSERT IGNORE INTO chunk_sessions (admin_id, chunk_id, filename, total_size, chunk_size, total_chunks, sha256,
       created_at, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [
      ...[admin_id, chunk_id, filename, session.total_size ?? null, session.chunk_size ?? null],
      ...[session.total_chunks, session.sha256 ?? null, at, at, expiry()],
    ],
  );
}

function mustFitSession(session: ChunkSession, { index, size }: ReceivedChunk): void {
  const { status, total_chunks, total_size, chunk_size } = session;
  if (status !== 'uploading') fail('chunk_session_closed', { field: 'chunk_id' });
  if (index >= total_chunks) fail('chunk_index_invalid', { field: 'chunk_index' });
  if (chunk_size === null) return;
  const isLast = index === total_chunks - 1;
  const rest = total_size === null ? undefined : total_size - chunk_size * (total_chunks - 1);
  const fits = isLast ? (rest === undefined ? size <= chunk_size : size === rest) : size === chunk_size;
  if (!fits) fail('chunk_size_invalid', { field: 'file' });
}

async function insertChunk(
  key: SessionKey,
  { index, size }: ReceivedChunk,
  storageKey: string,
  t: Transaction,
): Promise<{ count: number; replaced: string[] }> {
  const { admin_id, chunk_id } = key;
  // The administrator's row before the session's, as everywhere.
  await mustFitQuota(admin_id, size, t);
  const session = await lockSession(key, t);
  if (session.status !== 'uploading') fail('chunk_session_closed', { field: 'chunk_id' });
  const [old] = await select<{ size: number; storage_key: string }>(
    'SELECT size, storage_key FROM chunks WHERE admin_id = ? AND chunk_id = ? AND chunk_index = ?',
    [admin_id, chunk_id, index],
    t,
  );
  const bytes = session.received_bytes + size - (old?.size ?? 0);
  if (bytes > (session.total_size ?? config.storage.chunkedMaxBytes)) fail('payload_too_large');
  const count = session.received_chunks + (old ? 0 : 1);
  await change(
    `INSERT INTO chunks (admin_id, chunk_id, chunk_index, size, storage_key) VALUES (?, ?, ?, ?, ?)
     ON DUPLICATE KEY UPDATE size = VALUES(size), storage_key = VALUES(storage_key)`,
    [admin_id, chunk_id, index, size, storageKey],
    t,
  );
  await change(
    `UPDATE chunk_sessions SET received_chunks = ?, received_bytes = ?, updated_at = ?, expires_at = ?
     WHERE admin_id = ? AND chunk_id = ?`,
    [count, bytes, now(), expiry(), admin_id, chunk_id],
    t,
  );
  await keepFile(storageKey, t);
  const replaced = old ? [old.storage_key] : [];
  await releaseFiles(replaced, t);
  return { count, replaced };
}
