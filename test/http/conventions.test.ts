// What holds for every endpoint: languages, bodies, and what bad input is answered.
import '../support/environment.js';
import test from 'ava';
import { makeOrder, makeUser, unique } from '../support/factories.js';
import { serviceTest } from '../support/service-test.js';
import type { Answer, Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';

const service = serviceTest({ withWorker: false });
let admin: Client;

test.before(() => {
  admin = service.admin;
});

const outcome = ({ status, code, errorCode }: Answer) => [status, code, errorCode];
const wrongType = [400, 30001, 'validation_failed'];
const wrongFormat = [422, 30004, 'format_invalid'];

test('Accept-Language chooses the language of messages and of what is wrong with a field', async (t) => {
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
    undefined,
    'zh-CN',
    'zh',
    'fr',
    '*',
    'en;q=0.1, zh;q=0.9',
    ';;;,,',
    'x'.repeat(3000),
  ]) {
    t.deepEqual(await said(language), chinese, language);
  }
  for (const language of ['en-US', 'en', 'EN-gb', 'fr, en;q=0.5', 'zh;q=0.1, en;q=0.9'])
    t.deepEqual(await said(language), english, language);
  t.is(JSON.parse((await admin.get('/heartbeat')).text).message, '操作成功');
  t.is(JSON.parse((await admin.get('/heartbeat', { 'Accept-Language': 'en-US' })).text).message, 'success');
});

test('missing or mistyped parts are a 400, unacceptable values a 422, wrong formats a 422 of their own', async (t) => {
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

test('bodies that are no JSON object are malformed', async (t) => {
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
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
  ]) {
    t.deepEqual(await sent(good, { 'Content-Type': type }), malformed, type);
  }
  const packed = [415, 415];
  for (const coding of ['gzip', 'br', 'deflate', 'compress', 'gzip, identity'])
    t.deepEqual(await sent(good, { 'Content-Encoding': coding }), packed, coding);
  t.is((await sent(good, { 'Content-Encoding': 'identity' }))[0], 200);
});

test('a body over the limit of its route is refused, and the connection goes on', async (t) => {
  const big = JSON.stringify({ name: 'x'.repeat(1024 * 1024), slug: 'x' });
  const tooLarge = [413, 413, 'payload_too_large'];
  t.deepEqual(outcome(await admin.request('POST', '/roles', { body: big })), tooLarge);
  const padded = { username: 'admin', password: 'x', padding: 'x'.repeat(4096) };
  t.deepEqual(outcome(await service.anonymous.post('/login', padded)), tooLarge, 'a sign-in needs little');
  const callback = { out_trade_no: 'x'.repeat(70_000), trade_status: 'SUCCESS' };
  t.deepEqual(outcome(await service.anonymous.post('//api/payment/notify/mock', callback)), tooLarge);
  t.is((await admin.get('/heartbeat')).status, 200);
});

test('unknown fields are dropped, and keys that reach for prototypes are refused', async (t) => {
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
  const reaching = (keys: string) =>
    admin.request('POST', '/roles', { body: `{"name":"x","slug":"${unique('p-')}",${keys}}` });
  t.is((await reaching('"constructor":{"prototype":{"polluted":1}}')).status, 200);
  for (const keys of ['"__proto__":{"polluted":1}', '"unknown":[{"__proto__":{"polluted":1}}]']) {
    t.deepEqual(outcome(await reaching(keys)), [400, 30001, 'bad_request'], keys);
  }
  t.false('polluted' in {});
  t.is((await admin.get('/roles?__proto__=1&constructor=2&toString=3&unknown[]=4&page=1')).status, 200);
  t.is((await makeOrder(admin, '1.00', { status: 'paid', order_no: 'mine' })).status, 'pending');
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

test('the trace id is a ULID, also in the header; a well-formed one that is sent is adopted', async (t) => {
  const id = async (sent?: string): Promise<string> => {
    const { text, headers } = await admin.get('/heartbeat', sent === undefined ? {} : { 'X-Trace-Id': sent });
    t.is(headers.get('X-Trace-Id'), JSON.parse(text).trace_id);
    return JSON.parse(text).trace_id;
  };
  t.regex(await id(), /^[0-9A-HJKMNP-TV-Z]{26}$/);
  for (const good of ['12345678', 'a_b-C'.repeat(12), 'x'.repeat(64)]) t.is(await id(good), good);
  for (const bad of ['1234567', 'x'.repeat(65), 'with space', 'semi;colon', '<script>x'])
    t.not(await id(bad), bad);
});

test('every answer forbids storing, sniffing and framing, and names no software', async (t) => {
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
    t.is(headers.get('Content-Type'), 'application/json; charset=utf-8');
    t.is(headers.get('X-Powered-By'), null);
    t.is(headers.get('Server'), null);
    t.is(headers.get('Access-Control-Allow-Origin'), null);
  }
});

test('what is too much is refused before its content is looked at', async (t) => {
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
  t.true(Object.keys(many.errors ?? {}).length <= 50, 'no more problems than anybody reads');
  const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
  t.is((await admin.post('/roles', `{"name":"x","slug":"x","more":${deep}}`)).status, 413);
  const deepCallback = `{"out_trade_no":"x","more":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  t.is((await service.anonymous.post('//api/payment/notify/mock', deepCallback)).status, 413);
});
