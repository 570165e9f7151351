// No input makes a 5xx, an answer off the envelope, or ends the process: requests generated from every route's schemas.
import '../support/environment.js';
import fc from 'fast-check';
import pLimit from 'p-limit';
import type Joi from 'joi';
import test from 'ava';
import { fullPath, type Route } from '../../src/api/declare/route.js';
import { routes } from '../../src/api/routes.js';
import { onLogLine } from '../../src/lib/watch/logger.js';
import { makeAdmin, makeMethod, makePayment, makeRole, makeUser, unique } from '../support/factories.js';
import { malformed } from '../fuzz/send.js';
import { sendText } from '../support/raw-request.js';
import { serviceTest } from '../support/service-test.js';
import type { Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';

const runsPerRoute = 10;
const someAtOnce = pLimit(6);

const service = serviceTest();
let caller: Client;
/** Keys of records that may be harmed. Every table has these numbers, and the caller is none of them. */
const victims = ['3', '4', '5'];

test.before(async () => {
  const { admin } = service;
  const role = await selectRow<{ id: number }>("SELECT id FROM roles WHERE slug = 'super-admin'");
  const own = await makeAdmin(admin, [role.id]);
  caller = await service.anonymous.signIn(own.username, own.password);
  for (let made = 0; made < 5; made++) {
    await Promise.all([makeAdmin(admin), makeRole(admin), makeUser(admin)]);
    const payment = await makePayment(admin, (await makeMethod(admin)).id);
    victims.push(payment.payment_no, payment.order_no);
  }
});

interface Described {
  type: string;
  keys?: Record<string, Described>;
  items?: Described[];
  allow?: unknown[];
  flags?: { only?: boolean; presence?: string };
  rules?: { name: string; args?: { limit?: number } }[];
}

const texts = () =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.integer({ min: 0, max: 3 }).map((power) => 'x'.repeat(17 ** power * 4)),
    fc.constantFrom(
      '',
      ' ',
      '\0',
      '\ud800',
      '😀'.repeat(60),
      "' OR 1=1 -- ",
      '%_\\',
      '../../etc/passwd',
      '${7*7}',
      '\r\nX: y',
      'null',
    ),
    fc.constantFrom(
      '0',
      '-1',
      '1e309',
      'NaN',
      '0x10',
      '99999999999999999999',
      '1.005',
      '10000000000000.01',
      'true',
    ),
    fc.constantFrom(
      '2026-11-21',
      '0000-00-00',
      '9999-12-31T23:59:59-23:59',
      '2026-02-30',
      '275760-09-13',
      '-271821-04-20',
    ),
    fc.constantFrom(
      'id:asc',
      'id:asc,id:desc',
      'name:',
      'a@example.com',
      '::1',
      '10.0.0.0/8',
      '1.1.1.1-2.2.2.2',
      'a'.repeat(64),
    ),
  );

const numbers = () =>
  fc.oneof(
    fc.integer(),
    fc.double(),
    fc.constantFrom(
      0,
      -0,
      1,
      2,
      -1,
      0.1,
      0.001,
      1e13,
      1e15,
      1e21,
      2 ** 31,
      2 ** 53,
      2 ** 63,
      2 ** 64,
      1e308,
      999_999_999,
    ),
  );

const deep = () =>
  fc
    .integer({ min: 1, max: 3000 })
    .map((levels) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown);

const junk = (): fc.Arbitrary<unknown> =>
  fc.oneof(
    texts(),
    numbers(),
    fc.boolean(),
    fc.constant(null),
    fc.jsonValue({ maxDepth: 4 }),
    deep(),
    fc.array(numbers(), { maxLength: 40 }),
  );

/** Values that a schema may accept. */
function likely(schema: Described): fc.Arbitrary<unknown> {
  const allowed = (schema.allow ?? []).filter((value) => typeof value !== 'object' || value === null);
  if (schema.flags?.only && allowed.length > 0) return fc.constantFrom(...allowed);
  if (schema.type === 'object') return objectOf(schema.keys ?? {}, 0.9);
  if (schema.type === 'array')
    return fc.array(schema.items?.[0] ? likely(schema.items[0]) : junk(), { maxLength: 5 });
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'number') return fc.oneof(fc.nat(3), numbers());
  if (schema.type === 'alternatives') return fc.oneof(numbers(), fc.constantFrom('1.00', '0.01', '12.3'));
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(0).map(() => unique('h-')) },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ...['secret-1', 'mock', 'GET', '/a/*', 'a@example.com', '10.0.0.1'],
        ...victims,
      ),
    },
    { weight: 2, arbitrary: texts() },
  );
}

