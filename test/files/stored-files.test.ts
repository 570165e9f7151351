// /attachments and /attachments/chunk: files are stored whole, shown and removed. stored-files-s3.test.ts repeats it.
import '../support/settings/environment.js';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import test from 'ava';
import { config } from '../../config/index.js';
import { change, select } from '../../src/lib/database/db.js';
import { storage } from '../../src/lib/storage/index.js';
import { sweepFiles } from '../../src/worker/sweeper.js';
import { chunkFiles, chunkUploads, isRefused, size } from '../support/chunk-uploads.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { signedInWith, unique } from '../support/factories.js';
import {
  chunksOf,
  docx,
  keyOf,
  mp4,
  pdf,
  png,
  sendChunk,
  sha256,
  storedOf,
  textOf,
} from '../support/files.js';
import { lockWaits, otherConnection } from '../support/other-connection.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

/** Of this file and of the one that repeats it. */
export const service = serviceTest();
const { call, progress, merge, uploaded } = chunkUploads(service);
let admin: Client;

test.before(() => {
  admin = service.admin;
});

const upload = (
  content: string | Uint8Array,
  filename: string,
  fields: Record<string, string> = {},
): Promise<Answer> => service.admin.upload('/attachments/upload', content, { filename, fields });

/** What the table says of files: those that are not kept are removed in time. */
const statesOf = async (keys: string[]): Promise<string[]> =>
  (await select<{ state: string }>('SELECT state FROM stored_files WHERE storage_key IN (?)', [keys])).map(
    ({ state }) => state,
  );

test('an upload is stored with its name, kind, size and digest', async (t) => {
  const answer = await upload(png, '照片 1.PNG', { type: 'image' });
  t.is(answer.status, 200, answer.text);
  const { id, admin_id, admin, created_at, updated_at, ...rest } = answer.data;
  t.deepEqual(rest, {
    filename: '照片 1.PNG',
    display_name: '照片 1.PNG',
    extension: 'png',
    mime_type: 'image/png',
    size: png.length,
    type: 'image',
    sha256: sha256(png),
    url: `/api/admin/attachments/${id}/preview`,
  });
  t.is(admin.username, 'admin');
  t.is(admin.id, admin_id);
  t.is(created_at, updated_at);
  t.deepEqual((await service.admin.get(`/attachments/${id}`)).data, answer.data);
  const key = await keyOf(id);
  t.deepEqual(await storedOf([key]), [key]);
});

