// The OpenAPI document, the page that shows it, the typed client and the samples for developers, and that PUT accepts what GET
// answers and changes nothing, for every resource with both.
import '../support/settings/shared-environment.js';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { routes } from '../../src/api/routes.js';
import { fullPath, permissionOf } from '../../src/api/declare/route.js';
import { config } from '../../config/index.js';
import { callbackSamples } from '../../src/api/declare/callback-samples.js';
import { select, change } from '../../src/lib/database/db.js';
import { openStream } from '../support/events.js';
import {
  unique,
  makeMethod,
  makePayment,
  callBack,
  makeAdmin,
  makeOrder,
  makeRole,
  makeUser,
  permissionId,
  signedInWith,
} from '../support/factories.js';
import { service } from '../support/shared-service.js';
import { png } from '../support/files.js';
import { alipayConfig, wechatConfig } from '../support/companies/merchant.js';
import { paidPayment } from '../support/refunds.js';

const { admin } = service;
/** Sees no rows that other tests make. */
const own = await signedInWith(admin, []);

test('the documentation page loads from this host only', async (t) => {
  const loaded = async (path: string) => {
    const response = await fetch(service.url + path);
    t.is(response.status, 200, path);
    return { text: await response.text(), headers: response.headers };
  };
  const page = await loaded('/docs');
  t.regex(page.headers.get('Content-Type') ?? '', /^text\/html/);
  const policy = page.headers.get('Content-Security-Policy') ?? '';
  t.notRegex(policy, /https?:|\*|unsafe/);
  t.regex(policy, /^default-src 'none'; base-uri 'none'; .*frame-ancestors 'none'$/);
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] as string);
  t.true(parts.length >= 3 && parts.every((path) => path.startsWith('/docs/')), parts.join());
  for (const part of parts) t.true((await loaded(part)).text.length > 100, part);
  for (const { text } of [page, await loaded('/docs/page.js')]) t.notRegex(text, /https?:\/\//);
  t.notRegex((await loaded('/docs/swagger-ui.css')).text, /url\(["']?https?:|@import/);
});

test('the example of an event stream is what a stream begins with', async (t) => {
  const document = await (await fetch(`${service.url}/openapi.json`)).text();
  const [, shown] = /"example":("data: .*?\\n\\n")/.exec(document) ?? [];
  const stream = await openStream(service.admin, '/monitor/system-info/stream');
  const { timestamp } = await stream.event('connected');
  stream.close();
  const example = JSON.parse(/^data: (.*)\n\n$/.exec(JSON.parse(shown ?? '""'))?.[1] ?? '{}');
  t.deepEqual({ ...example, timestamp }, stream.events[0]);
});

interface Operation {
  operationId: string;
  summary: string;
  parameters: { name?: string; in?: string; required?: boolean }[];
  requestBody?: { content: Record<string, { example: object }> };
  responses: Record<string, { content?: object }>;
  security: object[];
}

interface Document {
  openapi: string;
  info: { title: string; version: string };
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes: object };
}

// Alone: to compile every schema keeps this thread, and the service in it, busy for seconds.
test.serial('the OpenAPI document covers every route once', async (t) => {
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
  // Compiled, not run: quicker code would be of no use.
  const options = { strict: false, inlineRefs: false, code: { optimize: false } };
  const ajv = addFormats.default(new Ajv.default(options));
  ajv.addFormat('decimal', true).addSchema(document, 'document');
  const schemas = [...schemaPlaces(document)];
  t.true(schemas.length > 2 * operations.length);
  for (const pointer of schemas) t.notThrows(() => ajv.compile({ $ref: `document#${pointer}` }), pointer);
});

test('the document declares what a download answers: the file, a part of it, and that it is the same', async (t) => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  const declared = document.paths['/api/admin/attachments/{id}/download']?.get?.responses ?? {};
  const { id } = (await service.admin.upload('/attachments/upload', 'a receipt')).data as { id: number };
  const download = (headers = {}) => service.admin.download(`/attachments/${id}/download`, headers);
  const whole = await download();
  const same = { 'If-None-Match': whole.headers.get('ETag') ?? '', 'Cache-Control': 'max-age=0' };
  for (const [{ status }, wanted] of [
    [whole, 200],
    [await download({ Range: 'bytes=2-' }), 206],
    [await download(same), 304],
  ] as const) {
    t.is(status, wanted);
    t.truthy(declared[status], `${status} is not declared`);
    if (status !== 304)
      t.deepEqual(Object.keys(declared[status]?.content ?? {}), ['*/*'], 'a file has a type of its own');
  }
});

