// /attachments and /attachments/chunk: which files and chunks are accepted, and how they are named, found and refused.
import '../support/settings/shared-environment.js';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
import { change, select } from '../../src/lib/database/db.js';
import { chunkFiles, chunkUploads, isRefused } from '../support/chunk-uploads.js';
import type { Answer } from '../support/client.js';
import { signedInWith, unique } from '../support/factories.js';
import {
  chunksOf,
  docx,
  gif,
  jpeg,
  mp4,
  pdf,
  png,
  sendChunk,
  sha256,
  textOf,
  zipOf,
} from '../support/files.js';
import { service } from '../support/shared-service.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

const { admin } = service;
const { call, progress, afterMerging, merge, uploaded } = chunkUploads(service);
const own = await signedInWith(admin, ['attachment.store', 'attachment.destroy']);

const upload = (
  content: string | Uint8Array,
  filename: string,
  fields: Record<string, string> = {},
): Promise<Answer> => service.admin.upload('/attachments/upload', content, { filename, fields });

/** Asserts that a file is refused by its content or name. */
function isFileRefused(t: ExecutionContext, answer: Answer, slug: string, field: string): void {
  t.deepEqual([answer.errorCode, answer.code, answer.fields], [slug, 40005, [field]], answer.text);
}

test('a refusal of a type names the allowed ones', async (t) => {
  const answer = await upload(png, 'tool.exe');
  isFileRefused(t, answer, 'file_type_not_allowed', 'file');
  t.regex(answer.message, /：.*\bpng\b.*\bpdf\b/);
});

