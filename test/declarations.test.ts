// What the compiler cannot check about routes, jobs, errors and partitions. Needs no database and no Redis.
import './support/settings/environment.js';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import test from 'ava';
import { concerns, config } from '../config/index.js';
import { SchemaWriter } from '../src/api/declare/json-schema.js';
import { opens, guardRoutes } from '../src/api/declare/permission.js';
import { oneOf } from '../src/api/declare/response.js';
import { fullPath, permissionOf } from '../src/api/declare/route.js';
import { routes } from '../src/api/routes.js';
import { jobs } from '../src/jobs/index.js';
import { errorCatalogue } from '../src/lib/errors/catalogue.js';
import { queueNames } from '../src/lib/queue/names.js';
import { menuSeeds, type MenuSeed } from '../src/models/access/menu-seed.js';
import { partitionedTables } from '../src/models/tables/partitions.js';
import { migrations } from '../src/models/migrations/index.js';
import { faults } from './mutation/index.js';
import { paidWriters } from './support/model/paid-writers.js';

const label = (route: (typeof routes)[number]): string => `${route.method} ${fullPath(route)}`;

const folder = resolve(config.root, 'src');

const sources = readdirSync(folder, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith('.ts'));

const readSource = (name: string): string => readFileSync(resolve(folder, name), 'utf8');

test('no two routes share method and path', (t) => {
  const shapes = routes.map((route) => label(route).replace(/\{\w+\}/g, '*'));
  t.deepEqual(
    shapes.filter((shape, index) => shapes.indexOf(shape) !== index),
    [],
  );
});

test('every operation has a unique name of verb and object', (t) => {
  const names = routes.map(({ name }) => name);
  for (const name of names) t.regex(name, /^[a-z]+[A-Z][A-Za-z]+$/);
  t.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
});

test('a fixed path is declared before one with a parameter', (t) => {
  for (const [index, route] of routes.entries()) {
    const pattern = new RegExp(`^${label(route).replace(/\{\w+\}/g, '[^/]+')}$`);
    const hidden = routes
      .slice(index + 1)
      .filter((later) => pattern.test(label(later).replace(/\{\w+\}/g, '{}')));
    t.deepEqual(hidden.map(label), [], label(route));
  }
});

test('the document says of fixed values whether null is among them', (t) => {
  const document = new SchemaWriter({});
  t.deepEqual(document.output(oneOf('shop', 'phone').allow(null)).enum, ['shop', 'phone', null]);
  t.deepEqual(document.output(oneOf('shop', 'phone')).enum, ['shop', 'phone']);
});

test('every path parameter has a schema', (t) => {
  for (const route of routes) {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const declared = Object.keys((route.params?.describe().keys ?? {}) as object);
    t.deepEqual(declared, inPath, label(route));
  }
});

test('permission slugs are noun.verb', (t) => {
  const names = new Map<string, string>();
  for (const permission of routes.flatMap((route) => permissionOf(route) ?? [])) {
    t.regex(permission.slug, /^[a-z_]+\.[a-z_]+$/);
    const name = `${permission.name.zh} / ${permission.name.en}`;
    t.is(names.get(permission.slug) ?? name, name);
    names.set(permission.slug, name);
  }
});

test('only signing in, health checks and the payment callback are public', (t) => {
  t.deepEqual(routes.filter(({ access }) => access === 'public').map(label), [
    'POST /api/admin/login',
    'GET /api/admin/login/captcha',
    'POST /api/payment/notify/{type}',
    'POST /api/payment/notify/{type}/{tenant}',
    'GET /healthz',
    'GET /readyz',
  ]);
});

test('the permission row of a route opens that route', (t) => {
  guardRoutes(routes);
  for (const route of routes) {
    const permission = permissionOf(route);
    if (!permission || permission.slugOnly) continue;
    const rule = { slug: 'other.slug', method: route.method, path: fullPath(route).replace(/\{\w+\}/g, '*') };
    t.true(opens(rule).includes(label(route)), label(route));
  }
});

test('routes of a module that can be disabled declare it', (t) => {
  for (const route of routes) {
    const segment = route.path.split('/')[1];
    const module =
      segment === 'orders' ? 'orders' : /^(payment|refund)/.test(segment ?? '') ? 'payments' : undefined;
    if (!route.host) t.is(route.module, module as never, label(route));
  }
});

test('a page of any list has 100 entries at most', (t) => {
  const lists = routes.filter(({ query }) =>
    query?.$_terms.keys?.some(({ key }: { key: string }) => key === 'page_size'),
  );
  t.true(lists.length > 15);
  for (const route of lists) {
    const asked = route.query?.validate({ page_size: 101 }, { presence: 'optional' }).value as {
      page_size: number;
    };
    t.is(asked.page_size, 100, label(route));
  }
});

