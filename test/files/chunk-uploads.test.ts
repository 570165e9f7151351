// /attachments/chunk: sessions, chunks in any order, merges, and mistakes of clients.
import '../support/environment.js';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
import { change, select } from '../../src/lib/database/db.js';
import { sweepFiles } from '../../src/worker/sweeper.js';
import { outcome, type Answer, type Client } from '../support/client.js';
import { signedInWith, unique } from '../support/factories.js';
import { chunksOf, keyOf, png, sendChunk, sha256, storedOf, textOf } from '../support/files.js';
import { lockWaits, otherConnection } from '../support/other-connection.js';
import { serviceTest } from '../support/service-test.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

/** Of this file and of the one that repeats it. */
export const service = serviceTest();
let admin: Client;

test.before(() => {
  admin = service.admin;
});

const size = 40_000;

const call = (fields: object, client = admin): Promise<Answer> => client.post('/attachments/chunk', fields);

const progress = async (chunk_id: string, client = admin): Promise<Answer> =>
  client.get(`/attachments/chunk?action=progress&chunk_id=${chunk_id}`);

/** Merges, and asks again when it took longer than the answer waits. */
async function merge(chunk_id: string, more: object = {}, client = admin): Promise<Answer> {
  const ask = () => call({ action: 'merge', chunk_id, ...more }, client);
  return afterMerging(ask, chunk_id, client);
}

async function afterMerging(ask: () => Promise<Answer>, chunk_id: string, client = admin): Promise<Answer> {
  const answer = await ask();
  if (answer.data?.status !== 'merging') return answer;
  await until(async () => (await progress(chunk_id, client)).data.status !== 'merging', 40_000);
  return ask();
}

/** A session with all its chunks. */
async function uploaded(
  content: Buffer,
  { filename = 'large.txt', ...more }: Record<string, string | number> = {},
): Promise<string> {
  const opened = await call({
    action: 'init',
    filename,
    total_size: content.length,
    chunk_size: size,
    ...more,
  });
  if (opened.status !== 200) throw new Error(opened.text);
  const { chunk_id } = opened.data as { chunk_id: string };
  for (const [index, chunk] of chunksOf(content, size).entries()) {
    const answer = await sendChunk(admin, chunk_id, index, chunk);
    if (answer.status !== 200) throw new Error(answer.text);
  }
  return chunk_id;
}

const chunkFiles = async (chunk_id: string): Promise<string[]> =>
  (
    await select<{ storage_key: string }>('SELECT storage_key FROM chunks WHERE chunk_id = ?', [chunk_id])
  ).map(({ storage_key }) => storage_key);

/** What the table says of files: those that are not kept are removed in time. */
const statesOf = async (keys: string[]): Promise<string[]> =>
  (await select<{ state: string }>('SELECT state FROM stored_files WHERE storage_key IN (?)', [keys])).map(
    ({ state }) => state,
  );

function isRefused(t: ExecutionContext, answer: Answer, status: number, slug: string, field: string): void {
  t.deepEqual(
    [answer.status, answer.errorCode, Object.keys(answer.errors ?? {})],
    [status, slug, [field]],
    answer.text,
  );
}

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

test('the multipart form of the specification works without init', async (t) => {
  const chunk_id = unique('client-chosen-');
  const chunks = chunksOf(png, 30);
  for (const [index, chunk] of chunks.entries()) {
    const more = { total_chunks: chunks.length, filename: 'pixel.png' };
    t.is((await sendChunk(admin, chunk_id, index, chunk, more)).status, 200);
  }
  const form = new FormData();
  const fields = { action: 'merge', chunk_id, filename: 'pixel.png', total_chunks: String(chunks.length) };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  const ask = () => admin.request('POST', '/attachments/chunk', { body: form });
  const { data, text } = await afterMerging(ask, chunk_id);
  t.deepEqual([data.mime_type, data.sha256], ['image/png', sha256(png)], text);
});