test('each kind is recognised by its content', async (t) => {
  const kinds: [Uint8Array | string, string, string, string][] = [
    [gif, 'a.gif', 'image', 'image/gif'],
    [jpeg, 'a.JPEG', 'image', 'image/jpeg'],
    [pdf, 'a.pdf', 'document', 'application/pdf'],
    [mp4, 'a.mp4', 'video', 'video/mp4'],
    [docx, 'a.docx', 'document', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
    [zipOf({ 'a.txt': 'hello' }), 'a.zip', 'other', 'application/zip'],
    ['plain text, 中文\r\n', 'a.txt', 'document', 'text/plain'],
    ['\ufeffid,name\n1,茶\n', 'a.csv', 'document', 'text/csv'],
    [Buffer.from('d6d0cec4 0a'.replace(' ', ''), 'hex'), 'gbk.csv', 'document', 'text/csv'],
  ];
  for (const [content, name, type, mime] of kinds) {
    const { data, text } = await upload(content, name);
    t.deepEqual([data?.type, data?.mime_type], [type, mime], text);
  }
});

test('the declared type must match the file', async (t) => {
  isFileRefused(t, await upload(png, 'a.png', { type: 'video' }), 'file_type_mismatch', 'type');
  const unknown = await upload(png, 'a.png', { type: 'music' });
  t.deepEqual([unknown.status, unknown.code, unknown.fields], [422, 30001, ['type']]);
  t.is((await upload(pdf, 'a.pdf', { type: 'document' })).status, 200);
});

test('an upload of no file, an empty one or two is refused', async (t) => {
  const none = await admin.upload('/attachments/upload', 'x', { part: 'other' });
  t.deepEqual([none.status, none.code, none.errors], [400, 30001, { file: ['必填'] }]);
  t.is((await admin.post('/attachments/upload', { file: 'x' })).status, 400);
  const field = new FormData();
  field.append('file', 'a text, not a file');
  t.deepEqual((await admin.request('POST', '/attachments/upload', { body: field })).errors, {
    file: ['必填'],
  });
  isFileRefused(t, await upload('', 'a.txt'), 'file_empty', 'file');
  const two = new FormData();
  for (const name of ['a.txt', 'b.txt']) two.append('file', new Blob(['text']), name);
  const answer = await admin.request('POST', '/attachments/upload', {
    body: two,
    headers: { 'Accept-Language': 'en-US' },
  });
  t.deepEqual([answer.status, answer.errors], [400, { file: ['must be one file only'] }]);
});

test('lists can be filtered and sorted', async (t) => {
  const name = unique('list-');
  const made = [
    (await upload('one', `${name}-1.txt`)).data,
    (await upload(png, `${name}-2.png`)).data,
    (await upload('three', `${name}-3.csv`)).data,
  ];
  const ids = async (query: string): Promise<number[]> =>
    (await admin.get(`/attachments?${query}`)).data.list.map((item: { id: number }) => item.id);
  const [one, two, three] = made.map(({ id }) => id as number) as [number, number, number];
  t.deepEqual(await ids(`filename=${name}`), [three, two, one]);
  t.deepEqual(await ids(`filename=${name}&order_by=size:asc`), [one, three, two]);
  t.deepEqual(await ids(`display_name=${name}&type=image`), [two]);
  t.deepEqual(await ids(`filename=${name}&extension=CSV`), [three]);
  t.deepEqual(await ids(`filename=${name}&admin_id=${made[0]?.admin_id}&page_size=1&page=2`), [two]);
  t.deepEqual(await ids(`filename=${name}&admin_id=999999999`), []);
  t.deepEqual(await ids(`filename=${name.slice(0, 3)}%25`), []);
  t.is((await admin.get('/attachments?order_by=storage_key:asc')).status, 422);
});

test('a download has its shown name in UTF-8 with the verified extension', async (t) => {
  const { id } = (await upload('text', '报表.txt')).data;
  const name = async (): Promise<string> =>
    (await admin.download(`/attachments/${id}/download`)).headers.get('Content-Disposition') ?? '';
  t.is(await name(), `attachment; filename="__.txt"; filename*=UTF-8''%E6%8A%A5%E8%A1%A8.txt`);
  await admin.put(`/attachments/${id}/display-name`, { display_name: 'run "me".exe' });
  t.is(await name(), `attachment; filename="run _me_.exe.txt"; filename*=UTF-8''run%20%22me%22.exe.txt`);
});

test('renaming changes only the shown name', async (t) => {
  const { id } = (await upload('text', 'first.txt')).data;
  const rename = (display_name: unknown) => admin.put(`/attachments/${id}/display-name`, { display_name });
  const { data } = await rename('../../Second name.txt. ');
  t.deepEqual([data.display_name, data.filename], ['Second name.txt', 'first.txt']);
  for (const name of ['...', 'a/']) isFileRefused(t, await rename(name), 'file_name_invalid', 'display_name');
  const refused: [unknown, number][] = [
    ['', 422],
    [' ', 422],
    ['a\u202eb', 422],
    ['x'.repeat(256), 422],
    [undefined, 400],
    [5, 400],
    [['a'], 400],
  ];
  for (const [name, status] of refused) {
    const answer = await rename(name);
    t.deepEqual([answer.status, answer.fields], [status, ['display_name']]);
  }
  t.is((await admin.get(`/attachments/${id}`)).data.display_name, 'Second name.txt');
  t.is((await admin.put('/attachments/999999999/display-name', { display_name: 'x' })).status, 404);
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
  test(`the id of a chunked upload may be ${what}`, async (t) => {
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
    const { data } = await own.get(`/attachments/chunk?chunk_id=${encodeURIComponent(chunkId)}`);
    t.deepEqual([data.chunk_id, data.uploaded_chunks], [chunkId, [0, 1]]);
    t.is((await call({ action: 'merge', chunk_id: chunkId }, admin)).errorCode, 'chunk_session_not_found');
    t.is((await merge(chunkId, {}, own)).data.sha256, sha256(Buffer.concat([one, other])));
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
    t.deepEqual([answer.status, answer.fields], [status, [field]], JSON.stringify(change));
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
    t.deepEqual([answer.status, answer.fields], [status, [field]], JSON.stringify(change));
  }
  t.is((await progress(chunk_id)).data.uploaded_count, 0);
  t.deepEqual(await chunkFiles(chunk_id), []);
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
