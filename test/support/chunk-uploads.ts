// Sends files in chunks, and looks at what became of them.
import type { ExecutionContext } from 'ava';
import { select } from '../../src/lib/database/db.js';
import type { Answer, Client } from './client.js';
import { chunksOf, sendChunk } from './files.js';
import { until } from './until.js';

/** Bytes of a chunk. */
export const size = 40_000;

/** Chunked uploads by the administrator of that service, or by another client. */
export function chunkUploads(service: { readonly admin: Client }) {
  const call = (fields: object, client = service.admin): Promise<Answer> =>
    client.post('/attachments/chunk', fields);

  const progress = (chunk_id: string, client = service.admin): Promise<Answer> =>
    client.get(`/attachments/chunk?action=progress&chunk_id=${chunk_id}`);

  /** Asks again when a merge took longer than the answer waits. */
  async function afterMerging(
    ask: () => Promise<Answer>,
    chunk_id: string,
    client = service.admin,
  ): Promise<Answer> {
    const answer = await ask();
    if (answer.data?.status !== 'merging') return answer;
    await until(async () => (await progress(chunk_id, client)).data.status !== 'merging', 40_000);
    return ask();
  }

  const merge = (chunk_id: string, more: object = {}, client = service.admin): Promise<Answer> =>
    afterMerging(() => call({ action: 'merge', chunk_id, ...more }, client), chunk_id, client);

  /** A session with all its chunks. */
  async function uploaded(
    content: Buffer,
    { filename = 'large.txt', ...more }: Record<string, string | number> = {},
  ): Promise<string> {
    const fields = { action: 'init', filename, total_size: content.length, chunk_size: size, ...more };
    const opened = await call(fields);
    if (opened.status !== 200) throw new Error(opened.text);
    const { chunk_id } = opened.data as { chunk_id: string };
    for (const [index, chunk] of chunksOf(content, size).entries()) {
      const answer = await sendChunk(service.admin, chunk_id, index, chunk);
      if (answer.status !== 200) throw new Error(answer.text);
    }
    return chunk_id;
  }

  return { call, progress, afterMerging, merge, uploaded };
}

/** The storage keys of the chunks of a session. */
export const chunkFiles = async (chunk_id: string): Promise<string[]> =>
  (
    await select<{ storage_key: string }>('SELECT storage_key FROM chunks WHERE chunk_id = ?', [chunk_id])
  ).map(({ storage_key }) => storage_key);

/** Asserts that an answer refuses a field. */
export function isRefused(
  t: ExecutionContext,
  answer: Answer,
  status: number,
  slug: string,
  field: string,
): void {
  t.deepEqual([answer.status, answer.errorCode, answer.fields], [status, slug, [field]], answer.text);
}