test('only types a browser can show are previewed', async (t) => {
  const cases: [Uint8Array | string, string, string, string][] = [
    [png, 'a.png', 'inline', 'image/png'],
    [pdf, 'a.pdf', 'inline', 'application/pdf'],
    [mp4, 'a.mp4', 'inline', 'video/mp4'],
    ['text', 'a.txt', 'inline', 'text/plain; charset=utf-8'],
    [Buffer.from('d6d0cec4', 'hex'), 'gbk.txt', 'inline', 'text/plain; charset=gbk'],
    ['a,b', 'a.csv', 'attachment', 'text/csv; charset=utf-8'],
    [docx, 'a.docx', 'attachment', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
  ];
  for (const [content, name, way, type] of cases) {
    const { id } = (await upload(content, name)).data;
    const preview = await service.admin.download(`/attachments/${id}/preview`);
    t.is(preview.status, 200);
    t.deepEqual(preview.bytes, Buffer.from(content));
    t.is(preview.headers.get('Content-Type'), type);
    t.regex(preview.headers.get('Content-Disposition') ?? '', new RegExp(`^${way}; `));
    t.is(preview.headers.get('X-Content-Type-Options'), 'nosniff');
    t.regex(
      preview.headers.get('Content-Security-Policy') ?? '',
      /default-src 'none'.*frame-ancestors 'none'.*sandbox/,
    );
    const download = await service.admin.download(`/attachments/${id}/download`);
    t.regex(download.headers.get('Content-Disposition') ?? '', /^attachment; /);
    t.deepEqual(download.bytes, Buffer.from(content));
  }
});

test('a single byte range is answered', async (t) => {
  const content = textOf(1000);
  const { id } = (await upload(content, 'range.txt')).data;
  const get = (headers: Record<string, string>) =>
    service.admin.download(`/attachments/${id}/download`, headers);
  const ranges: [string, number, number][] = [
    ['bytes=0-1', 0, 1],
    ['bytes=7-7', 7, 7],
    ['bytes=10-19', 10, 19],
    ['bytes=990-', 990, 999],
    ['bytes=990-5000', 990, 999],
    ['bytes=-10', 990, 999],
    ['bytes=-5000', 0, 999],
  ];
  for (const [range, start, end] of ranges) {
    const { status, headers, bytes } = await get({ Range: range });
    t.deepEqual([status, headers.get('Content-Range')], [206, `bytes ${start}-${end}/1000`], range);
    t.is(headers.get('Content-Length'), String(end - start + 1));
    t.deepEqual(bytes, content.subarray(start, end + 1), range);
  }
  for (const range of ['bytes=0-1,3-4', 'bytes=5-2', 'lines=1-2', 'bytes=a-b', 'bytes=-']) {
    const { status, bytes } = await get({ Range: range });
    t.deepEqual([status, bytes.length], [200, 1000], range);
  }
  for (const range of ['bytes=1000-', 'bytes=2000-3000', 'bytes=-0']) {
    const { status, headers, bytes } = await get({ Range: range });
    t.deepEqual([status, headers.get('Content-Range')], [416, 'bytes */1000'], range);
    t.is(JSON.parse(bytes.toString()).error_code, 'range_not_satisfiable');
  }
  for (const Range of ['bytes=0-1', 'bytes=1000-']) {
    const address = `${service.url}/api/admin/attachments/${id}/download`;
    const { status, headers } = await fetch(address, {
      method: 'HEAD',
      headers: { ...service.admin.headers, Range },
    });
    t.deepEqual([status, headers.get('Content-Length')], [200, '1000'], `HEAD ${Range}`);
  }
  const etag = (await get({})).headers.get('ETag') as string;
  t.is(etag, `"${sha256(content)}"`);
  t.is((await get({ Range: 'bytes=0-9', 'If-Range': etag })).status, 206);
  t.is((await get({ Range: 'bytes=0-9', 'If-Range': '"other"' })).status, 200);
});

test('a download of a file that has lost its end is broken off', async (t) => {
  const { id } = (await upload('0123456789', 'a.txt')).data;
  const [driver, key] = [await storage(), await keyOf(id)];
  await driver.remove(key);
  await driver.put(key, Readable.from([Buffer.from('01234')]));
  const signal = AbortSignal.timeout(10_000);
  const request = { headers: service.admin.headers, signal };
  await t.throwsAsync(async () => {
    await (await fetch(`${service.url}/api/admin/attachments/${id}/download`, request)).text();
  });
  t.false(signal.aborted);
});

test('deleting removes row and file', async (t) => {
  const made = await Promise.all(['1', '2', '3'].map((name) => upload(name, `${name}.txt`)));
  const ids = made.map(({ data }) => data.id as number);
  const keys = await Promise.all(ids.map(keyOf));
  t.is((await service.admin.delete(`/attachments/${ids[0]}`)).status, 200);
  t.deepEqual(await storedOf(keys), keys.slice(1));
  const batch = await service.admin.post('/attachments/batch-delete', { ids: [...ids, 999_999_999] });
  t.deepEqual(batch.data, { count: 2 });
  t.deepEqual(await storedOf(keys), []);
  for (const path of ['', '/preview', '/download']) {
    const answer = await service.admin.get(`/attachments/${ids[1]}${path}`);
    t.deepEqual(outcome(answer), [404, 20002, 'attachment_not_found']);
  }
  t.is((await service.admin.delete(`/attachments/${ids[1]}`)).status, 404);
  const many = Array.from({ length: 101 }, (_, index) => index + 1);
  for (const [value, status] of [
    [many, 422],
    [[], 422],
    ['1', 400],
    [[1, 1], 422],
    [undefined, 400],
  ] as const) {
    const answer = await service.admin.post('/attachments/batch-delete', { ids: value });
    t.deepEqual([answer.status, answer.fields[0]?.startsWith('ids')], [status, true]);
  }
  t.deepEqual(await select('SELECT storage_key FROM stored_files WHERE storage_key IN (?)', [keys]), []);
});

test('chunks sent in any order become one attachment', async (t) => {
  const content = textOf(3 * size + 123);
  const opened = await call({
    ...{ action: 'init', filename: 'large file.txt', total_size: content.length, chunk_size: size },
    ...{ total_chunks: 4, sha256: sha256(content) },
  });
  t.deepEqual(Object.keys(opened.data), ['chunk_id', 'chunk_size', 'total_chunks', 'expires_at']);
  const { chunk_id } = opened.data;
  t.regex(chunk_id, /^[A-Za-z0-9_-]{20,64}$/);
  const chunks = chunksOf(content, size);
  for (const index of [2, 0, 3])
    t.is((await sendChunk(admin, chunk_id, index, chunks[index] as Buffer)).status, 200);
  const { data } = await progress(chunk_id);
  t.deepEqual(
    [data.uploaded_count, data.uploaded_chunks, data.progress, data.status, data.attachment_id],
    [3, [0, 2, 3], 75, 'uploading', null],
  );
  isRefused(t, await merge(chunk_id), 422, 'chunks_missing', 'chunk_id');
  t.is((await progress(chunk_id)).data.status, 'uploading');
  await sendChunk(admin, chunk_id, 1, chunks[1] as Buffer);
  const files = await chunkFiles(chunk_id);
  t.deepEqual([files.length, await storedOf(files)], [4, files]);
  t.deepEqual(await statesOf(files), Array<string>(4).fill('kept'));
  const merged = await merge(chunk_id, { filename: 'large file.txt', total_chunks: 4 });
  t.is(merged.status, 200, merged.text);
  t.deepEqual(
    [merged.data.filename, merged.data.size, merged.data.sha256, merged.data.type],
    ['large file.txt', content.length, sha256(content), 'document'],
  );
  t.deepEqual((await admin.download(`/attachments/${merged.data.id}/download`)).bytes, content);
  const done = (await progress(chunk_id)).data;
  t.deepEqual(
    [done.status, done.attachment_id, done.progress, done.uploaded_count],
    ['completed', merged.data.id, 100, 4],
  );
  t.deepEqual(await storedOf(files), [], 'the chunks are removed');
  t.is((await merge(chunk_id)).data.id, merged.data.id, 'merging again answers the same attachment');
});

test('concurrent merges make one attachment', async (t) => {
  const content = textOf(2 * size);
  const chunk_id = await uploaded(content, { filename: `${unique('race-')}.txt` });
  const answers = await Promise.all(Array.from({ length: 10 }, () => call({ action: 'merge', chunk_id })));
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  const made = answers.filter(({ data }) => data.id !== undefined);
  for (const { data } of answers) {
    if (data.id === undefined) t.deepEqual(data, { chunk_id, status: 'merging' });
  }
  const { filename } = (await merge(chunk_id)).data as { filename: string };
  t.true(new Set(made.map(({ data }) => data.id)).size <= 1);
  t.is((await admin.get(`/attachments?filename=${filename}`)).data.total, 1);
});

test('a chunk sent again replaces the first one', async (t) => {
  const content = textOf(2 * size);
  const [first, second] = chunksOf(content, size) as [Buffer, Buffer];
  const { chunk_id } = (
    await call({ action: 'init', filename: 'a.txt', total_size: 2 * size, chunk_size: size })
  ).data;
  await sendChunk(admin, chunk_id, 0, textOf(size));
  const [old] = await chunkFiles(chunk_id);
  const again = await Promise.all([1, 2, 3].map(() => sendChunk(admin, chunk_id, 0, first)));
  t.deepEqual([...new Set(again.map(({ status }) => status))], [200]);
  await sendChunk(admin, chunk_id, 1, second);
  t.is((await progress(chunk_id)).data.uploaded_count, 2);
  t.deepEqual(await storedOf([old as string]), [], 'the replaced file is removed');
  t.deepEqual(await statesOf([old as string]), []);
  t.is((await merge(chunk_id)).data.sha256, sha256(content));
});

test('a merge that differs from what was declared fails with the reason', async (t) => {
  const cases: [Buffer, Record<string, string | number>, string][] = [
    [textOf(size), { sha256: 'a'.repeat(64) }, 'upload_digest_mismatch'],
    [Buffer.from('<html><script>alert(1)</script>'), {}, 'file_content_mismatch'],
    [textOf(100), { filename: 'a.png' }, 'file_content_mismatch'],
  ];
  for (const [content, more, slug] of cases) {
    const chunk_id = await uploaded(content, more);
    const files = await chunkFiles(chunk_id);
    const answer = await merge(chunk_id);
    t.deepEqual(outcome(answer), [422, 40005, slug], answer.text);
    const { data } = await progress(chunk_id);
    t.deepEqual([data.status, data.error, data.attachment_id], ['failed', slug, null]);
    t.is(data.error_msg, answer.message, 'a poll returns the message of the answer');
    t.deepEqual(await storedOf(files), []);
    t.is((await merge(chunk_id)).errorCode, slug, 'it stays failed');
    t.is((await sendChunk(admin, chunk_id, 0, content)).message, '该上传已结束或正在合并');
  }
  const chunk_id = unique('short-');
  await sendChunk(admin, chunk_id, 0, 'short', { total_chunks: 1, filename: 'a.txt' });
  t.is((await merge(chunk_id, { total_size: 6 })).errorCode, 'upload_size_mismatch');
});

test.serial('a chunk that arrives when its merge has begun is refused', async (t) => {
  const chunk_id = await uploaded(textOf(100));
  const files = await chunkFiles(chunk_id);
  const other = await otherConnection();
  await other.query('START TRANSACTION');
  await other.query(`UPDATE chunk_sessions SET status = 'merging' WHERE chunk_id = '${chunk_id}'`);
  const sending = sendChunk(admin, chunk_id, 0, textOf(100));
  await until(async () => (await lockWaits('chunk_sessions')) === 1);
  await other.query('COMMIT');
  await other.end();
  isRefused(t, await sending, 400, 'chunk_session_closed', 'chunk_id');
  t.deepEqual(await chunkFiles(chunk_id), files);
});

test('a chunk over the limit is refused while it arrives', async (t) => {
  const chunk_id = unique('too-large-');
  const more = { total_chunks: 3, filename: 'a.txt' };
  const answer = await sendChunk(admin, chunk_id, 0, Buffer.alloc(config.storage.chunkMaxBytes + 1), more);
  t.deepEqual(outcome(answer), [413, 413, 'payload_too_large']);
  const megabytes = config.storage.chunkMaxBytes / 1024 ** 2;
  t.deepEqual(Object.values(answer.errors ?? {}), [[`不能超过 ${megabytes} MB`]]);
  t.is((await progress(chunk_id)).status, 404, 'nothing was opened');
  const largest = Buffer.alloc(config.storage.chunkMaxBytes);
  t.is((await sendChunk(admin, chunk_id, 0, largest, more)).status, 200);
  await sendChunk(admin, chunk_id, 0, textOf(100), more);
  await change('UPDATE chunk_sessions SET received_bytes = ? WHERE chunk_id = ?', [
    config.storage.chunkedMaxBytes - 99,
    chunk_id,
  ]);
  t.is((await sendChunk(admin, chunk_id, 1, textOf(100), more)).errorCode, 'payload_too_large');
  t.is((await sendChunk(admin, chunk_id, 1, textOf(99), more)).status, 200);
});

test('an upload can be cancelled until it is merged', async (t) => {
  const cancel = (chunk_id: string, client = admin) => call({ action: 'cancel', chunk_id }, client);
  const chunk_id = await uploaded(textOf(2 * size));
  const files = await chunkFiles(chunk_id);
  const other = await signedInWith(admin, ['attachment.store']);
  isRefused(t, await cancel(chunk_id, other), 404, 'chunk_session_not_found', 'chunk_id');
  t.deepEqual((await cancel(chunk_id)).data, { chunk_id, status: 'cancelled' });
  t.deepEqual(await storedOf(files), []);
  t.is((await progress(chunk_id)).status, 404);
  isRefused(t, await cancel(chunk_id), 404, 'chunk_session_not_found', 'chunk_id');
  const merged = await uploaded(textOf(100));
  const { id } = (await merge(merged)).data;
  isRefused(t, await cancel(merged), 400, 'chunk_session_closed', 'chunk_id');
  t.is((await admin.get(`/attachments/${id}`)).status, 200);
});

test('chunks arriving during a cancellation leave no file', async (t) => {
  const { chunk_id } = (
    await call({ action: 'init', filename: 'a.txt', total_size: 20 * 100, chunk_size: 100 })
  ).data;
  const sent = Array.from({ length: 20 }, (_, index) => sendChunk(admin, chunk_id, index, textOf(100)));
  await Promise.race(sent);
  t.is((await call({ action: 'cancel', chunk_id })).status, 200);
  const statuses = (await Promise.all(sent)).map(({ status }) => status);
  t.true(
    statuses.every((status) => status === 200 || status === 404),
    statuses.join(),
  );
  t.deepEqual(await chunkFiles(chunk_id), []);
});

test('abandoned sessions are removed with their chunks', async (t) => {
  const [stale, fresh] = await Promise.all([uploaded(textOf(2 * size)), uploaded(textOf(100))]);
  const [staleFiles, freshFiles] = await Promise.all([chunkFiles(stale), chunkFiles(fresh)]);
  await change('UPDATE chunk_sessions SET expires_at = ? WHERE chunk_id = ?', [
    new Date(Date.now() - 1000),
    stale,
  ]);
  await until(async () => {
    await sweepFiles();
    return (await progress(stale)).status === 404;
  });
  await until(async () => (await storedOf(staleFiles)).length === 0);
  t.deepEqual(await storedOf(freshFiles), freshFiles);
  t.is((await progress(fresh)).data.uploaded_count, 1);
});

test('only files without an owner are removed', async (t) => {
  const { id } = (await admin.upload('/attachments/upload', 'text')).data;
  const orphan = await sendOrphan();
  await until(async () => (await storedOf([orphan])).length === 0);
  t.is((await admin.download(`/attachments/${id}/download`)).bytes.toString(), 'text');
});

/** A file whose owner was deleted by a process that died before it removed the file. */
async function sendOrphan(): Promise<string> {
  const { id } = (await admin.upload('/attachments/upload', 'orphan')).data;
  const key = await keyOf(id);
  await change('DELETE FROM attachments WHERE id = ?', [id]);
  await change(`UPDATE stored_files SET state = 'released', updated_at = ? WHERE storage_key = ?`, [
    new Date(Date.now() - 60_000),
    key,
  ]);
  return key;
}

test.after('temporary folders are empty after uploads', (t) => {
  for (const name of ['incoming', 'partial']) {
    const folder = join(config.storage.root, name);
    t.deepEqual(existsSync(folder) ? readdirSync(folder) : [], []);
  }
});