test('only writes that change nothing are left out of the operation log', (t) => {
  t.deepEqual(routes.filter(({ isLogged }) => isLogged === false).map(label), [
    'POST /api/admin/notifications/ws-ticket',
    'POST /api/admin/payments/{payment_no}/query',
    'POST /api/admin/payment-methods/{id}/test',
  ]);
  // Of a chunked upload the merge makes the file.
  t.deepEqual(routes.filter(({ isLogged }) => typeof isLogged === 'function').map(label), [
    'POST /api/admin/attachments/chunk',
  ]);
});

test('every job is listed, and named like its file', (t) => {
  const files = sources.filter((name) => name.startsWith('jobs/') && readSource(name).includes(' = job({'));
  t.deepEqual(jobs.map(({ name }) => `jobs/${name}.ts`).sort(), files.sort());
  for (const { name, queue } of jobs) t.true(queueNames.includes(queue), name);
});

test('every queue has a job', (t) => {
  t.deepEqual(
    queueNames.filter((name) => !jobs.some(({ queue }) => queue === name)),
    [],
  );
});

test('retries of a job outlast a restart', (t) => {
  for (const { name, attempts, backoffMs, timeoutMs } of jobs) {
    t.true(attempts >= 8, `${name} has at least 8 attempts`);
    t.true(backoffMs >= 100, `${name} waits at least 100 ms before the second`);
    t.true(timeoutMs >= 1000, `${name} may take at least 1000 ms`);
  }
});

