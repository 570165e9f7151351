// No odd value makes a 5xx or an answer off the envelope: each one in every parameter and field of every route, with the
// rest as it should be. test/fuzz makes requests that are odd all over.
import '../support/settings/environment.js';
import pLimit from 'p-limit';
import Joi from 'joi';
import test from 'ava';
import type { Route } from '../../src/api/declare/route.js';
import { routes } from '../../src/api/routes.js';
import type { AppError } from '../../src/lib/errors/app-error.js';
import { coercer, validate } from '../../src/lib/input/validation.js';
import { onLogLine } from '../../src/lib/watch/logger.js';
import { makeAdmin, makePayment, makeRole, makeUser, unique } from '../support/factories.js';
import { malformed } from '../fuzz/send.js';
import { sendText } from '../support/raw-request.js';
import { serviceTest } from '../support/service-test.js';
import type { Client } from '../support/client.js';
import { selectRow } from '../support/rows.js';

const someAtOnce = pLimit(6);

const service = serviceTest();
let caller: Client;
let orderNo: string;

test.before(async () => {
  const { admin } = service;
  const role = await selectRow<{ id: number }>("SELECT id FROM roles WHERE slug = 'super-admin'");
  caller = await service.anonymous.signIn(await makeAdmin(admin, [role.id]));
  for (let made = 0; made < 5; made++) {
    await Promise.all([makeAdmin(admin), makeRole(admin), makeUser(admin)]);
    orderNo = (await makePayment(admin)).order_no;
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

const describe = (schema: Joi.ObjectSchema | undefined): Record<string, Described> =>
  (schema?.describe() as Described | undefined)?.keys ?? {};

const asText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');

// A lone surrogate cannot be written in an address at all, and Node refuses addresses over 16 KiB by itself.
const inAddress = (value: unknown): string => Buffer.from(asText(value).slice(0, 300)).toString();
const encoded = (value: unknown): string => encodeURIComponent(inAddress(value)).slice(0, 1500);

// What a schema may let through and a statement may stumble over.
const oddTexts = ['茶', '😀', '\ud800', '\0', "'", '\\', 'x'.repeat(64)];
const oddNumbers = [0, -1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 1e15];
const oddOthers = ['0.00', '9999999999999.99', '-1.00', '9999-12-31', '0001-01-01', '茶'];

/** A value that the schema accepts, if a simple one does. */
function plain(name: string, schema: Described): unknown {
  const fitting: Record<string, unknown> = {
    ...{ order_no: orderNo, payment_method_id: 1, user_id: 3, parent_id: 0, receiver_id: 3 },
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

type Part = Record<string, unknown>;

/** Whether a part of a request comes through its schema, or is the first that is refused in those words. */
function newsFor(schema: Joi.ObjectSchema = Joi.object()): (part: Part) => boolean {
  const refusals = new Set<string>();
  return (part) => {
    try {
      validate(schema, part);
      return true;
    } catch (error) {
      return refusals.size < refusals.add(JSON.stringify((error as AppError).details)).size;
    }
  };
}

/** The same for parts that are texts in an address. */
function newsInAddress(schema: Joi.ObjectSchema = Joi.object()): (part: Part) => boolean {
  const [isNews, coerce] = [newsFor(schema), coercer(schema)];
  return (part) =>
    isNews(coerce(Object.fromEntries(Object.entries(part).map(([name, value]) => [name, inAddress(value)]))));
}

/** Requests with one odd thing: in the path, the query or the body. Refusals are all made alike, so one of a kind will do. */
function oddRequests(route: Route): { path: string; body: unknown }[] {
  const at = (name: (parameter: string) => string): string =>
    (route.host ? '/' : '') + route.path.replace(/\{(\w+)\}/g, (_, parameter: string) => name(parameter));
  const path = at((parameter) => (parameter === 'type' ? 'mock' : '3'));
  const keys = describe(route.body);
  const body = route.method === 'GET' ? undefined : needed(keys);
  const parameters = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  // A client would resolve what is empty, and Node.js refuses a zero byte by itself.
  const names = [...oddTexts, ...oddNumbers].filter((name) => parameters.length > 0 && name !== '\0');
  const isNewName = newsInAddress(route.params);
  const isNewQuery = newsInAddress(route.query);
  return [
    ...names
      .filter((name) => isNewName(Object.fromEntries(parameters.map((parameter) => [parameter, name]))))
      .map((name) => ({ path: at(() => encoded(name)), body })),
    ...Object.entries(describe(route.query)).flatMap(([name, schema]) =>
      oddValues(schema)
        .filter((value) => isNewQuery({ [name]: value }))
        .map((value) => ({ path: `${path}?${name}=${encoded(value)}`, body })),
    ),
    ...(body ? (oddValues({ type: 'object', keys }) as Part[]) : [])
      .filter(newsFor(route.body))
      .map((odd) => ({ path, body: odd })),
  ];
}

// The caller stays signed in; opening a stream is another test's matter.
const spared = new Set(['POST /logout']);
const seen = new Map<string, number>();
const tried = routes.filter(({ method, path, reply }) => !reply && !spared.has(`${method} ${path}`));

for (const route of tried) {
  test.serial(`${route.method} ${route.path} answers any value in the envelope and below 500`, async (t) => {
    const send = async (path: string, body: unknown): Promise<void> => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const { status, text } = await caller.request(route.method, path, sent);
      seen.set(`${route.method} ${status}`, (seen.get(`${route.method} ${status}`) ?? 0) + 1);
      if (status >= 500 && status !== 501) throw new Error(`${path} ${sent.body ?? ''}: ${text}`);
      if (status === 401 && route.access !== 'public') throw new Error(`the caller was signed out: ${text}`);
    };
    await Promise.all(oddRequests(route).map(({ path, body }) => someAtOnce(send, path, body)));
    t.is((await caller.get('/heartbeat')).status, 200);
  });
}

test.serial('the requests reach the handlers', (t) => {
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
