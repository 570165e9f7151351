// Requests and answers: bodies, and the one envelope of every answer.
import '../support/settings/shared-environment.js';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
import { change } from '../../src/lib/database/db.js';
import { makeOrder, makeUser, unique } from '../support/factories.js';
import { service } from '../support/shared-service.js';
import { outcome } from '../support/client.js';
import { selectRow } from '../support/rows.js';

const { admin } = service;

const wrongType = [400, 30001, 'validation_failed'];
const wrongFormat = [422, 30004, 'format_invalid'];

test('missing or mistyped fields are 400, invalid values and formats 422', async (t) => {
  const post = async (body: unknown) => outcome(await admin.post('/users', body));
  const username = unique('user');
  t.deepEqual(await post({}), wrongType);
  for (const value of [1, true, null, ['x'], { $gt: '' }])
    t.deepEqual(await post({ username: value }), wrongType, JSON.stringify(value));
  t.deepEqual(await post({ username, status: '1' }), wrongType, 'nothing is coerced in JSON');
  t.deepEqual(await post({ username, status: 7 }), [422, 30001, 'value_not_acceptable']);
  t.deepEqual(await post({ username, email: 'nowhere' }), wrongFormat);
  t.deepEqual(await post({ username, email: 'nowhere', status: 7 }), [422, 30001, 'value_not_acceptable']);
  t.deepEqual(await post({ username, email: 'nowhere', status: '7' }), wrongType);
  const { id } = await makeUser(admin);
  t.is((await admin.get(`/users/${id}`)).status, 200);
  for (const path of ['abc', '1.0', '1e1', '0x1', `${id}%20`])
    t.is((await admin.get(`/users/${path}`)).status, 400, path);
  t.is((await admin.get('/users/0')).status, 422);
  t.deepEqual(outcome(await admin.get('/users/999999999')), [404, 20002, 'user_not_found']);
});

test('a refused value has one text, which is true of it', async (t) => {
  const english = admin.with({ 'Accept-Language': 'en-US' });
  const integer = 'must be an integer';
  const once = 'must be given only once';
  for (const [path, field, text] of [
    ['/users/1.5', 'id', integer],
    ['/users/99999999999999999999', 'id', 'is out of range'],
    ['/users/abc', 'id', 'must be a number'],
    ['/users?page=1.5', 'page', integer],
    ['/users?page=1&page=2', 'page', once],
    ['/users?username=a&username=b', 'username', once],
  ] as const) {
    const { status, errors } = await english.get(path);
    t.deepEqual([status, errors], [400, { [field]: [text] }], path);
  }
  t.is((await english.get('/users?page=9007199254740991')).data.page, 1_000_000_000);
  const menu = { title: 'x', slug: unique('m-'), type: null, status: '1', is_hidden: true };
  const number = ['must be a number'];
  t.deepEqual((await english.post('/menus', menu)).errors, {
    type: number,
    status: number,
    is_hidden: number,
  });
  const { id } = await makeUser(admin);
  const change = async (amount: unknown) =>
    (await english.post(`/users/${id}/update-balance`, { amount, type: 'income' })).errors;
  for (const amount of [10_000_000_000_001, '99999999999999999999', 1e30])
    t.deepEqual(await change(amount), { amount: ['must be at most 10000000000000'] }, String(amount));
  for (const amount of [0, -1, '0.00'])
    t.deepEqual(await change(amount), { amount: ['must be at least 0.01'] }, String(amount));
  const money = ['must be an amount with at most two decimals'];
  t.deepEqual(await change('1.005'), { amount: money });
  // A double would be 0.
  for (const price of ['1e-400', `0.${'0'.repeat(330)}1`]) {
    const order = `{"user_id":${id},"details":[{"product_name":"x","price":${price},"quantity":1}]}`;
    t.deepEqual((await english.post('/orders', order)).errors, { 'details.0.price': money });
  }
});