test('every screen and directory of the console has a menu of its name', (t) => {
  const flat = (seeds: MenuSeed[]): MenuSeed[] =>
    seeds.flatMap((seed) => [seed, ...flat(seed.children ?? [])]);
  const menus = new Map(flat(menuSeeds).map(({ slug, title }) => [slug, [title.zh, title.en]]));
  const declared = readFileSync(resolve(config.root, 'console/src/app/screens.ts'), 'utf8');
  const screens = /^ {2}'?([a-z-]+)'?: \{\s+room: '\w+',\s+title: \['(.+?)', '(.+?)'\]/gm;
  const directories = /^ {4}(?!title)(\w+): \['(.+)', '(.+)'\]/gm;
  const titles = [...declared.matchAll(screens), ...declared.matchAll(directories)];
  t.true(titles.length > 30);
  // The profile opens from the name of the administrator.
  for (const [, slug = '', zh, en] of titles)
    if (slug !== 'profile') t.deepEqual(menus.get(slug), [zh, en], slug);
});

test('every error slug is declared once', (t) => {
  const declared = sources
    .filter((name) => name.startsWith('lib/errors/'))
    .flatMap((name) => [...readSource(name).matchAll(/^ {2}([a-z_]+): \[/gm)].map(([, slug]) => slug));
  t.deepEqual(declared.sort(), Object.keys(errorCatalogue).sort());
});

test('every error has both languages and a code that fits its status', (t) => {
  const modules: Record<string, RegExp> = {
    10: /^4(00|01|03|22|29)$/,
    20: /^4(03|04)$/,
    30: /^4(00|22)$/,
    40: /^(4(00|22)|500)$/,
    50: /^5\d\d$/,
  };
  for (const [slug, { code, status, zh, en }] of Object.entries(errorCatalogue)) {
    t.regex(slug, /^[a-z_]+$/);
    t.regex(zh, /\p{Script=Han}/u, slug);
    t.regex(en, /^[A-Z][ -~]+$/, slug);
    t.regex(String(code), /^([45]\d\d|[1-5]0\d{3})$/, slug);
    if (code < 1000) t.is(code, status, slug);
    else t.regex(String(status), modules[String(code).slice(0, 2)] as RegExp, slug);
  }
});

test('migrations are numbered in order', async (t) => {
  const statements: string[] = [];
  const numbers = migrations.map(({ name }) => Number(/^(\d{4})-[a-z-]+$/.exec(name)?.[1]));
  t.deepEqual(
    numbers,
    [...new Set(numbers)].sort((one, other) => one - other),
  );
  for (const { up } of migrations) {
    await up((sql) => Promise.resolve(void statements.push(sql)));
  }
  const made = statements.flatMap((sql) =>
    sql.includes('PARTITION BY') ? (/CREATE TABLE IF NOT EXISTS (\w+)/.exec(sql)?.[1] ?? []) : [],
  );
  t.deepEqual(made.sort(), [...partitionedTables].sort());
});

test('every error and every setting is used', (t) => {
  const texts = sources.filter((name) => !name.startsWith('lib/errors/')).map(readSource);
  const isUsed = (word: string) => texts.some((text) => new RegExp(`\\b${word}\\b`).test(text));
  t.deepEqual(
    Object.keys(errorCatalogue).filter((slug) => !isUsed(slug)),
    [],
  );
  const settings = Object.values(config).flatMap((concern) =>
    typeof concern === 'object' ? Object.keys(concern) : [],
  );
  t.true(settings.length > 80);
  t.deepEqual(
    settings.filter((name) => !isUsed(name)),
    [],
  );
});

test('every setting is read where it is declared, or by PM2', (t) => {
  const files = readdirSync(resolve(config.root, 'config')).map((name) => `config/${name}`);
  const text = [...files, 'ecosystem.config.js']
    .map((file) => readFileSync(resolve(config.root, file), 'utf8'))
    .join('\n');
  const names = concerns.flatMap(({ settings }) => Object.keys(settings));
  // Its type and its schema name it, too.
  const isRead = (name: string) => [...text.matchAll(new RegExp(`\\b${name}\\b`, 'g'))].length > 2;
  t.deepEqual(
    names.filter((name) => !isRead(name)),
    [],
  );
});

test('one file of the service writes the state paid', (t) => {
  t.true(sources.length > 60);
  const writers = sources.filter((name) => paidWriters(readSource(name)).length > 0);
  t.deepEqual(writers, ['models/trade/payment-settlement.ts']);
});

test('a second writer of the state paid is found in any spelling', (t) => {
  const writers = [
    "change(`UPDATE payments SET status = 'paid' WHERE payment_no = ?`)",
    "change(`update\n  \\`payments\\` p\n  set p.\\`status\\`='PAID'`)",
    'change(\'UPDATE orders SET remark = ?, status = "paid" WHERE id = ?\')',
    "change('UPDATE orders SET status = ? WHERE order_no = ?', ['paid', no])",
    "change('UPDATE ' + table + ' SET status = ' + value)",
    "change(`UPDATE ${table} SET status = '${status}' WHERE id = 1`)",
    "change(`UPDATE users u JOIN orders o ON o.user_id = u.id SET o.paid_at = NOW(), o.status = 'paid'`)",
    "change(`UPDATE payments SET status = CASE WHEN amount > 0 THEN 'paid' ELSE 'pending' END`)",
    "change(`UPDATE orders SET remark = (SELECT name FROM users WHERE id = user_id), status = 'paid' WHERE id = ?`)",
    "change(`UPDATE /* quietly */ shop.payments SET status -- \n = 'paid'`)",
    "change(`INSERT INTO payments (payment_no, status) VALUES (?, 'paid')`)",
    "change('REPLACE INTO orders (status, order_no) VALUES (?, ?)')",
    "change(`INSERT INTO orders SET status = 'paid'`)",
    "change(`INSERT INTO orders (order_no) VALUES (?) ON DUPLICATE KEY UPDATE status = 'paid'`)",
    'change(`LOAD DATA INFILE ? INTO TABLE payments`)',
    "await Payment.update({ status: 'paid' }, { where: { payment_no } })",
    "await Order.create({ ...fields, 'status': isLate ? 'paid' : 'pending' })",
    "payment.status = 'paid' as const; await payment.save();",
    "payment['status'] = (`paid`);",
    "await payment.set('status', 'paid').save()",
    "@Table({ tableName: 'payments' }) class Payment extends Model {}",
  ];
  for (const source of writers) t.is(paidWriters(source).length, 1, source);
  const others = [
    "change(`UPDATE orders SET status = 'cancelled', updated_at = ? WHERE order_no = ? AND status = 'pending'`)",
    "change(`UPDATE payments SET needs_attention = 1 WHERE status = 'paid'`)",
    "change('UPDATE payment_callbacks SET state = ? WHERE payment_no IN (SELECT payment_no FROM payments)')",
    "change('UPDATE users SET status = ? WHERE id = ?')",
    "select(`SELECT id FROM payments WHERE status = 'paid'`)",
    "change('INSERT INTO orders (order_no, amount) VALUES (?, ?)')",
    "const answer: { status: 'paid' } = { status: order.status };",
    "if (payment.status === 'paid') return;",
    "@Table({ tableName: 'payment_methods' }) class PaymentMethod extends Model {}",
  ];
  for (const source of others) t.deepEqual(paidWriters(source), [], source);
});

test('every planted fault fits its source and its tests', (t) => {
  const read = (file: string): string => readFileSync(resolve(config.root, file), 'utf8');
  for (const { file, from, to, breaks, test: testFile, match } of faults) {
    t.is(read(file).split(from).length, 2, `${file}: ${breaks}`);
    t.not(from, to, breaks);
    // Tests of the results of every channel are declared there.
    const tests = read(testFile) + read('test/support/companies/results-contract.ts');
    for (const part of match?.split('*') ?? []) t.true(tests.includes(part), `${testFile}: ${match}`);
  }
});
