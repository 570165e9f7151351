// /attachments: which files are accepted, and how they are named, shown, downloaded, renamed and deleted.
import '../support/environment.js';
import { Readable } from 'node:stream';
import test, { type ExecutionContext } from 'ava';
import { select } from '../../src/lib/database/db.js';
import { storage } from '../../src/lib/storage/index.js';
import { outcome, type Answer } from '../support/client.js';
import { unique } from '../support/factories.js';
import { docx, gif, jpeg, keyOf, mp4, pdf, png, sha256, storedOf, textOf, zipOf } from '../support/files.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });

const upload = (
  content: string | Uint8Array,
  filename: string,
  fields: Record<string, string> = {},
): Promise<Answer> => service.admin.upload('/attachments/upload', content, { filename, fields });

function isRefused(t: ExecutionContext, answer: Answer, slug: string, field: string): void {
  t.deepEqual(
    [answer.errorCode, answer.code, Object.keys(answer.errors ?? {})],
    [slug, 40005, [field]],
    answer.text,
  );
}

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

test('a refusal of a type names the allowed ones', async (t) => {
  const answer = await upload(png, 'tool.exe');
  isRefused(t, answer, 'file_type_not_allowed', 'file');
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
  isRefused(t, await upload(png, 'a.png', { type: 'video' }), 'file_type_mismatch', 'type');
  const unknown = await upload(png, 'a.png', { type: 'music' });
  t.deepEqual([unknown.status, unknown.code, Object.keys(unknown.errors ?? {})], [422, 30001, ['type']]);
  t.is((await upload(pdf, 'a.pdf', { type: 'document' })).status, 200);
});

test('an upload of no file, an empty one or two is refused', async (t) => {
  const none = await service.admin.upload('/attachments/upload', 'x', { part: 'other' });
  t.deepEqual([none.status, none.code, none.errors], [400, 30001, { file: ['必填'] }]);
  t.is((await service.admin.post('/attachments/upload', { file: 'x' })).status, 400);
  const field = new FormData();
  field.append('file', 'a text, not a file');
  t.deepEqual((await service.admin.request('POST', '/attachments/upload', { body: field })).errors, {
    file: ['必填'],
  });
  isRefused(t, await upload('', 'a.txt'), 'file_empty', 'file');
  const two = new FormData();
  for (const name of ['a.txt', 'b.txt']) two.append('file', new Blob(['text']), name);
  const answer = await service.admin.request('POST', '/attachments/upload', {
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
    (await service.admin.get(`/attachments?${query}`)).data.list.map((item: { id: number }) => item.id);
  const [one, two, three] = made.map(({ id }) => id as number) as [number, number, number];
  t.deepEqual(await ids(`filename=${name}`), [three, two, one]);
  t.deepEqual(await ids(`filename=${name}&order_by=size:asc`), [one, three, two]);
  t.deepEqual(await ids(`display_name=${name}&type=image`), [two]);
  t.deepEqual(await ids(`filename=${name}&extension=CSV`), [three]);
  t.deepEqual(await ids(`filename=${name}&admin_id=${made[0]?.admin_id}&page_size=1&page=2`), [two]);
  t.deepEqual(await ids(`filename=${name}&admin_id=999999999`), []);
  t.deepEqual(await ids(`filename=${name.slice(0, 3)}%25`), []);
  t.is((await service.admin.get('/attachments?order_by=storage_key:asc')).status, 422);
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

test('a download has its shown name in UTF-8 with the verified extension', async (t) => {
  const { id } = (await upload('text', '报表.txt')).data;
  const name = async (): Promise<string> =>
    (await service.admin.download(`/attachments/${id}/download`)).headers.get('Content-Disposition') ?? '';
  t.is(await name(), `attachment; filename="__.txt"; filename*=UTF-8''%E6%8A%A5%E8%A1%A8.txt`);
  await service.admin.put(`/attachments/${id}/display-name`, { display_name: 'run "me".exe' });
  t.is(await name(), `attachment; filename="run _me_.exe.txt"; filename*=UTF-8''run%20%22me%22.exe.txt`);
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

test('renaming changes only the shown name', async (t) => {
  const { id } = (await upload('text', 'first.txt')).data;
  const rename = (display_name: unknown) =>
    service.admin.put(`/attachments/${id}/display-name`, { display_name });
  const { data } = await rename('../../Second name.txt. ');
  t.deepEqual([data.display_name, data.filename], ['Second name.txt', 'first.txt']);
  for (const name of ['...', 'a/']) isRefused(t, await rename(name), 'file_name_invalid', 'display_name');
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
    t.deepEqual([answer.status, Object.keys(answer.errors ?? {})], [status, ['display_name']]);
  }
  t.is((await service.admin.get(`/attachments/${id}`)).data.display_name, 'Second name.txt');
  t.is((await service.admin.put('/attachments/999999999/display-name', { display_name: 'x' })).status, 404);
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
    t.deepEqual([answer.status, Object.keys(answer.errors ?? {})[0]?.startsWith('ids')], [status, true]);
  }
  t.deepEqual(await select('SELECT storage_key FROM stored_files WHERE storage_key IN (?)', [keys]), []);
});