test('a file that was deleted can be uploaded again under the same id', async (t) => {
  const chunk_id = unique('digest-');
  const content = textOf(9);
  const send = () => sendChunk(admin, chunk_id, 0, content, { total_chunks: 1, filename: 'a.txt' });
  await send();
  const first = await merge(chunk_id);
  t.is((await admin.delete(`/attachments/${first.data.id}`)).status, 200);
  const again = await send();
  t.is(again.status, 200, again.text);
  const { data } = await merge(chunk_id);
  t.not(data.id, first.data.id);
  t.is((await admin.get(`/attachments/${data.id}`)).status, 200);
});

for (const [what, chunkId] of Object.entries({
  'a file name': 'file-1.png',
  'a time and a random number': '1699999999999_0.123',
  Chinese: '上传 图片（一）',
  'a path': '../../../../etc',
  'one character': '1',
  '128 characters': '长'.repeat(128),
}))
  test.serial(`the id of a chunked upload may be ${what}`, async (t) => {
    const own = await signedInWith(admin, ['attachment.store', 'attachment.destroy']);
    const query = `/attachments/chunk?chunk_id=${encodeURIComponent(chunkId)}`;
    const [one, other] = [textOf(10), textOf(7)];
    const more = { total_chunks: 2, filename: 'a.txt' };
    const first = await sendChunk(own, chunkId, 0, one, more);
    t.deepEqual(
      [first.status, first.data?.chunk_id, first.data?.uploaded_count],
      [200, chunkId, 1],
      first.text,
    );
    t.deepEqual((await call({ action: 'cancel', chunk_id: chunkId }, own)).data, {
      chunk_id: chunkId,
      status: 'cancelled',
    });
    for (const [index, chunk] of [one, other].entries()) await sendChunk(own, chunkId, index, chunk, more);
    const { data } = await own.get(query);
    t.deepEqual([data.chunk_id, data.uploaded_chunks], [chunkId, [0, 1]]);
    t.is((await call({ action: 'merge', chunk_id: chunkId }, admin)).errorCode, 'chunk_session_not_found');
    await call({ action: 'merge', chunk_id: chunkId }, own);
    const merged = await until(async () => {
      const answer = await call({ action: 'merge', chunk_id: chunkId }, own);
      return answer.data.sha256 ? answer : undefined;
    }, 40_000);
    t.is(merged.data.sha256, sha256(Buffer.concat([one, other])));
  });

test('the part of a chunk may be called chunk', async (t) => {
  const form = new FormData();
  for (const [name, value] of Object.entries({ action: 'init', filename: 'a.txt', total_size: '5' }))
    form.append(name, value);
  const { data } = await admin.request('POST', '/attachments/chunk', { body: form });
  t.deepEqual([data.total_chunks, data.chunk_size], [1, config.storage.chunkMaxBytes]);
  const fields = { action: 'upload', chunk_id: data.chunk_id, chunk_index: 0 };
  t.is((await admin.upload('/attachments/chunk', 'hello', { part: 'chunk', fields })).status, 200);
  t.is((await merge(data.chunk_id)).data.size, 5);
});

