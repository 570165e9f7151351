// Idempotency-Key: on every route that creates, a request repeated under its key makes nothing and answers the first record.
import '../support/environment.js';
import test from 'ava';
import { routes } from '../../src/api/routes.js';
import { permissionOf } from '../../src/api/declare/route.js';
import { change, select } from '../../src/lib/database/db.js';
import type { Answer, Client } from '../support/client.js';
import { askExport, endOf } from '../support/exports.js';
import { makeAdmin, makeMethod, makeOrder, makeUser, unique } from '../support/factories.js';
import { holding, otherConnection } from '../support/other-connection.js';
import { startApi } from '../support/processes.js';
import { paidPayment } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
let callers: [Client, Client];

test.before(async () => {
  callers = [service.admin, service.admin.at((await startApi()).url)];
});

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
    return ['payments', json('/payments', { order_no, payment_method_id })];
  },
  'refund.store': async () => {
    const { payment_no } = await paidPayment(service.admin, (await makeMethod(service.admin)).id);
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
  const account = await makeAdmin(service.admin, [1]);
  const colleague = await service.anonymous.signIn(account.username, account.password);
  t.is((await colleague.post('/users', { username: second }, headers)).status, 200);
});

test.serial('a refused request does not use its key', async (t) => {
  const headers = { 'Idempotency-Key': unique('key-') };
  const { username } = await makeUser(service.admin);
  t.is((await service.admin.post('/users', { username }, headers)).status, 422);
  t.is((await service.admin.post('/users', { username: unique('u') }, headers)).status, 200);
});