test('bodies that are not JSON objects are malformed', async (t) => {
  const malformed = [400, 30001];
  const sent = async (body: string, headers: Record<string, string> = {}) => {
    const { status, code } = await admin.request('POST', '/roles', { body, headers });
    return [status, code];
  };
  for (const body of [
    '{',
    '{"name":}',
    '[]',
    '"text"',
    '1',
    'null',
    '\u0000',
    '{"a":1}{"b":2}',
    '[{"name":"x"}]',
    '',
  ]) {
    t.deepEqual(await sent(body), malformed, body);
  }
  const good = JSON.stringify({ name: 'x', slug: unique('b-') });
  t.deepEqual(await sent(good, { 'Content-Type': 'application/json; charset=utf-16' }), malformed);
  const packed = [415, 415];
  for (const coding of ['gzip', 'br', 'deflate', 'compress', 'gzip, identity'])
    t.deepEqual(await sent(good, { 'Content-Encoding': coding }), packed, coding);
  t.is((await sent(good, { 'Content-Encoding': 'identity' }))[0], 200);
});

test('the refusal of a malformed body says what is wrong with it', async (t) => {
  const refused = async (body: string | Uint8Array<ArrayBuffer>, charset = 'utf-8') => {
    const texts: string[] = [];
    for (const language of ['zh-CN', 'en-US']) {
      const type = `application/json; charset=${charset}`;
      const headers = { ...admin.headers, 'Content-Type': type, 'Accept-Language': language };
      const url = `${admin.url}/api/admin/departments`;
      const answer = await fetch(url, { method: 'POST', headers, body });
      const { code, message } = (await answer.json()) as { code: number; message: string };
      t.deepEqual([answer.status, code], [400, 30001], String(body));
      texts.push(message);
    }
    return texts;
  };
  const notJson = ['请求体不是有效的 JSON', 'The body is not valid JSON'];
  const notObject = ['请求体必须是 JSON 对象', 'The body must be a JSON object'];
  const notUtf8 = ['请求体必须是 UTF-8 编码', 'The body must be UTF-8'];
  for (const body of ['{"name":"x"', '{"name":"x",}', 'name=x']) t.deepEqual(await refused(body), notJson);
  for (const body of ['"x"', '1', 'null', '[]', '[{"name":"x"}]'])
    t.deepEqual(await refused(body), notObject);
  t.regex((await refused('{"__proto__":1}')).join(), /键 __proto__.*key __proto__/);
  t.deepEqual(await refused('{"name":"x"}', 'utf-16'), notUtf8);
  t.deepEqual(await refused(Buffer.from('{"name":"\u00ff"}', 'latin1')), notUtf8);
  t.is((await admin.post('/departments', { name: `\ufffd é ${unique()}` })).status, 200);
});

test('a body of another media type than JSON is refused with the name of its header', async (t) => {
  const good = JSON.stringify({ name: 'x', slug: unique('b-') });
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'application/vnd.api+json',
    'multipart/form-data; boundary=x',
    '',
  ]) {
    const answer = await admin.request('POST', '/roles', { body: good, headers: { 'Content-Type': type } });
    t.deepEqual(outcome(answer), [415, 415, 'content_type_unsupported'], type);
    t.regex(answer.message, /Content-Type: application\/json/);
  }
  const { headers } = admin;
  const bare = await fetch(`${admin.url}/api/admin/roles`, { method: 'POST', headers });
  t.is(bare.status, 400, 'without a body its fields are missing');
});

test('a body over the limit of its route is refused without closing the connection', async (t) => {
  const big = JSON.stringify({ name: 'x'.repeat(1024 * 1024), slug: 'x' });
  const tooLarge = [413, 413, 'payload_too_large'];
  t.deepEqual(outcome(await admin.request('POST', '/roles', { body: big })), tooLarge);
  const usual = { name: 'x', slug: 'x', padding: 'x'.repeat(64 * 1024) };
  t.deepEqual(outcome(await admin.post('/roles', usual)), tooLarge, 'most records are small');
  const padded = { username: 'admin', password: 'x', padding: 'x'.repeat(4096) };
  t.deepEqual(outcome(await service.anonymous.post('/login', padded)), tooLarge, 'a sign-in needs little');
  const callback = { out_trade_no: 'x'.repeat(70_000), trade_status: 'SUCCESS' };
  t.deepEqual(outcome(await service.anonymous.post('//api/payment/notify/mock', callback)), tooLarge);
  t.is((await admin.get('/heartbeat')).status, 200);
});

