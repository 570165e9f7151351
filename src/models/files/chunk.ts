// chunks: the pieces of an upload that have arrived.
import { createHash } from 'node:crypto';
import type { Transaction } from 'sequelize';
import type { Row } from '../tables/table.js';
import { releaseFiles } from './stored-file.js';
import { Chunk, type ChunkUpload } from './tables.js';

/** Primary key of a chunk session. */
export type SessionKey = Pick<Row<ChunkUpload>, 'admin_id' | 'chunk_id'>;

/**
 * The key of an upload session by the id its client uses. The column holds 64 ASCII characters: a longer id, or one with
 * other characters, is stored as its SHA-256.
 */
export function sessionKey(adminId: number, chunkId: string): SessionKey {
  const isPlain = /^[\w.-]{1,64}$/.test(chunkId);
  const chunk_id = isPlain ? chunkId : createHash('sha256').update(chunkId).digest('hex');
  return { admin_id: adminId, chunk_id };
}

/** Indexes of the chunks that are there, in their order. */
export async function chunkIndexes(key: SessionKey, t?: Transaction): Promise<number[]> {
  const rows = await chunksOf(key, t);
  return rows.map(({ chunk_index }) => chunk_index);
}

/** The keys of the files of a session's chunks, in their order. */
export async function chunkFiles(key: SessionKey, t?: Transaction): Promise<string[]> {
  const rows = await chunksOf(key, t);
  return rows.map(({ storage_key }) => storage_key);
}

const chunksOf = ({ admin_id, chunk_id }: SessionKey, t?: Transaction): Promise<Chunk[]> =>
  Chunk.findAll({ where: { admin_id, chunk_id }, order: ['chunk_index'], transaction: t });

/** The chunks of a session lose their files. @returns the keys of those */
export async function releaseChunks({ admin_id, chunk_id }: SessionKey, t: Transaction): Promise<string[]> {
  const keys = await chunkFiles({ admin_id, chunk_id }, t);
  await releaseFiles(keys, t);
  await Chunk.destroy({ where: { admin_id, chunk_id }, transaction: t });
  return keys;
}
