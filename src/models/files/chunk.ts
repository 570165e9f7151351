// chunks: the pieces of an upload that have arrived.
import type { Transaction } from 'sequelize';
import { change, select } from '../../lib/db.js';
import type { StoredPart } from '../../lib/storage/storage.js';
import { releaseFiles } from './stored-file.js';

/** Primary key of a chunk session. */
export interface SessionKey {
  admin_id: number;
  chunk_id: string;
}

/** Indexes of the chunks that are there, in their order. */
export async function chunkIndexes({ admin_id, chunk_id }: SessionKey, t?: Transaction): Promise<number[]> {
  const rows = await select<{ chunk_index: number }>(
    'SELECT chunk_index FROM chunks WHERE admin_id = ? AND chunk_id = ? ORDER BY chunk_index',
    [admin_id, chunk_id],
    t,
  );
  return rows.map(({ chunk_index }) => chunk_index);
}

/** The files of a session's chunks, in their order. */
export async function chunkFiles({ admin_id, chunk_id }: SessionKey, t?: Transaction): Promise<StoredPart[]> {
  return select<StoredPart>(
    'SELECT storage_key AS `key`, size FROM chunks WHERE admin_id = ? AND chunk_id = ? ORDER BY chunk_index',
    [admin_id, chunk_id],
    t,
  );
}

/** The chunks of a session lose their files. @returns the keys of those */
export async function releaseChunks(session: SessionKey, t: Transaction): Promise<string[]> {
  const keys = (await chunkFiles(session, t)).map(({ key }) => key);
  await releaseFiles(keys, t);
  await change(
    'DELETE FROM chunks WHERE admin_id = ? AND chunk_id = ?',
    [session.admin_id, session.chunk_id],
    t,
  );
  return keys;
}