test('the examples of a user and of a payment method make ones that can be used', async (t) => {
  const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  const made = (path: string, own: object) => {
    const { example } = paths[`/api/admin${path}`]?.post?.requestBody?.content['application/json'] ?? {};
    return service.admin.post(path, { ...example, ...own });
  };
  t.is((await made('/users', { username: unique('u-') })).data.status, 1);
  t.true((await made('/payment-methods', { code: unique('m-') })).data.is_active);
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

const run = promisify(execFile);
const source = resolve(config.root, 'clients/typescript');

const document = resolve(config.root, 'build/openapi.json');
let folder: string;

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-'));
  await run('cp', ['-r', join(source, 'src'), join(source, 'examples'), folder]);
  await run('node', [join(source, 'generate.mjs'), document, join(folder, 'src/schema.ts')]);
});

test.after.always(() => rm(folder, { recursive: true }));

test.serial('the typed client compiles under the strictest options', async (t) => {
  t.timeout(180_000);
  await symlink(resolve(config.root, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  const options = {
    rootDir: '.',
    outDir: 'out',
    types: ['node'],
    noPropertyAccessFromIndexSignature: false,
  };
  const project = {
    extends: join(source, 'tsconfig.json'),
    compilerOptions: options,
    include: ['src', 'examples'],
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(project));
  await run('node', [resolve(config.root, 'node_modules/typescript-7/bin/tsc'), '-p', folder]).catch(
    ({ stdout }: { stdout: string }) => t.fail(stdout),
  );

  const env = { ...process.env, URL: service.url };
  const { stdout } = await run('node', [join(folder, 'out/examples/payment.js')], { env });
  const done = JSON.parse(stdout) as Record<string, string>;
  t.like(done, {
    ...{ callback: 'paid', order: 'paid', attachment: 'receipt of the payment' },
    refusal: 'order_not_cancellable',
  });
  t.true(done.sheet?.includes(done.order_no ?? '?'));
  const [row] = await select<{ status: string }>('SELECT status FROM orders WHERE order_no = ?', [
    done.order_no ?? '',
  ]);
  t.is(row?.status, 'paid');
});

test('every field and parameter of the document has a description and a type', async (t) => {
  const stated: unknown = JSON.parse(await readFile(document, 'utf8'));
  t.deepEqual(
    [...undescribed(stated, '')],
    [],
    'a field of src/api/declare/vocabulary.ts, or .description()',
  );
  t.deepEqual([...unclear(stated, '')], []);
  const types = await readFile(join(folder, 'src/schema.ts'), 'utf8');
  const text = types.replace(/^export type \S+ = Record<string, never>;$/gm, '');
  // Headers of answers are all that openapi-typescript leaves open.
  t.deepEqual(
    text.match(/^(?!\s*\[name: string\]: unknown;$).*(: unknown|Record<string, never>).*$/gm),
    null,
  );
});

type Node = Record<string, unknown>;

function* undescribed(node: unknown, place: string): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { properties = {}, name, $ref, description } = node as Node;
  if (typeof name === 'string' && 'in' in node && !$ref && !description) yield `${place}: ${name}`;
  for (const [key, part] of Object.entries(properties as Record<string, Node>))
    if (!part.description) yield `${place}/${key}`;
  for (const [key, part] of Object.entries(node))
    if (key !== 'example' && key !== 'examples') yield* undescribed(part, `${place}/${key}`);
}

/** Fixed values without a type, which many generators leave open, and patterns whose slashes they would escape again. */
function* unclear(node: unknown, place: string): Generator<string> {
  if (typeof node !== 'object' || node === null) return;
  const { const: value, enum: values, type, pattern } = node as Node;
  const isFixed = Array.isArray(values) || ['string', 'number', 'boolean'].includes(typeof value);
  if (isFixed && type === undefined) yield place;
  if (typeof pattern === 'string' && pattern.includes('\\/')) yield `${place}: ${pattern}`;
  for (const [key, part] of Object.entries(node))
    if (key !== 'example' && key !== 'examples') yield* unclear(part, `${place}/${key}`);
}

const commands: Record<string, { file: string; command: string }> = {
  sh: { file: 'notify.sh', command: 'bash' },
  js: { file: 'notify.mjs', command: 'node' },
  php: { file: 'notify.php', command: 'php' },
  java: { file: 'Notify.java', command: 'java' },
  python: { file: 'notify.py', command: 'python3' },
};

for (const [language, { file, command }] of Object.entries(commands)) {
  test.serial(
    `the callback of the introduction in ${language} pays, where ${command} is installed`,
    async (t) => {
      t.timeout(60_000);
      const isThere = await run('which', [command]).then(
        () => true,
        () => false,
      );
      t.true(file.length > 0);
      if (!isThere) return t.log(`${command} is not installed`);
      const path = join(folder, file);
      await writeFile(path, callbackSamples[language] ?? '');
      const method = await makeMethod(service.admin, 'a-secret-of-16-and-more');
      const payment = await makePayment(service.admin, method.id);
      const env = {
        ...process.env,
        NOTIFY_URL: `${service.url}/api/payment/notify/mock`,
        ...{ SECRET: 'a-secret-of-16-and-more', PAYMENT_NO: payment.payment_no },
        AMOUNT: Number(payment.amount).toFixed(2),
      };
      const { stdout } = await run(command, [path], { env });
      t.like((JSON.parse(stdout) as { data: object }).data, {
        payment_no: payment.payment_no,
        status: 'paid',
      });
    },
  );
}

async function made(path: string, body: object): Promise<number> {
  const { status, data, text } = await admin.post(path, body);
  if (status !== 200) throw new Error(text);
  return (data as { id: number }).id;
}

async function payments(): Promise<number[]> {
  const method = (await makeMethod(admin)).id;
  const [pending, paid, flagged, cleared] = await Promise.all(
    [1, 2, 3, 4].map(() => makePayment(admin, method)),
  );
  const notify = (payment: typeof paid, more = {}) => callBack(service.anonymous, payment as never, more);
  await notify(paid);
  for (const payment of [flagged, cleared]) await notify(payment, { amount: '0.01' });
  const seen = { needs_attention: false, fail_reason: 'payment_amount_mismatch' };
  await admin.put(`/payments/${cleared?.id}`, seen);
  return [pending, paid, flagged, cleared].map((payment) => payment?.id as number);
}

async function orders(): Promise<number[]> {
  const [pending, cancelled] = [await makeOrder(admin), await makeOrder(admin, 1, { remark: 'one\ntwo' })];
  await admin.put(`/orders/${cancelled.id}`, { status: 'cancelled' });
  const paid = await paidPayment(admin);
  const { list } = (await admin.get(`/orders?order_no=${paid.order_no}`)).data;
  return [pending.id, cancelled.id, list[0].id];
}

async function refunds(): Promise<number[]> {
  const payment = await paidPayment(admin);
  const ask = (destination: string): Promise<number> =>
    made('/refunds', { payment_no: payment.payment_no, amount: 1, destination, reason: 'x' });
  const [given, flagged] = [await ask('balance'), await ask('balance')];
  await change(`UPDATE refunds SET needs_attention = 1, fail_reason = 'refund_stuck' WHERE id = ?`, [
    flagged,
  ]);
  return [given, flagged];
}

const contact = { email: 'a@example.com', phone: '+49 30 1', avatar: '/a.png' };

/** Keys of records: the emptiest, the fullest, and those of every state. */
const records: Record<string, () => Promise<number[]>> = {
  '/admins/{id}': async () => {
    const department_id = await made('/departments', { name: unique() });
    const role = await makeRole(admin, ['admin.index']);
    const full = await makeAdmin(admin, [role.id], { ...contact, department_id, status: 0 });
    const superior = await makeAdmin(admin, [1]);
    return [superior.id, (await makeAdmin(admin)).id, full.id];
  },
  '/roles/{id}': async () => {
    const menu_ids = [await made('/menus', { title: 'x', slug: unique('m'), type: 1 })];
    const full = await makeRole(admin, ['role.index'], { menu_ids, description: 'a\nb', status: 0 });
    return [1, (await makeRole(admin)).id, full.id];
  },
  '/menus/{id}': async () => {
    const parent_id = await made('/menus', { title: 'x', slug: unique('m'), type: 1 });
    const full = {
      icon: 'x',
      path: '/x',
      component: 'x/y',
      is_hidden: 1,
      link_type: 2,
      open_type: 2,
      no_cache: 1,
    };
    return [
      1,
      parent_id,
      await made('/menus', { title: 'x', slug: unique('m'), type: 3, parent_id, ...full }),
    ];
  },
  '/permissions/{id}': async () => {
    const own = () => ({ name: 'x', slug: unique('p.'), method: 'GET', path: '/x' });
    const full = { menu_id: 1, description: 'x', status: 0 };
    const builtin = await permissionId(admin, 'admin.index');
    return [builtin, await made('/permissions', own()), await made('/permissions', { ...own(), ...full })];
  },
  '/departments/{id}': async () => {
    const parent_id = await made('/departments', { name: unique() });
    const { email, phone } = contact;
    const full = { parent_id, email, phone, code: 'x', leader: 'x', remark: 'x', status: 0 };
    return [parent_id, await made('/departments', { name: unique(), ...full })];
  },
  '/dictionaries/{id}': async () => {
    const parent_id = await made('/dictionaries', { name: 'x', code: unique() });
    const full = { parent_id, value: '值', description: 'x', status: 0 };
    return [parent_id, await made('/dictionaries', { name: 'x', code: '代码 1', ...full })];
  },
  '/blacklists/{id}': () =>
    Promise.all(
      ['203.0.113.1', '198.51.100.0/25', '2001:db8::/64', '192.0.2.1-192.0.2.9'].map((ip, index) =>
        made('/blacklists', { ip, ...(index > 1 && { remark: 'x', status: 0 }) }),
      ),
    ),
  '/users/{id}': async () => [
    (await makeUser(admin)).id,
    (await makeUser(admin, { ...contact, nickname: 'x', status: 0, password: 'secret-1' })).id,
  ],
  '/orders/{id}': orders,
  '/payments/{id}': payments,
  '/refunds/{id}': refunds,
  '/payment-methods/{id}': async () => {
    const more = { name: 'x', description: 'x', is_active: false };
    return [
      (await makeMethod(admin, '')).id,
      (await makeMethod(admin, 'shared secret', { code: unique('m'), ...more })).id,
      await made('/payment-methods', { type: 'wechat', config: wechatConfig }),
      await made('/payment-methods', { type: 'alipay', config: alipayConfig }),
    ];
  },
  '/attachments/{id}/display-name': async () => [
    (await admin.upload('/attachments/upload', png, { filename: 'a.png' })).data.id,
  ],
  '/profile': () => Promise.resolve([1]),
};

// A password is never answered.
const writable = routes.filter(({ method, path }) => method === 'PUT' && !path.endsWith('/password'));

/** Where the record that a PUT changes is read. */
const readAt = (path: string): string => (path === '/profile' ? '/info' : path.replace('/display-name', ''));

const begun = new Map<string, Promise<number[]>>();

/** The records of a path, made once. */
function recordsOf(path: string): Promise<number[]> {
  const ids = begun.get(path) ?? records[path]?.() ?? Promise.reject(new Error(`${path} needs records here`));
  begun.set(path, ids);
  return ids;
}

const withoutTime = (record: object): object => ({ ...record, updated_at: undefined });

for (const { path } of writable)
  test(`${path} takes back what is answered`, async (t) => {
    const caller = path === '/profile' ? own : admin;
    for (const id of await recordsOf(path)) {
      const [write, read] = [path, readAt(path)].map((one) => one.replace('{id}', String(id)));
      const shown = await caller.get(read as string);
      t.is(shown.status, 200, shown.text);
      const taken = await caller.put(write as string, shown.data);
      t.is(taken.status, 200, `${JSON.stringify(shown.data)}: ${taken.text}`);
      t.deepEqual(withoutTime((await caller.get(read as string)).data), withoutTime(shown.data));
      t.deepEqual(withoutTime(taken.data), withoutTime(shown.data), `${path} answers the full record`);
    }
  });

const listed = writable.filter(({ path }) =>
  routes.some(
    (route) => route.method === 'GET' && route.path === path.replace('/{id}', '') && permissionOf(route),
  ),
);

test('entries of lists are taken back as well', async (t) => {
  t.true(listed.length >= 10);
  for (const { path } of listed) {
    // Records of other tests would lose what those change in between.
    const own = await recordsOf(path);
    const { list } = (await admin.get(`${path.replace('/{id}', '')}?page_size=100`)).data;
    const entries = (list as { id: number }[]).filter(({ id }) => own.includes(id));
    t.true(entries.length > 0, path);
    for (const entry of entries) {
      const taken = await admin.put(path.replace('{id}', String(entry.id)), entry);
      t.is(taken.status, 200, `${JSON.stringify(entry)}: ${taken.text}`);
    }
  }
});
