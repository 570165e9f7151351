// The envelope of every answer: language, error codes, trace id and headers; and health checks, which have none.
import '../support/shared-environment.js';
import { connect } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
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
