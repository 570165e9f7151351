// The envelope of every answer: language, error codes, trace id and headers; and health checks, which have none. Long answers
// are compressed; short ones and streams are not.
import '../support/shared-environment.js';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
import { change } from '../../src/lib/database/db.js';
import { service } from '../support/shared-service.js';
import { outcome } from '../support/client.js';

const { admin } = service;

test('Accept-Language chooses the language of messages', async (t) => {
  const said = async (language?: string) => {
    const answer = await admin.post(
      '/roles',
      { slug: 'x' },
      language === undefined ? {} : { 'Accept-Language': language },
    );
    return [answer.message, answer.errors?.name?.[0]];
  };
  const chinese = ['参数验证失败', '必填'];
  const english = ['Some parameters are missing or have the wrong type', 'is required'];
  for (const language of [
    ...[
      undefined,
      'zh-CN',
      'zh',
      'zh-TW',
      'fr',
      '*',
      'fr, de',
      'zh, en',
      'english',
      ';;;,,',
      'x'.repeat(3000),
    ],
    ...['en;q=0.1, zh;q=0.9', 'en;q=0.5, zh;q=0.51', 'en;q=0'],
  ])
    t.deepEqual(await said(language), chinese, language);
  for (const language of [
    ...['en-US', 'en', 'EN-gb', 'en, zh', 'fr, en;q=0.5', 'zh;q=0.1, en;q=0.9'],
    ...['en; Q=0.9 , zh;q=0.8', 'en;q=abc, zh;q=0.9'],
  ])
    t.deepEqual(await said(language), english, language);
  t.is(JSON.parse((await admin.get('/heartbeat')).text).message, '操作成功');
  t.is(JSON.parse((await admin.get('/heartbeat', { 'Accept-Language': 'en-US' })).text).message, 'success');
});

test('an unknown address or method is answered in the envelope', async (t) => {
  const notFound = [404, 404, 'route_not_found'];
  for (const path of [
    '/nothing',
    '/roles/1/nothing',
    '//api',
    '//api/admin',
    '//nothing.php',
    '//api/payment/notify',
  ]) {
    t.deepEqual(outcome(await service.anonymous.get(path)), notFound, path);
  }
  for (const method of ['PATCH', 'PUT', 'DELETE'])
    t.deepEqual(outcome(await admin.request(method, '/roles', {})), notFound, method);
  const { text } = await service.anonymous.get('/nothing');
  const { trace_id, ...rest } = JSON.parse(text);
  t.deepEqual(rest, { code: 404, message: '接口不存在', data: null, error_code: 'route_not_found' });
  t.is(trace_id.length, 26);
  t.is((await admin.get('/users/%E0%A4%A')).status, 400, 'a broken escape');
});

/** The trace id of an answer, in body and header alike, to a request that may bring one. */
async function traceId(t: ExecutionContext, sent?: string): Promise<string> {
  const { text, headers } = await admin.get('/heartbeat', sent === undefined ? {} : { 'X-Trace-Id': sent });
  t.is(headers.get('X-Trace-Id'), JSON.parse(text).trace_id);
  return JSON.parse(text).trace_id;
}

test('the trace id is a ULID', async (t) => {
  t.regex(await traceId(t), /^[0-9A-HJKMNP-TV-Z]{26}$/);
});

test('only a well-formed trace id is adopted', async (t) => {
  for (const good of ['12345678', 'a_b-C'.repeat(12), 'x'.repeat(64)]) t.is(await traceId(t, good), good);
  for (const bad of ['1234567', 'x'.repeat(65), 'with space', 'semi;colon', '<script>x'])
    t.not(await traceId(t, bad), bad);
});

test('every answer has the security headers', async (t) => {
  for (const { headers } of [
    await admin.get('/info'),
    await service.anonymous.get('/info'),
    await service.anonymous.get('/x'),
  ]) {
    t.is(headers.get('Cache-Control'), 'no-store');
    t.is(headers.get('X-Content-Type-Options'), 'nosniff');
    t.is(headers.get('X-Frame-Options'), 'DENY');
    t.is(
      headers.get('Content-Security-Policy'),
      "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
    t.is(headers.get('Referrer-Policy'), 'no-referrer');
    t.is(headers.get('Strict-Transport-Security'), 'max-age=31536000');
    t.is(headers.get('Cross-Origin-Resource-Policy'), 'same-origin');
    t.is(headers.get('Content-Type'), 'application/json; charset=utf-8');
    t.is(headers.get('X-Powered-By'), null);
    t.is(headers.get('Server'), null);
    t.is(headers.get('Access-Control-Allow-Origin'), null);
  }
});

test('a request with two hosts or without headers is refused', async (t) => {
  const answerTo = async (lines: string[]): Promise<string> => {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1');
    socket.write([...lines, 'Connection: close', '', ''].join('\r\n'));
    let text = '';
    for await (const bytes of socket) text += String(bytes);
    return text;
  };
  t.regex(await answerTo(['GET /healthz HTTP/1.1', 'Host: a']), /^HTTP\/1\.1 200 /);
  const twice = await answerTo(['GET /healthz HTTP/1.1', 'Host: a', 'host: b']);
  t.regex(twice, /^HTTP\/1\.1 400 .*"error_code":"bad_request"/s);
  t.regex(await answerTo(['GET /healthz HTTP/0.9', 'Host: a']), /^HTTP\/1\.1 400 /);
});

test('health and readiness need no sign-in', async (t) => {
  const { version, commit } = config;
  t.deepEqual((await service.anonymous.get('//healthz')).data, { status: 'ok', version, commit });
  const ready = { status: 'ok', database: 'ok', redis: 'ok' };
  t.deepEqual((await service.anonymous.get('//readyz?strict=1')).data, ready);
});

// Users for a long answer.
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
