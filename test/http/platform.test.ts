// The edges of the service: health, documentation, cross-origin pages, configured time fields, and a production start.
import '../support/environment.js';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { config } from '../../config/index.js';
import { routes } from '../../src/api/declare/routes.js';
import { fullPath } from '../../src/api/declare/route.js';
import { db } from '../../src/lib/db.js';
import { makeAdmin } from '../support/factories.js';
import { killProcesses, startApi, type TestProcess } from '../support/processes.js';
import { withoutRedis } from '../support/redis.js';
import { startService, type Service } from '../support/service.js';
import { Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';

const productionDatabase = `${process.env.DB_NAME}_production`;

let service: Service;
let configured: Client;
let alone: Client;
let production: TestProcess;

test.before(async () => {
  service = await startService({ withWorker: false });
  const [one, two, three] = await Promise.all([
    startApi({
      APP_RESPONSE_TIME_FIELDS: 'last_login_at, paid_at',
      CORS_ORIGINS: 'https://a.example, https://b.example:8443',
    }),
    startApi(withoutRedis),
    startApi({
      NODE_ENV: 'production',
      DB_NAME: productionDatabase,
      REDIS_PREFIX: `${process.env.REDIS_PREFIX}-production`,
    }),
  ]);
  [configured, alone, production] = [service.admin.at(one.url), service.admin.at(two.url), three];
});

test.after.always(async () => {
  await killProcesses();
  await db.query(`DROP DATABASE IF EXISTS \`${productionDatabase}\``);
  await service.stop();
});

test('health and readiness answer anybody; without Redis a process is ready all the same, unless asked strictly', async (t) => {
  const { version, commit } = config;
  t.deepEqual((await service.anonymous.get('//healthz')).data, { status: 'ok', version, commit });
  const ready = { status: 'ok', database: 'ok', redis: 'ok' };
  t.deepEqual((await service.anonymous.get('//readyz?strict=1')).data, ready);
  t.is((await alone.get('//healthz')).status, 200);
  t.deepEqual((await alone.get('//readyz')).data, { ...ready, redis: 'away' });
  const unready = await alone.get('//readyz?strict=1');
  t.deepEqual([unready.status, unready.code, unready.errorCode], [503, 50003, 'cache_unavailable']);
});

/** Writes a text over a connection of its own. @returns what came back until it was closed, and how many requests were begun */
async function overOneConnection(text: string): Promise<{ answer: string; begun: number }> {
  const port = Number(new URL(service.url).port);
  // From an address of its own: it may be turned away.
  const socket = connect({ host: '127.0.0.1', port, localAddress: '127.3.5.1' });
  await once(socket, 'connect');
  const { localPort } = socket;
  let begun = 0;
  const note = (message: unknown): void => {
    if ((message as { socket: Socket }).socket.remotePort === localPort) begun++;
  };
  subscribe('http.server.request.start', note);
  let answer = '';
  socket.on('data', (data: Buffer) => (answer += data.toString()));
  socket.on('error', () => undefined);
  socket.end(text);
  await once(socket, 'close');
  unsubscribe('http.server.request.start', note);
  return { answer, begun };
}

test('requests that come together are answered in turn; of thousands no more than a few are even read', async (t) => {
  const request = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n';
  const few = await overOneConnection(request.repeat(10));
  t.is(few.answer.match(/"status":"ok"/g)?.length, 10);
  const { begun } = await overOneConnection(request.repeat(1500));
  t.true(begun < 50, `${begun} were begun`);
});

test('APP_RESPONSE_TIME_FIELDS adds fields to those that are converted', async (t) => {
  const { username, password } = await makeAdmin(service.admin);
  await service.anonymous.signIn(username, password);
  const shown = async (client: Client) =>
    (await client.get(`/admins?username=${username}&timezone=Asia/Tokyo`)).data.list[0];
  t.regex((await shown(service.admin)).last_login_at, /Z$/);
  const { last_login_at, created_at } = await shown(configured);
  for (const time of [last_login_at, created_at]) t.regex(time, /\+09:00$/);
  t.regex((await configured.get(`/admins?username=${username}`)).data.list[0].last_login_at, /Z$/);
});

test('pages of the configured origins may call, of others not', async (t) => {
  const preflight = (Origin: string) =>
    fetch(`${configured.url}/api/admin/login`, {
      method: 'OPTIONS',
      headers: {
        Origin,
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    });
  for (const origin of ['https://a.example', 'https://b.example:8443']) {
    const { status, headers } = await preflight(origin);
    t.is(status, 204);
    t.is(headers.get('Access-Control-Allow-Origin'), origin);
    t.regex(headers.get('Access-Control-Allow-Methods') ?? '', /POST/);
    t.regex(headers.get('Access-Control-Allow-Headers') ?? '', /Authorization/i);
    const refused = await configured.with({ Authorization: '' }).post('/login', {}, { Origin: origin });
    t.deepEqual(
      [refused.status, refused.headers.get('Access-Control-Allow-Origin')],
      [400, origin],
      'failures too',
    );
    t.regex(refused.headers.get('Vary') ?? '', /Origin/);
  }
  const foreign = ['https://a.example.evil', 'https://b.example', 'http://a.example', 'null'];
  for (const origin of foreign) {
    t.is((await preflight(origin)).headers.get('Access-Control-Allow-Origin'), null, origin);
    t.is(
      (await configured.get('/heartbeat', { Origin: origin })).headers.get('Access-Control-Allow-Origin'),
      null,
      origin,
    );
  }
  t.is(
    (await service.admin.get('/heartbeat', { Origin: 'https://a.example' })).headers.get(
      'Access-Control-Allow-Origin',
    ),
    null,
  );
});

test('the documentation page and its parts come from here and name no other host', async (t) => {
  const loaded = async (path: string) => {
    const response = await fetch(service.url + path);
    t.is(response.status, 200, path);
    return { text: await response.text(), headers: response.headers };
  };
  const page = await loaded('/docs');
  t.regex(page.headers.get('Content-Type') ?? '', /^text\/html/);
  t.notRegex(page.headers.get('Content-Security-Policy') ?? '', /https?:|\*/);
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string);
  t.true(parts.length >= 3 && parts.every((path) => path.startsWith('/docs/')), parts.join());
  for (const part of parts) t.true((await loaded(part)).text.length > 100, part);
  for (const { text } of [page, await loaded('/docs/page.js')]) t.notRegex(text, /https?:\/\//);
  t.notRegex((await loaded('/docs/swagger-ui.css')).text, /url\(["']?https?:|@import/);
});

interface Operation {
  operationId: string;
  summary: string;
  parameters: { name?: string; in?: string; required?: boolean }[];
  responses: object;
  security: object[];
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: object };
}

// Alone: to compile every schema keeps this thread, and the service in it, busy for seconds.
test.serial('the served document is OpenAPI 3.1 and covers every route once', async (t) => {
  const response = await fetch(`${service.url}/openapi.json`);
  t.regex(response.headers.get('Content-Type') ?? '', /^application\/json/);
  const document = (await response.json()) as Document;
  t.regex(document.openapi, /^3\.1\.\d+$/);
  t.true(Boolean(document.info.title && document.info.version));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const named = routes.map((route) => `${route.method.toLowerCase()} ${fullPath(route)}`).sort();
  t.deepEqual(operations.map(({ path, method }) => `${method} ${path}`).sort(), named);
  t.is(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
  for (const { path, operation } of operations) {
    const placeholders = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    const described = operation.parameters.filter((parameter) => parameter.in === 'path');
    t.deepEqual(
      described.map(({ name }) => name),
      placeholders,
      path,
    );
    t.true(
      described.every(({ required }) => required),
      path,
    );
    for (const status of ['200', '400', '500', '503'])
      t.true(status in operation.responses, `${path} ${status}`);
    t.true(operation.summary.length > 0, path);
    for (const scheme of operation.security.flatMap(Object.keys))
      t.true(scheme in document.components.securitySchemes);
  }
  const ajv = addFormats.default(new Ajv.default({ strict: false }));
  ajv.addFormat('decimal', true).addSchema(document, 'document');
  const schemas = [...schemaPlaces(document)];
  t.true(schemas.length > 2 * operations.length);
  for (const pointer of schemas) t.notThrows(() => ajv.compile({ $ref: `document#${pointer}` }), pointer);
});

test('a request with two hosts, or in a version without headers, is refused', async (t) => {
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

test('production prints a generated first password once, asks for strong passwords, and knows no admin123', async (t) => {
  const printed = / "admin" with the password (\S+)/.exec(production.output())?.[1] ?? '';
  t.true(printed.length >= 16);
  const anonymous = new Client(production.url);
  t.is((await anonymous.post('/login', { username: 'admin', password: 'admin123' })).code, 10001);
  const admin = await anonymous.signIn('admin', printed);
  t.is((await admin.get('/admins')).errorCode, 'password_change_required');
  const own = {
    old_password: printed,
    password: 'gentle-Harbour-7',
    password_confirmation: 'gentle-Harbour-7',
  };
  t.is((await admin.put('/password', own)).status, 200);
  const made = (password: string) => admin.post('/admins', { username: 'someone', password, nickname: 'x' });
  for (const weak of ['abc1234', 'abcdefgh', '12345678'])
    t.deepEqual(Object.keys((await made(weak)).errors ?? {}), ['password'], weak);
  t.is((await made('密码abc123')).status, 200);
  const { password_hash } = await selectRow<{ password_hash: string }>(
    `SELECT password_hash FROM \`${productionDatabase}\`.admins WHERE id = 1`,
  );
  t.regex(password_hash, /^\$2b\$/);
  const again = await startApi({ NODE_ENV: 'production', DB_NAME: productionDatabase });
  t.notRegex(again.output(), /with the password/);
});

/** Where the document holds schemas of parameters, bodies and answers. */
function* schemaPlaces(node: unknown, pointer = ''): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  for (const [name, part] of Object.entries(node)) {
    const place = `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
    if (name === 'schema') yield place;
    else yield* schemaPlaces(part, place);
  }
}
