// Long answers are compressed; short ones and streams are not.
import '../support/shared-environment.js';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import test from 'ava';
import { change } from '../../src/lib/database/db.js';
import { service } from '../support/shared-service.js';

test.before(async () => {
  const values = Array.from(
    { length: 100 },
    (_, index) => `('probe${index}', REPEAT('备', 50), NOW(3), NOW(3))`,
  );
  await change(
    `INSERT INTO users (username, nickname, created_at, updated_at) VALUES ${values.join(', ')}`,
    [],
  );
});

/** An answer as it travels. */
async function raw(
  path: string,
  encodings: string,
): Promise<{ headers: IncomingMessage['headers']; body: Buffer }> {
  const headers = { ...service.admin.headers, 'Accept-Encoding': encodings };
  const request = get(`${service.url}${path}`, { headers });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (response.headers['content-type']?.startsWith('text/event-stream')) break;
  }
  request.destroy();
  return { headers: response.headers, body: Buffer.concat(chunks) };
}

const list = (size: number) => `/api/admin/users?page_size=${size}&username=probe`;

test('a long list is compressed with brotli or gzip', async (t) => {
  const plain = await raw(list(100), 'identity');
  t.is(plain.headers['content-encoding'], undefined);
  t.true(plain.body.length > 16_000);
  const readers = { br: brotliDecompressSync, gzip: gunzipSync };
  const dataOf = (text: string) => (JSON.parse(text) as { data: unknown }).data;
  for (const [encoding, read] of Object.entries(readers)) {
    const { headers, body } = await raw(list(100), encoding);
    t.is(headers['content-encoding'], encoding);
    t.is(headers['content-length'], String(body.length));
    t.regex(headers.vary ?? '', /Accept-Encoding/);
    t.true(body.length < plain.body.length / 5, `${body.length} of ${plain.body.length}`);
    t.deepEqual(dataOf(read(body).toString()), dataOf(plain.body.toString()));
  }
  t.regex(plain.headers.vary ?? '', /Accept-Encoding/, 'also where it goes as it is');
  t.is((await raw(list(100), 'gzip, deflate, br')).headers['content-encoding'], 'br');
  t.is((await raw(list(100), 'br;q=0, gzip')).headers['content-encoding'], 'gzip');
});

test('a browser gets the document in brotli even if it names gzip first', async (t) => {
  const [small, plain] = [await raw('/openapi.json', 'gzip, deflate, br'), await raw('/openapi.json', '')];
  t.is(small.headers['content-encoding'], 'br');
  t.deepEqual(brotliDecompressSync(small.body), plain.body);
});

test('short lists, refusals and streams are not compressed', async (t) => {
  const { ticket } = (await service.admin.post('/notifications/ws-ticket', {})).data;
  for (const path of [list(10), '/api/admin/nowhere', `/api/admin/dashboard/stream?ticket=${ticket}`]) {
    const { headers, body } = await raw(path, 'br, gzip');
    t.is(headers['content-encoding'], undefined, path);
    t.true(body.length > 0, path);
  }
});
