// A create whose process dies between its commit and its answer: repeated under its Idempotency-Key it answers the record made.
import '../support/environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { makeMethod, makeOrder, makeUser, unique } from '../support/factories.js';
import { beforeDatabase } from '../support/faulty-proxy.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { until } from '../support/until.js';

let database: Awaited<ReturnType<typeof beforeDatabase>>;
let api: TestProcess;
let admin: Client;

test.before(async () => {
  database = await beforeDatabase();
  api = await startApi(database.env);
  admin = await new Client(api.url).signIn();
});

processesTest(() => database?.close());

test.serial('an order and a payment made just before a crash are not made again', async (t) => {
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
    lost.push(t.throwsAsync(admin.post(`/${list}`, body, { 'Idempotency-Key': keyOf(list) })));
    await until(async () => (await made(list, number)).length > 0);
  }
  await api.kill();
  await Promise.all(lost);
  api = await startApi(database.env);
  admin = admin.at(api.url);
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

test.serial('only one of twenty different requests under one key takes effect', async (t) => {
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

test.serial('the same payment with and without initiate are different requests', async (t) => {
  const { order_no } = await makeOrder(admin);
  const body = { order_no, payment_method_id: (await makeMethod(admin)).id };
  const headers = { 'Idempotency-Key': unique('key-') };
  t.is((await admin.post('/payments', body, headers)).status, 200);
  t.is((await admin.post('/payments', { ...body, initiate: false }, headers)).status, 200);
  const answer = await admin.post('/payments', { ...body, initiate: true }, headers);
  t.deepEqual([answer.status, answer.errorCode], [422, 'idempotency_key_reused']);
});

test.serial('a key stands for its address and its query too', async (t) => {
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