/** Objects of these keys, each with that chance likely, else junk; some missing, some that nobody knows. */
function objectOf(keys: Record<string, Described>, chance: number): fc.Arbitrary<Record<string, unknown>> {
  const weight = Math.round(chance * 100);
  const known = Object.fromEntries(
    Object.entries(keys).map(([name, schema]) => [
      name,
      fc.oneof({ weight, arbitrary: likely(schema) }, { weight: 100 - weight, arbitrary: junk() }),
    ]),
  );
  const unknown = fc.dictionary(
    fc.constantFrom('id', 'constructor', 'toString', '$ne', 'a[b]', 'status', 'x'),
    junk(),
    { maxKeys: 2 },
  );
  const isNeeded = ([, schema]: [string, Described]): boolean => schema.flags?.presence === 'required';
  const requiredKeys =
    chance > 0.5
      ? Object.entries(keys)
          .filter(isNeeded)
          .map(([name]) => name)
      : [];
  return fc
    .tuple(fc.record(known, { requiredKeys }), unknown)
    .map(([fields, more]) => ({ ...more, ...fields }));
}

const describe = (schema: Joi.ObjectSchema | undefined): Record<string, Described> =>
  (schema?.describe() as Described | undefined)?.keys ?? {};

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');

// A lone surrogate cannot be written in an address at all, and Node refuses addresses over 16 KiB by itself.
const encoded = (text: string): string =>
  encodeURIComponent(Buffer.from(text.slice(0, 300)).toString()).slice(0, 1500);

/** A name in a path; never empty and never one that a client would resolve by itself. */
const segment = (): fc.Arbitrary<string> =>
  fc
    .oneof(
      fc.constantFrom(...victims),
      fc.constantFrom('0', '-1', '999999999', '9'.repeat(30), '1e3', 'mock', 'wechat', '__proto__'),
      texts(),
    )
    .filter((text) => text !== '' && !/^\.{1,2}$/.test(text));

function query(keys: Record<string, Described>): fc.Arbitrary<string> {
  const shape = fc.oneof(objectOf(keys, 0.8), objectOf(keys, 0.2));
  return fc
    .tuple(
      shape,
      fc.constantFrom('', '&page=1&page=2', '&timezone=Asia/Shanghai', '&timezone=x', '&%', '&=', '&a[]=1'),
    )
    .map(
      ([fields, more]) =>
        `?${Object.entries(fields)
          .map(([name, value]) => `${encoded(name)}=${encoded(asText(value))}`)
          .join('&')}${more}`,
    );
}

function request(route: Route): fc.Arbitrary<{ path: string; body: unknown }> {
  const names = [...fullPath(route).matchAll(/\{(\w+)\}/g)].map((match) => match[1] as string);
  const parts = fc.record(Object.fromEntries(names.map((name) => [name, segment()])));
  const path = fc.tuple(parts, query(describe(route.query))).map(([values, search]) => {
    const filled = route.path.replace(/\{(\w+)\}/g, (_, name: string) => encoded(values[name] as string));
    return (route.host ? '/' : '') + filled + search;
  });
  if (route.method === 'GET') return fc.record({ path, body: fc.constant(undefined) });
  const keys = describe(route.body);
  const body = fc.oneof(
    { weight: 5, arbitrary: objectOf(keys, 0.95) },
    { weight: 3, arbitrary: objectOf(keys, 0.3) },
    { weight: 1, arbitrary: junk() },
  );
  return fc.record({ path, body });
}

const headers = (): fc.Arbitrary<Record<string, string>> =>
  fc.record(
    {
      'Accept-Language': fc.constantFrom('en', 'xx;q=9', ',,,;', 'x'.repeat(500)),
      'X-Timezone': fc.constantFrom('Asia/Tokyo', 'nowhere', '__proto__'),
      'Idempotency-Key': fc.constantFrom('key', 'k'.repeat(200), 'ä'),
      'User-Agent': fc.constantFrom('', 'x'.repeat(900), '() { :; }; echo'),
      'X-Forwarded-For': fc.constantFrom('1.1.1.1', 'x', ','.repeat(100)),
    },
    { requiredKeys: [] },
  );

// What a schema may let through and a statement may stumble over.
const oddTexts = ['茶', '😀', '\ud800', '\0', "'", '\\', 'x'.repeat(64)];
const oddNumbers = [0, -1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 1e15];
const oddOthers = ['0.00', '9999999999999.99', '-1.00', '9999-12-31', '0001-01-01', '茶'];

/** A value that the schema accepts, if a simple one does. */
function plain(name: string, schema: Described): unknown {
  const fitting: Record<string, unknown> = {
    ...{ order_no: victims.at(-1), payment_method_id: 1, user_id: 3, parent_id: 0, receiver_id: 3 },
    ...{ ip: '10.9.8.7', email: 'a@example.com', path: '/a', method: 'GET', total_size: 10 },
    ...{ password: 'secret-1', old_password: 'admin123', password_confirmation: 'secret-1' },
  };
  if (name in fitting) return fitting[name];
  const [only] = schema.flags?.only ? (schema.allow ?? []) : [];
  if (only !== undefined) return only;
  if (schema.type === 'object') return needed(schema.keys ?? {});
  if (schema.type === 'array') return schema.items?.[0] ? [plain('', schema.items[0])] : [];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'number') return 1;
  return schema.type === 'alternatives' ? '1.00' : unique('p.');
}

