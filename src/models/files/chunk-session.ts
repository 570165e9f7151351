// chunk_sessions: uploads that arrive in pieces. A session belongs to the administrator who opened it.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { now } from '../../lib/clock.js';
import { change, select, transact } from '../../lib/db.js';
import type { ErrorSlug } from '../../lib/error-catalogue.js';
import { fail } from '../../lib/errors.js';
import { randomToken } from '../../lib/random-id.js';
import { readFileName } from './attachment.js';
import { chunkIndexes, releaseChunks, type SessionKey } from './chunk.js';
import { removeFiles } from './stored-file.js';

export const chunkStatuses = ['uploading', 'merging', 'completed', 'failed'] as const;

export type ChunkStatus = (typeof chunkStatuses)[number];

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

/**
 * Opens a session under a random name.
 *
 * @throws file_name_invalid, file_type_not_allowed, chunk_sessions_exhausted
 */
export async function openSession(adminId: number, session: NewSession): Promise<ChunkSession> {
  const key = { admin_id: adminId, chunk_id: randomToken(18) };
  await insertSession(key, session);
  return findSession(key);
}

/**
 * The session a chunk belongs to; the first chunk opens it under the name its client chose.
 *
 * @param session undefined when the client told nothing that a session could be opened with
 * @throws chunk_session_not_found, file_name_invalid, file_type_not_allowed, chunk_sessions_exhausted
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
  const { chunk_id, filename, total_chunks, status, error, attachment_id, expires_at } = session;
  const isDone = status === 'completed';
  const uploaded_chunks = isDone ? [...Array(total_chunks).keys()] : await chunkIndexes(key);
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

/**
 * Ends an upload that its administrator does not want to go on with.
 *
 * @throws chunk_session_not_found; chunk_session_closed when it is being merged or was merged
 */
export async function cancelSession(key: SessionKey): Promise<void> {
  const files = await transact(async (t) => {
    const session = await lockSession(key, t);
    if (session.status === 'merging' || session.status === 'completed')
      fail('chunk_session_closed', { field: 'chunk_id' });
    return deleteSession(session, t);
  });
  await removeFiles(files);
}

/** Removes sessions that nobody continued; one that is being merged stays. */
export async function sweepSessions(): Promise<void> {
  const stale = await select<SessionKey>(
    `SELECT admin_id, chunk_id FROM chunk_sessions WHERE expires_at < ? AND status <> 'merging' LIMIT 100`,
    [now()],
  );
  for (const key of stale) {
    const files = await transact(async (t) => {
      const [session] = await selectSession(key, t);
      if (!session || session.status === 'merging' || session.expires_at >= now()) return [];
      return deleteSession(session, t);
    });
    await removeFiles(files);
  }
}

/** The session, locked for the rest of the transaction. @throws chunk_session_not_found */
export async function lockSession(key: SessionKey, t: Transaction): Promise<ChunkSession> {
  const [found] = await selectSession(key, t);
  return found ?? fail('chunk_session_not_found', { field: 'chunk_id' });
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

async function deleteSession(session: ChunkSession, t: Transaction): Promise<string[]> {
  const released = await releaseChunks(session, t);
  const { admin_id, chunk_id } = session;
  await change('DELETE FROM chunk_sessions WHERE admin_id = ? AND chunk_id = ?', [admin_id, chunk_id], t);
  return released;
}

// Several first chunks may come at once; one of them opens the session.
async function insertSession({ admin_id, chunk_id }: SessionKey, session: NewSession): Promise<void> {
  const { filename } = readFileName(session.filename, 'filename');
  const at = now();
  await transact(async (t) => {
    await mustHaveRoom(admin_id, t);
    await change(
      `INSERT IGNORE INTO chunk_sessions (admin_id, chunk_id, filename, total_size, chunk_size, total_chunks, sha256,
         created_at, updated_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        ...[admin_id, chunk_id, filename, session.total_size ?? null, session.chunk_size ?? null],
        ...[session.total_chunks, session.sha256 ?? null, at, at, expiry()],
      ],
      t,
    );
  });
}

// With the administrator's row locked, so that sessions opened at once cannot pass together what one of them may.
async function mustHaveRoom(adminId: number, t: Transaction): Promise<void> {
  const { chunkSessionsMax } = config.storage;
  if (chunkSessionsMax === 0) return;
  await select('SELECT id FROM admins WHERE id = ? FOR UPDATE', [adminId], t);
  const [row] = await select<{ open: number }>(
    `SELECT COUNT(*) AS open FROM chunk_sessions WHERE admin_id = ? AND status IN ('uploading', 'merging')`,
    [adminId],
    t,
  );
  if ((row?.open ?? 0) >= chunkSessionsMax) fail('chunk_sessions_exhausted', { field: 'chunk_id' });
}
