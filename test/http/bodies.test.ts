// Request bodies: their format, types, size and unknown fields.
import '../support/shared-environment.js';
import test from 'ava';
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
  t.true(Object.keys(many.errors ?? {}).length <= 50, 'no more problems than anybody reads');
  const deep = `${'{"a":'.repeat(40)}1${'}'.repeat(40)}`;
  const tooDeep = [400, 30001, 'body_too_deep'];
  t.deepEqual(outcome(await admin.post('/roles', `{"name":"x","slug":"x","more":${deep}}`)), tooDeep);
  const deepCallback = `{"out_trade_no":"x","more":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  t.deepEqual(outcome(await service.anonymous.post('//api/payment/notify/mock', deepCallback)), tooDeep);
});