const needed = (keys: Record<string, Described>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(keys)
      .filter(([, schema]) => schema.flags?.presence === 'required')
      .map(([name, schema]) => [name, plain(name, schema)]),
  );

/** Values with one odd thing and the rest as it should be. */
function oddValues(schema: Described): unknown[] {
  if (schema.flags?.only || schema.type === 'boolean') return [];
  if (schema.type === 'string') return [...oddTexts, '茶'.repeat(maxOf(schema))];
  if (schema.type === 'number') return oddNumbers;
  const [item] = schema.items ?? [];
  if (schema.type === 'array') return item ? oddValues(item).map((value) => [value]) : [];
  if (schema.type !== 'object') return oddOthers;
  const { keys = {} } = schema;
  return Object.entries(keys).flatMap(([name, member]) =>
    oddValues(member).map((value) => ({ ...needed(keys), [name]: value })),
  );
}

/** The longest text that the schema lets through, which its column must hold. */
const maxOf = ({ rules = [] }: Described): number =>
  rules.find(({ name }) => name === 'max' || name === 'length')?.args?.limit ?? 5000;

/** Requests with one odd thing: in the path, the query or the body. */
function oddRequests(route: Route): { path: string; body: unknown }[] {
  const at = (name: (parameter: string) => string): string =>
    (route.host ? '/' : '') + route.path.replace(/\{(\w+)\}/g, (_, parameter: string) => name(parameter));
  const path = at((parameter) => (parameter === 'type' ? 'mock' : '3'));
  const keys = describe(route.body);
  const body = route.method === 'GET' ? undefined : needed(keys);
  const names = route.path.includes('{') ? [...oddTexts, ...oddNumbers].map(asText) : [];
  return [
    // A client would resolve what is empty, and Node.js refuses a zero byte by itself.
    ...names.filter((name) => name !== '\0').map((name) => ({ path: at(() => encoded(name)), body })),
    ...Object.entries(describe(route.query)).flatMap(([name, schema]) =>
      oddValues(schema).map((value) => ({ path: `${path}?${name}=${encoded(asText(value))}`, body })),
    ),
    ...(body ? oddValues({ type: 'object', keys }).map((odd) => ({ path, body: odd })) : []),
  ];
}

// The caller stays signed in; opening a stream is another test's matter.
const spared = new Set(['POST /logout']);
const seen = new Map<string, number>();
const tried = routes.filter(({ method, path, reply }) => !reply && !spared.has(`${method} ${path}`));

for (const route of tried) {
  test.serial(`${route.method} ${route.path} answers any input in the envelope and below 500`, async (t) => {
    const send = async (path: string, body: unknown, more: Record<string, string> = {}): Promise<void> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const { status, text } = await caller.request(route.method, path, { ...sent, headers: more });
      seen.set(`${route.method} ${status}`, (seen.get(`${route.method} ${status}`) ?? 0) + 1);
      if (status >= 500 && status !== 501) throw new Error(`${path} ${sent.body ?? ''}: ${text}`);
      if (status === 401 && route.access !== 'public') throw new Error(`the caller was signed out: ${text}`);
    };
    await Promise.all(oddRequests(route).map(({ path, body }) => someAtOnce(send, path, body)));
    await fc.assert(
      fc.asyncProperty(request(route), headers(), ({ path, body }, more) => send(path, body, more)),
      { numRuns: runsPerRoute, includeErrorInReport: true },
    );
    t.is((await caller.get('/heartbeat')).status, 200);
  });
}

test.serial('the generated requests reach the handlers', (t) => {
  for (const outcome of [
    'GET 200',
    'GET 400',
    'GET 422',
    'POST 200',
    'POST 422',
    'PUT 200',
    'PUT 404',
    'DELETE 200',
  ]) {
    t.true((seen.get(outcome) ?? 0) > 0, `${outcome}: ${seen.get(outcome)}`);
  }
});

test.serial('a request without a path is refused and its connection closed', async (t) => {
  const errors: string[] = [];
  onLogLine(({ level, message }) => level !== 'warn' && errors.push(message));
  const lines = malformed.filter((text) => /^(CONNECT|\w+ \w+:\/\/)/.test(text));
  t.is(lines.length, 6);
  for (const text of lines) {
    const [head = '', body = ''] = (await sendText(service.url, text)).split('\r\n\r\n');
    t.regex(head, /^HTTP\/1\.1 400 .*\r\n[^]*^X-Trace-Id: /m, text);
    if (!text.startsWith('HEAD')) t.like(JSON.parse(body), { code: 30001, error_code: 'bad_request' }, text);
  }
  const [everything] = malformed.filter((text) => text.startsWith('OPTIONS *'));
  t.regex(await sendText(service.url, everything as string), /^HTTP\/1\.1 404 /);
  t.deepEqual(errors, []);
});