test('a text without an end does not hold up the API', async (t) => {
  // Looking for its end from each of its quotes would take seconds.
  const body = `{"user_id":1234567890123456789,"remark":"${'\\"'.repeat(64 * 1024)}`;
  const started = performance.now();
  const refused = await admin.request('POST', '/orders', { body });
  t.deepEqual(outcome(refused), [400, 30001, 'body_not_json']);
  const took = performance.now() - started;
  t.true(took < 2000, `${took} ms`);
});

test('an e-mail address that is too long is not read', async (t) => {
  const email = '\u0315\u0300'.repeat(10_000);
  const { errors } = await admin.with({ 'Accept-Language': 'en-US' }).put('/profile', { email });
  t.deepEqual(errors, { email: ['must be at most 100 characters long'] });
});

test('unknown fields are dropped', async (t) => {
  const slug = unique('p-');
  const unknown = {
    id: 1,
    created_at: '2000-01-01',
    is_builtin: 1,
    toString: 'x',
    hasOwnProperty: 1,
    password_hash: 'x',
  };
  const created = await admin.post('/roles', { name: 'x', slug, ...unknown });
  t.is(created.status, 200);
  const row = await selectRow<{ id: number; name: string; status: number }>(
    'SELECT id, name, status FROM roles WHERE slug = ?',
    [slug],
  );
  t.deepEqual([row.id, row.name, row.status], [created.data.id, 'x', 1]);
  t.not(row.id, 1);
});

test('keys that pollute prototypes are refused', async (t) => {
  const reaching = (keys: string) =>
    admin.request('POST', '/roles', { body: `{"name":"x","slug":"${unique('p-')}",${keys}}` });
  t.is((await reaching('"constructor":{"prototype":{"polluted":1}}')).status, 200);
  for (const keys of ['"__proto__":{"polluted":1}', '"unknown":[{"__proto__":{"polluted":1}}]']) {
    t.deepEqual(outcome(await reaching(keys)), [400, 30001, 'body_key_reserved'], keys);
  }
  t.false('polluted' in {});
  t.is((await admin.get('/roles?__proto__=1&constructor=2&toString=3&unknown[]=4&page=1')).status, 200);
  t.is((await makeOrder(admin, '1.00', { status: 'paid', order_no: 'mine' })).status, 'pending');
});

test('an oversized body is refused before it is parsed', async (t) => {
  const of = <T>(count: number, item: T): T[] => Array.from({ length: count }, () => item);
  const keys = (count: number) => Object.fromEntries(of(count, 0).map((_, index) => [`k${index}`, {}]));
  const refused = async (path: string, body: unknown, field: string, limit: number) => {
    const answer = await admin.with({ 'Accept-Language': 'en-US' }).post(path, body);
    t.deepEqual(
      [answer.status, answer.code, answer.errors],
      [...[422, 30001], { [field]: [`must contain at most ${limit} items`] }],
    );
    t.true(answer.text.length < 500);
  };
  await refused('/orders', { user_id: 1, details: of(5000, {}) }, 'details', 200);
  await refused('/orders', { user_id: 1, details: of(5000, 1) }, 'details', 200);
  await refused('/payment-methods', { type: 'mock', config: keys(31) }, 'config', 30);
  await refused(
    '/notifications',
    { title: 'x', content: 'x', receiver_ids: of(501, 'x') },
    'receiver_ids',
    500,
  );
  await refused('/roles', keys(201), 'body', 200);
  const many = await admin.post('/orders', { user_id: 1, details: of(200, {}) });
  t.is(many.status, 400);
  t.true(many.fields.length <= 50, 'no more problems than anybody reads');
  const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
  const tooDeep = [400, 30001, 'body_too_deep'];
  t.deepEqual(outcome(await admin.post('/roles', `{"name":"x","slug":"x","more":${deep}}`)), tooDeep);
  const deepCallback = `{"out_trade_no":"x","more":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  t.deepEqual(outcome(await service.anonymous.post('//api/payment/notify/mock', deepCallback)), tooDeep);
});

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
