// Idempotency-Key: on every route that creates, a request repeated under its key makes nothing and answers the first record,
// also when the process died between its commit and its answer.
import '../support/settings/environment.js';
import test from 'ava';
import { routes } from '../../src/api/routes.js';
import { permissionOf } from '../../src/api/declare/route.js';
import { change, select } from '../../src/lib/database/db.js';
import type { Answer, Client } from '../support/client.js';
import { askExport, endOf } from '../support/exports.js';
import { makeAdmin, makeMethod, makeOrder, makeUser, unique } from '../support/factories.js';
import { beforeDatabase } from '../support/servers/faulty-proxy.js';
import { holding, otherConnection } from '../support/other-connection.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { paidPayment } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
let callers: [Client, Client];
/** The second process, and what it reaches the database through. */
let api: TestProcess;
let database: Awaited<ReturnType<typeof beforeDatabase>>;

test.before(async () => {
  database = await beforeDatabase();
  api = await startApi(database.env);
  callers = [service.admin, service.admin.at(api.url)];
});

test.after.always(() => database?.close());

type Send = (caller: Client, headers?: Record<string, string>) => Promise<Answer>;

const json =
  (path: string, body: object): Send =>
  (caller, headers) =>
    caller.post(path, body, headers);

const upload =
  (path: string, content: string, filename: string): Send =>
  (caller, headers = {}) =>
    caller.with(headers).upload(path, content, { filename });

/** Slug of a route's permission → the table it creates in, and a request that it takes. */
type Prepared = [table: string, send: Send];

const creates: Record<string, () => Prepared | Promise<Prepared>> = {
  'admin.store': () => [
    'admins',
    json('/admins', { username: unique('a'), password: 'secret-12', nickname: 'x' }),
  ],
  'role.store': () => ['roles', json('/roles', { name: 'x', slug: unique('r') })],
  'menu.store': () => ['menus', json('/menus', { title: 'x', slug: unique('m'), type: 1 })],
  'permission.store': () => [
    'permissions',
    json('/permissions', { name: 'x', slug: unique('p'), method: 'GET', path: '/nowhere' }),
  ],
  'department.store': () => ['departments', json('/departments', { name: 'x' })],
  'dictionary.store': () => ['dictionaries', json('/dictionaries', { name: 'x', code: unique('d') })],
  'blacklist.store': () => ['blacklists', json('/blacklists', { ip: '203.0.113.7' })],
  'user.store': () => ['users', json('/users', { username: unique('u') })],
  'payment_method.store': () => ['payment_methods', json('/payment-methods', { type: 'mock' })],
  'notification.store': async () => {
    const receivers = [await makeAdmin(service.admin), await makeAdmin(service.admin)];
    const receiver_ids = receivers.map(({ id }) => id);
    return ['notifications', json('/notifications', { title: 'x', content: 'y', receiver_ids })];
  },
  'user.update_balance': async () => {
    const { id } = await makeUser(service.admin);
    return ['user_balance_logs', json(`/users/${id}/update-balance`, { type: 'income', amount: 1 })];
  },
  'user_balance_log.store': async () => {
    const user_id = (await makeUser(service.admin)).id;
    return ['user_balance_logs', json('/user-balance-logs', { user_id, type: 'income', amount: 1 })];
  },
  'order.store': async () => {
    const user_id = (await makeUser(service.admin)).id;
    const details = [{ product_name: 'Tea', price: '1.00', quantity: 1 }];
    return ['orders', json('/orders', { user_id, details })];
  },
  'payment.store': async () => {
    const { order_no } = await makeOrder(service.admin);
    const payment_method_id = (await makeMethod(service.admin)).id;
    return ['payments', json('/payments', { order_no, payment_method_id, initiate: true })];
  },
  'refund.store': async () => {
    const { payment_no } = await paidPayment(service.admin);
    return ['refunds', json('/refunds', { payment_no, amount: 1, destination: 'channel', reason: 'x' })];
  },
  'order.import': async () => {
    const { id } = await makeUser(service.admin);
    return ['imports', upload('/orders/import', `user_id,amount\n${id},1.00\n`, 'orders.csv')];
  },
  'attachment.store': () => ['attachments', upload('/attachments/upload', unique('text '), 'a.txt')],
  ...Object.fromEntries(
    routes
      .filter(({ path, repeat }) => repeat && path.endsWith('/export'))
      .map((route) => [
        String(permissionOf(route)?.slug),
        () => ['exports', json(route.path, { format: 'csv' })] as Prepared,
      ]),
  ),
};

const countOf = async (table: string): Promise<number> =>
  (await select<{ total: number }>(`SELECT COUNT(*) AS total FROM ${table}`))[0]?.total ?? 0;

const idOf = ({ data }: Answer): unknown => data?.id ?? data?.import_id ?? data?.export_id ?? data?.log?.id;

