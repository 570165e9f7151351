// Receiving a chunk of an upload.
import type { Transaction } from 'sequelize';
import { config } from '../../../config/index.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import type { SessionKey } from './chunk.js';
import { expiry, getSession } from './chunk-session.js';
import { keepFile, keepOrRemove, releaseFiles, removeFiles, storeFile } from './stored-file.js';
import { Chunk, type ChunkUpload } from './tables.js';
import { assertFitsQuota, lockQuota } from './upload-quota.js';

interface ReceivedChunk {
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
 * storage_full, upload_failed
 */
export async function addChunk(session: ChunkUpload, chunk: ReceivedChunk): Promise<number> {
  assertFitsSession(session, chunk);
  const key = await storeFile('chunks', chunk.path);
  const { count, replaced } = await keepOrRemove(key, () =>
    transact((t) => insertChunk(session, chunk, key, t)),
  );
  await removeFiles(replaced);
  return count;
}

function assertFitsSession(session: ChunkUpload, { index, size }: ReceivedChunk): void {
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
  await lockQuota(admin_id, t);
  const session = await getSession(key, t);
  if (session.status !== 'uploading') fail('chunk_session_closed', { field: 'chunk_id' });
  const old = await Chunk.findOne({ where: { admin_id, chunk_id, chunk_index: index }, transaction: t });
  const added = size - (old?.size ?? 0);
  await assertFitsQuota(admin_id, added, t);
  const bytes = session.received_bytes + added;
  if (bytes > (session.total_size ?? config.storage.chunkedMaxBytes)) fail('payload_too_large');
  const count = session.received_chunks + (old ? 0 : 1);
  await Chunk.upsert(
    { admin_id, chunk_id, chunk_index: index, size, storage_key: storageKey },
    { transaction: t },
  );
  await session.update(
    { received_chunks: count, received_bytes: bytes, expires_at: expiry() },
    { transaction: t },
  );
  await keepFile(storageKey, t);
  const replaced = old ? [old.storage_key] : [];
  await releaseFiles(replaced, t);
  return { count, replaced };
}
