// chunks: the pieces of an upload that have arrived.
import type { Transaction } from 'sequelize';
import type { StoredPart } from '../../lib/storage/storage.js';
import { columnsOf, selection } from '../tables/selection.js';
import type { Row } from '../tables/table.js';
import { releaseFiles } from './stored-file.js';
import { Chunk, type ChunkUpload } from './tables.js';
import { over } from '../tables/sql.js';

/** Primary key of a chunk session. */
export type SessionKey = Pick<Row<ChunkUpload>, 'admin_id' | 'chunk_id'>;

/** Indexes of the chunks that are there, in their order. */
export async function chunkIndexes({ admin_id, chunk_id }: SessionKey, t?: Transaction): Promise<number[]> {
  const rows = await indexes.where(ofSession({ admin_id, chunk_id }), { t });
  return rows.map(({ chunk_index }) => chunk_index);
}

/** The files of a session's chunks, in their order. */
export const chunkFiles = ({ admin_id, chunk_id }: SessionKey, t?: Transaction): Promise<StoredPart[]> =>
  parts.where(ofSession({ admin_id, chunk_id }), { t });

const sql = over({ 'chunks c': Chunk });
const ofSession = (key: { admin_id: number; chunk_id: string }) =>
  sql('WHERE c.admin_id = :admin_id AND c.chunk_id = :chunk_id ORDER BY c.chunk_index', key);
const indexes = selection(columnsOf(Chunk, 'c', 'chunk_index'), 'chunks c');
const { storage_key, size } = columnsOf(Chunk, 'c');
const parts = selection({ key: storage_key, size }, 'chunks c');

/** The chunks of a session lose their files. @returns the keys of those */
export async function releaseChunks({ admin_id, chunk_id }: SessionKey, t: Transaction): Promise<string[]> {
  const keys = (await chunkFiles({ admin_id, chunk_id }, t)).map(({ key }) => key);
  await releaseFiles(keys, t);
  await Chunk.destroy({ where: { admin_id, chunk_id }, transaction: t });
  return keys;
}