test('every route that creates accepts the header', (t) => {
  const taking = routes.flatMap((route) => (route.repeat ? [String(permissionOf(route)?.slug)] : []));
  const without = taking.filter((slug) => !(slug in creates));
  t.deepEqual(without, [], 'each needs a request among `creates`');
  t.is(Object.keys(creates).length, taking.length);
});

for (const [slug, prepare] of Object.entries(creates)) {
  test.serial(`${slug}: concurrent repeats on two processes create one record`, async (t) => {
    const [table, send] = await prepare();
    const before = await countOf(table);
    const headers = { 'Idempotency-Key': unique('key-') };
    const [one, other] = await Promise.all(callers.map((caller) => send(caller, headers)));
    const made = await countOf(table);
    const again = await send(callers[1], headers);
    for (const answer of [one, other, again]) {
      t.is(answer?.status, 200, answer?.text);
      t.is(idOf(answer as Answer), idOf(again));
    }
    const ids = again.data.ids as number[] | undefined;
    t.is(made - before, ids?.length ?? 1);
    t.is(await countOf(table), made);
    if (ids) t.deepEqual([one?.data.ids, other?.data.ids], [ids, ids]);
  });
}

test.serial('a repeat that meets the end of the first export is answered with it', async (t) => {
  // Its text names the key of running exports, and is part of the error that the repeat meets.
  const headers = { 'Idempotency-Key': unique("'uq_exports_running'-") };
  // Nobody else's: a request that equals a running export is answered with that one.
  const wanted = { format: 'csv', order_no: unique('ORD') };
  const send = () => service.admin.post('/orders/export', wanted, headers);
  const first = (await send()).data.export_id as number;
  await until(async () => (await service.admin.get(`/exports/${first}`)).data.status === 1);
  const rename = 'UPDATE idempotency_keys SET idempotency_key = ? WHERE idempotency_key = ?';
  await change(rename, ['not yet', headers['Idempotency-Key']]);
  const before = await countOf('exports');
  const other = await otherConnection();
  await other.query('LOCK TABLES exports WRITE');
  const answering = send();
  const waiting = `SELECT id FROM information_schema.processlist
    WHERE db = DATABASE() AND state LIKE '%metadata lock%' AND info LIKE '%running_key%'`;
  await until(async () => (await select(waiting)).length > 0);
  await change(rename, [headers['Idempotency-Key'], 'not yet']);
  await other.end();
  const answer = await answering;
  t.deepEqual([answer.status, answer.data?.export_id], [200, first], answer.text);
  t.is(await countOf('exports'), before);
});

test.serial('a request that joins a running export uses its key', async (t) => {
  const headers = { 'Idempotency-Key': unique('key-') };
  const wanted = { format: 'csv', order_no: unique('ORD') };
  const letEnd = await holding('LOCK TABLES orders WRITE');
  const running = await askExport(service.admin, '/orders', wanted);
  t.is(await askExport(service.admin, '/orders', wanted, headers), running);
  await letEnd();
  await endOf(service.admin, running);
  t.is(await askExport(service.admin, '/orders', wanted, headers), running);
  const reused = await service.admin.post('/orders/export', { ...wanted, format: 'xlsx' }, headers);
  t.deepEqual([reused.status, reused.errorCode], [422, 'idempotency_key_reused']);
});

test.serial('a key belongs to one request of one administrator', async (t) => {
  const headers = { 'Idempotency-Key': unique('key-') };
  const [first, second] = [unique('u'), unique('u')];
  t.is((await service.admin.post('/users', { username: first }, headers)).status, 200);
  const reused = await service.admin.post('/users', { username: second }, headers);
  t.deepEqual([reused.status, reused.errorCode], [422, 'idempotency_key_reused']);
  t.is((await service.admin.post('/departments', { name: 'x' }, headers)).status, 200, 'another resource');
  const colleague = await service.anonymous.signIn(await makeAdmin(service.admin, [1]));
  t.is((await colleague.post('/users', { username: second }, headers)).status, 200);
});

test.serial('a refused request does not use its key', async (t) => {
  const headers = { 'Idempotency-Key': unique('key-') };
  const { username } = await makeUser(service.admin);
  t.is((await service.admin.post('/users', { username }, headers)).status, 422);
  t.is((await service.admin.post('/users', { username: unique('u') }, headers)).status, 200);
});

test.serial('only one of twenty different requests under one key takes effect', async (t) => {
  const { admin } = service;
  const user_id = (await makeUser(admin)).id;
  const headers = { 'Idempotency-Key': unique('key-') };
  const details = [{ product_name: 'Tea', price: '1', quantity: 1 }];
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      admin.post('/orders', { user_id, details, remark: `request ${index % 4}` }, headers),
    ),
  );
  const [row, ...more] = await select<{ order_no: string; remark: string }>(
    'SELECT order_no, remark FROM orders WHERE user_id = ?',
    [user_id],
  );
  t.deepEqual(more, []);
  for (const [index, { status, errorCode, data }] of answers.entries()) {
    if (`request ${index % 4}` === row?.remark) t.deepEqual([status, data.order_no], [200, row.order_no]);
    else t.deepEqual([status, errorCode], [422, 'idempotency_key_reused']);
  }
});