test('concurrent first chunks open one session', async (t) => {
  const chunk_id = unique('at-once-');
  const content = textOf(10 * 1000);
  const chunks = chunksOf(content, 1000);
  const answers = await Promise.all(
    chunks.map((chunk, index) =>
      sendChunk(admin, chunk_id, index, chunk, { total_chunks: 10, filename: 'at-once.txt' }),
    ),
  );
  t.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  t.is((await progress(chunk_id)).data.uploaded_count, 10);
  t.is((await merge(chunk_id)).data.sha256, sha256(content));
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

test('a merge refused for an extension that is no longer allowed names the allowed ones', async (t) => {
  const caller = (await signedInWith(admin, ['attachment.store'])).with({ 'Accept-Language': 'en' });
  const chunk_id = unique('chunk');
  const whole = { total_chunks: 1, filename: 'scan.txt' };
  t.is((await sendChunk(caller, chunk_id, 0, 'II*', whole)).status, 200);
  // As it is left by a service that allowed it.
  await change(`UPDATE chunk_sessions SET filename = 'scan.tif' WHERE chunk_id = ?`, [chunk_id]);
  const answer = await merge(chunk_id, {}, caller);
  t.is(answer.errorCode, 'file_type_not_allowed');
  t.regex(answer.message, /allowed: jpg, jpeg, png/);
  t.is((await progress(chunk_id, caller)).data.error_msg, answer.message);
});

test('init refuses invalid declarations', async (t) => {
  const good = { action: 'init', filename: 'a.txt', total_size: 1000, chunk_size: 100 };
  const refused: [object, number, string][] = [
    [{ filename: undefined }, 400, 'filename'],
    [{ total_size: undefined }, 400, 'total_size'],
    [{ total_size: '1000' }, 400, 'total_size'],
    [{ total_size: 0 }, 422, 'total_size'],
    [{ total_size: config.storage.chunkedMaxBytes + 1, chunk_size: undefined }, 422, 'total_size'],
    [{ chunk_size: config.storage.chunkMaxBytes + 1 }, 422, 'chunk_size'],
    [{ chunk_size: 0 }, 422, 'chunk_size'],
    [{ total_chunks: 9 }, 422, 'total_chunks'],
    [{ total_chunks: 10_001 }, 422, 'total_chunks'],
    [{ total_size: 1024 ** 3, chunk_size: undefined, total_chunks: 102 }, 422, 'total_chunks'],
    [{ total_chunks: 2 ** 40 }, 422, 'total_chunks'],
    [{ total_size: 100_000, chunk_size: 1 }, 422, 'chunk_size'],
    [{ filename: 'a.exe' }, 422, 'filename'],
    [{ filename: '...' }, 422, 'filename'],
    [{ sha256: 'A'.repeat(64) }, 422, 'sha256'],
    [{ action: 'start' }, 422, 'action'],
    [{ action: undefined }, 400, 'action'],
  ];
  for (const [change, status, field] of refused) {
    const answer = await call({ ...good, ...change });
    t.deepEqual([answer.status, Object.keys(answer.errors ?? {})], [status, [field]], JSON.stringify(change));
  }
});

test('a chunk that does not fit its session is refused', async (t) => {
  const { chunk_id } = (await call({ action: 'init', filename: 'a.txt', total_size: 250, chunk_size: 100 }))
    .data;
  const send = (index: number, bytes: number, more = {}) =>
    sendChunk(admin, chunk_id, index, textOf(bytes), more);
  isRefused(t, await send(3, 100), 422, 'chunk_index_invalid', 'chunk_index');
  isRefused(t, await send(0, 99), 422, 'chunk_size_invalid', 'file');
  isRefused(t, await send(1, 101), 422, 'chunk_size_invalid', 'file');
  isRefused(t, await send(2, 51), 422, 'chunk_size_invalid', 'file');
  isRefused(t, await send(0, 0), 422, 'file_empty', 'file');
  isRefused(t, await send(0, 100, { total_chunks: 4 }), 422, 'chunk_session_mismatch', 'total_chunks');
  isRefused(t, await send(0, 100, { filename: 'b.txt' }), 422, 'chunk_session_mismatch', 'filename');
  isRefused(t, await merge(chunk_id, { filename: 'b.txt' }), 422, 'chunk_session_mismatch', 'filename');
  const contradicting = { filename: 'a.txt', total_size: 10, chunk_size: 5, total_chunks: 3 };
  const first = await sendChunk(admin, unique('first-'), 0, textOf(5), contradicting);
  isRefused(t, first, 422, 'chunk_count_invalid', 'total_chunks');
  const fields = { action: 'upload', chunk_id, chunk_index: 0 };
  isRefused(t, await call(fields), 400, 'validation_failed', 'file');
  for (const [change, status, field] of [
    [{ chunk_index: -1 }, 422, 'chunk_index'],
    [{ chunk_index: 10_000 }, 422, 'chunk_index'],
    [{ chunk_index: 'one' }, 400, 'chunk_index'],
    [{ chunk_index: '' }, 400, 'chunk_index'],
    [{ chunk_id: 'x'.repeat(129) }, 422, 'chunk_id'],
    [{ chunk_id: 'a\u001bb' }, 422, 'chunk_id'],
    [{ chunk_id: '' }, 400, 'chunk_id'],
  ] as const) {
    const answer = await admin.upload('/attachments/chunk', textOf(100), {
      fields: { ...fields, ...change },
    });
    t.deepEqual([answer.status, Object.keys(answer.errors ?? {})], [status, [field]], JSON.stringify(change));
  }
  t.is((await progress(chunk_id)).data.uploaded_count, 0);
  t.deepEqual(await chunkFiles(chunk_id), []);
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

test('a session is visible only to its administrator', async (t) => {
  const other = await signedInWith(admin, ['attachment.store']);
  const chunk_id = await uploaded(textOf(100));
  isRefused(t, await progress(chunk_id, other), 404, 'chunk_session_not_found', 'chunk_id');
  isRefused(t, await call({ action: 'merge', chunk_id }, other), 404, 'chunk_session_not_found', 'chunk_id');
  isRefused(t, await sendChunk(other, chunk_id, 0, 'x'), 404, 'chunk_session_not_found', 'chunk_id');
  const own = await sendChunk(other, chunk_id, 0, 'theirs', { total_chunks: 1, filename: 'b.txt' });
  t.is(own.status, 200, 'the same name opens a session of their own');
  t.is((await merge(chunk_id, {}, other)).data.size, 6);
  t.is((await merge(chunk_id)).data.size, 100);
});

test('a merged session accepts no chunks', async (t) => {
  const chunk_id = await uploaded(textOf(100));
  await merge(chunk_id);
  isRefused(t, await sendChunk(admin, chunk_id, 0, textOf(100)), 400, 'chunk_session_closed', 'chunk_id');
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

test('missing chunks are named, up to a few dozen', async (t) => {
  const chunk_id = unique('gaps-');
  await sendChunk(admin, chunk_id, 1, 'x', { total_chunks: 10_000, filename: 'a.txt' });
  const answer = await call({ action: 'merge', chunk_id });
  t.regex(answer.errors?.chunk_id?.[0] ?? '', /0, 2, 3, .* 50, … \(9999\)$/);
  t.true(answer.text.length < 1000);
});

test('the end of a merge is pushed to its administrator', async (t) => {
  const socket = await openSocket(service.url, await ticketOf(admin));
  const chunk_id = await uploaded(textOf(100));
  const { data } = await merge(chunk_id);
  const frame = await until(() =>
    socket.frames.find((one) => one.type === 'merge' && one.data?.chunk_id === chunk_id),
  );
  t.deepEqual(frame.data, { chunk_id, status: 'completed', attachment_id: data.id, error: null });
  socket.socket.close();
});

test('only merges are in the operation log', async (t) => {
  const chunk_id = await uploaded(textOf(100));
  await merge(chunk_id);
  const logged = () =>
    select<{ request: string; status: number }>(
      `SELECT request, status FROM operation_logs WHERE path = '/api/admin/attachments/chunk' AND request LIKE ?`,
      [`%${chunk_id}%`],
    );
  await until(async () => (await logged()).length > 0);
  // Once more when the answer did not wait for the end.
  const actions = new Set((await logged()).map(({ request }) => JSON.parse(request).body.action));
  t.deepEqual([...actions], ['merge']);
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