test.serial('a key stands for the values of a body, and is a word', async (t) => {
  const { admin } = service;
  const user_id = (await makeUser(admin)).id;
  const headers = { 'Idempotency-Key': unique('key-') };
  const details = [{ product_name: 'Tea', price: '3.50', quantity: 2 }];
  const { data } = await admin.post('/orders', { user_id, details, remark: 'once' }, headers);
  const lines = [{ quantity: 2, price: 3.5, product_name: 'Tea' }];
  const rewritten = { remark: 'once', details: lines, user_id };
  t.is((await admin.post('/orders', rewritten, headers)).data.order_no, data.order_no);
  for (const key of ['x'.repeat(129), 'two words'])
    t.is((await admin.post('/orders', rewritten, { 'Idempotency-Key': key })).status, 422);
});

test.serial('the same payment with and without initiate are different requests', async (t) => {
  const { admin } = service;
  const { order_no } = await makeOrder(admin);
  const body = { order_no, payment_method_id: (await makeMethod(admin)).id };
  const headers = { 'Idempotency-Key': unique('key-') };
  t.is((await admin.post('/payments', body, headers)).status, 200);
  t.is((await admin.post('/payments', { ...body, initiate: false }, headers)).status, 200);
  const answer = await admin.post('/payments', { ...body, initiate: true }, headers);
  t.deepEqual([answer.status, answer.errorCode], [422, 'idempotency_key_reused']);
});

test.serial('a key stands for its address and its query too', async (t) => {
  const { admin } = service;
  const [one, other] = [await makeUser(admin), await makeUser(admin)];
  const change = (id: number, key: string) =>
    admin.post(`/users/${id}/update-balance`, { type: 'income', amount: '5' }, { 'Idempotency-Key': key });
  const key = unique('key-');
  t.is((await change(one.id, key)).status, 200);
  t.is((await change(one.id, key)).status, 200);
  const refused = await change(other.id, key);
  t.deepEqual([refused.status, refused.errorCode], [422, 'idempotency_key_reused']);
  const balances = await select<{ balance: string }>(
    'SELECT balance FROM users WHERE id IN (?) ORDER BY id',
    [[one.id, other.id]],
  );
  t.deepEqual(
    balances.map(({ balance }) => Number(balance)),
    [5, 0],
  );
  const keyed = admin.with({ 'Idempotency-Key': unique('key-') });
  const send = (query: string) =>
    keyed.upload(`/orders/import${query}`, `user_id,amount\n${one.id},1.00`, { filename: 'o.csv' });
  const checked = await send('?dry_run=true');
  t.is(checked.status, 200);
  t.is((await send('?dry_run=true&_=1')).data.import_id, checked.data.import_id);
  const meant = await send('');
  t.deepEqual([meant.status, meant.errorCode], [422, 'idempotency_key_reused']);
});

// The last: it ends the second process.
test.serial('an order and a payment made just before a crash are not made again', async (t) => {
  const [admin, dying] = callers;
  const user_id = (await makeUser(admin)).id;
  const payment_method_id = (await makeMethod(admin)).id;
  const { order_no } = await makeOrder(admin, '1', { user_id });
  const details = [{ product_name: 'Tea', price: '2.50', quantity: 1 }];
  const marked = unique('crash');
  const creates = [
    ['orders', 'order_no', { user_id, details, remark: marked }],
    ['payments', 'payment_no', { order_no, payment_method_id, remark: marked }],
  ] as const;
  const keyOf = (list: string) => `${list}-${marked}`;
  const made = (list: string, number: string) =>
    select<Record<string, string>>(`SELECT ${number} FROM ${list} WHERE remark = ?`, [marked]);
  const lost: Promise<unknown>[] = [];
  for (const [list, number, body] of creates) {
    // The answer to its COMMIT never arrives.
    database.forgetAt('COMMIT;', 'answers');
    lost.push(t.throwsAsync(dying.post(`/${list}`, body, { 'Idempotency-Key': keyOf(list) })));
    await until(async () => (await made(list, number)).length > 0);
  }
  await api.kill();
  await Promise.all(lost);
  for (const [list, number, body] of creates) {
    const headers = { 'Idempotency-Key': keyOf(list) };
    const answers = await Promise.all([1, 2, 3].map(() => admin.post(`/${list}`, body, headers)));
    const rows = await made(list, number);
    t.is(rows.length, 1);
    t.deepEqual(
      answers.map(({ status, data }) => [status, data[number]]),
      answers.map(() => [200, rows[0]?.[number]]),
    );
    const other = await admin.post(`/${list}`, { ...body, remark: 'another' }, headers);
    t.deepEqual([other.status, other.errorCode], [422, 'idempotency_key_reused']);
  }
});
