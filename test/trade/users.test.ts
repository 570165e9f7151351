// /users and /user-balance-logs: customers, when they can be deleted, and their money, exact and once (docs/promises.md R15).
import '../support/settings/shared-environment.js';
import test from 'ava';
import { change } from '../../src/lib/database/db.js';
import { matchPassword } from '../../src/lib/secrets/password.js';
import { changeBalances, mustAddUp } from '../support/model/balances.js';
import { outcome, type Client } from '../support/client.js';
import { makeOrder, makeUser, signedInWith, unique } from '../support/factories.js';
import { holding, lockWaits } from '../support/other-connection.js';
import { killProcesses, startApi } from '../support/processes.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const { admin } = service;
/** The same administrator on another process, which has two connections. */
let other: Client;

test.before(async () => {
  other = admin.at((await startApi({ DB_POOL_SIZE: '2' })).url);
});

test.after.always(killProcesses);

const update = (id: number, body: object, caller = admin) => caller.post(`/users/${id}/update-balance`, body);

test('an update changes only the fields sent', async (t) => {
  const made = (
    await admin.post('/users', { username: unique('user'), email: 'a@example.com', phone: '123456' })
  ).data;
  const changed = await admin.put(`/users/${made.id}`, {
    nickname: 'Ann',
    status: 0,
    balance: 5,
    password_hash: 'x',
  });
  t.deepEqual({ ...changed.data, updated_at: '' }, { ...made, nickname: 'Ann', status: 0, updated_at: '' });
  t.deepEqual((await admin.get(`/users/${made.id}`)).data, changed.data);
  const cleared = (await admin.put(`/users/${made.id}`, { email: '', phone: null, nickname: '' })).data;
  t.like(cleared, { email: null, phone: null, nickname: made.username });
  t.like((await admin.put(`/users/${made.id}`, {})).data, { email: null, nickname: made.username });
  const renamed = unique('user');
  t.is((await admin.put(`/users/${made.id}`, { username: renamed })).data.username, renamed);
});

test('an empty text of a new user is stored as none', async (t) => {
  const username = unique('user');
  const { data } = await admin.post('/users', { username, nickname: '', email: '', phone: '' });
  t.like(data, { nickname: username, email: null, phone: null });
});

test('a refused update changes nothing', async (t) => {
  const [one, other] = await Promise.all([makeUser(admin), makeUser(admin)]);
  const taken = await admin.put(`/users/${one.id}`, { username: other.username, nickname: 'x' });
  t.deepEqual(outcome(taken), [422, 30002, 'user_name_exists']);
  t.deepEqual(taken.fields, ['username']);
  for (const body of [{ status: 2 }, { email: 'nobody' }, { phone: 'x' }, { username: 'a' }])
    t.is((await admin.put(`/users/${one.id}`, body)).status, 422, JSON.stringify(body));
  t.is((await admin.put(`/users/${one.id}`, { status: '1' })).status, 400);
  t.like((await admin.get(`/users/${one.id}`)).data, {
    username: one.username,
    nickname: one.username,
    status: 1,
  });
  t.deepEqual(outcome(await admin.put('/users/999999', { nickname: 'x' })), [404, 20002, 'user_not_found']);
});

test('a new password is stored hashed', async (t) => {
  const { id } = await makeUser(admin);
  const set = (password: unknown) => admin.put(`/users/${id}/password`, { password });
  t.deepEqual(outcome(await set('secret-2')), [200, 200, undefined]);
  const sql = 'SELECT password_hash FROM users WHERE id = ?';
  const { password_hash } = await selectRow<{ password_hash: string }>(sql, [id]);
  t.is(await matchPassword('secret-2', password_hash), 'current');
});

test('an invalid password is refused', async (t) => {
  const { id, username } = await makeUser(admin);
  const set = (password: unknown) => admin.put(`/users/${id}/password`, { password });
  t.is((await set(username)).status, 422);
  t.is((await set('x')).status, 422);
  t.is((await set(undefined)).status, 400);
  t.deepEqual(outcome(await admin.put('/users/999999/password', { password: 'secret-2' })), [
    ...[404, 20002, 'user_not_found'],
  ]);
});

test('a deleted user disappears from lists and takes no orders or money', async (t) => {
  const { id, username } = await makeUser(admin);
  t.is((await admin.get(`/users?username=${username}`)).data.total, 1);
  t.is((await admin.delete(`/users/${id}`)).status, 200);
  t.is((await admin.get(`/users?username=${username}`)).data.total, 0);
  for (const answer of [
    admin.get(`/users/${id}`),
    admin.put(`/users/${id}`, { nickname: 'x' }),
    admin.delete(`/users/${id}`),
    admin.put(`/users/${id}/password`, { password: 'secret-2' }),
    admin.post(`/users/${id}/update-balance`, { type: 'income', amount: 1 }),
  ]) {
    t.deepEqual(outcome(await answer), [404, 20002, 'user_not_found']);
  }
  const details = [{ product_name: 'Tea', price: 1, quantity: 1 }];
  t.deepEqual(outcome(await admin.post('/orders', { user_id: id, details })), [422, 30003, 'user_unknown']);
});

test('a deleted user keeps name and orders', async (t) => {
  const { id, username } = await makeUser(admin);
  const order = await makeOrder(admin, 1, { user_id: id });
  t.is((await admin.delete(`/users/${id}`)).status, 200);
  t.like((await admin.get(`/orders/${order.order_no}`)).data, { status: 'pending', user: { id, username } });
  t.deepEqual(outcome(await admin.post('/users', { username })), [422, 30002, 'user_name_exists']);
});

test('a user with a balance cannot be deleted', async (t) => {
  const { id } = await makeUser(admin);
  const update = (type: string) => admin.post(`/users/${id}/update-balance`, { type, amount: '0.01' });
  await update('income');
  t.deepEqual(outcome(await admin.delete(`/users/${id}`)), [400, 40002, 'user_has_balance']);
  await admin.put(`/users/${id}`, { status: 0 });
  t.is((await update('expense')).data.balance, 0, 'a disabled user is paid out');
  t.is((await admin.delete(`/users/${id}`)).status, 200);
});

test('concurrent deleting and paying never leaves money with a deleted user', async (t) => {
  for (let round = 0; round < 10; round++) {
    const { id } = await makeUser(admin);
    const [paid, deleted] = await Promise.all([
      admin.post(`/users/${id}/update-balance`, { type: 'income', amount: 1 }),
      admin.delete(`/users/${id}`),
    ]);
    const row = await selectRow<{ balance: string; deleted_at: Date | null }>(
      'SELECT balance, deleted_at FROM users WHERE id = ?',
      [id],
    );
    t.deepEqual([paid.status === 200, deleted.status === 200].sort(), [false, true]);
    t.is(row.balance, paid.status === 200 ? '1.00' : '0.00');
    t.is(row.deleted_at === null, paid.status === 200);
  }
});

test('incomes and refunds increase a balance and expenses reduce it', async (t) => {
  const { id, username } = await makeUser(admin);
  const first = await update(id, { type: 'income', amount: '100.10', description: 'by hand' });
  t.is(first.status, 200);
  t.regex(first.text, /"balance":100\.10,/);
  t.like(first.data.log, {
    ...{ user_id: id, type: 'income', amount: 100.1, balance_before: 0, balance_after: 100.1 },
    ...{ source: 'manual', source_id: null, description: 'by hand', request_id: null },
  });
  t.deepEqual(first.data.log.user, { id, username });
  t.is(first.data.log.operator.username, service.account.username);
  t.is(
    (await update(id, { type: 'expense', amount: 0.1, source: 'order', source_id: 'ORD1' })).data.balance,
    100,
  );
  const logged = await admin.post('/user-balance-logs', { user_id: id, type: 'refund', amount: 5 });
  t.is(logged.data.balance, 105);
  t.is((await admin.get(`/users/${id}`)).data.balance, 105);
  const { data } = await admin.get(`/user-balance-logs?user_id=${id}`);
  t.is(data.total, 3);
  t.deepEqual(
    data.list.map(({ type, balance_after }: { type: string; balance_after: number }) => [
      type,
      balance_after,
    ]),
    [
      ['refund', 105],
      ['expense', 100],
      ['income', 100.1],
    ],
  );
  t.deepEqual((await admin.get(`/user-balance-logs/${first.data.log.id}`)).data, first.data.log);
  t.is(await mustAddUp(id), 3);
});

test('a balance stays between zero and the limit', async (t) => {
  const { id } = await makeUser(admin);
  t.deepEqual(outcome(await update(id, { type: 'expense', amount: '0.01' })), [
    400,
    40001,
    'insufficient_balance',
  ]);
  t.is((await update(id, { type: 'income', amount: '10000000000000.00' })).status, 200);
  t.deepEqual(outcome(await update(id, { type: 'refund', amount: '0.01' })), [
    400,
    40001,
    'balance_limit_exceeded',
  ]);
  t.is((await update(id, { type: 'expense', amount: '10000000000000' })).data.balance, 0);
  t.is(await mustAddUp(id), 2);
});

test('invalid amounts, types and ids are refused by field', async (t) => {
  const { id } = await makeUser(admin);
  const bad: [object, number, string][] = [
    [{ type: 'income' }, 400, 'amount'],
    [{ amount: 1 }, 400, 'type'],
    [{ type: 'income', amount: 0 }, 422, 'amount'],
    [{ type: 'income', amount: -1 }, 422, 'amount'],
    [{ type: 'income', amount: '1.001' }, 422, 'amount'],
    [{ type: 'income', amount: '10000000000000.01' }, 422, 'amount'],
    [{ type: 'income', amount: true }, 400, 'amount'],
    [{ type: 'gift', amount: 1 }, 422, 'type'],
    [{ type: 'income', amount: 1, request_id: 'a b' }, 422, 'request_id'],
    [{ type: 'income', amount: 1, request_id: 'x'.repeat(65) }, 422, 'request_id'],
    // That of a refund.
    [{ type: 'income', amount: 1, request_id: `REF20261126${'0'.repeat(26)}` }, 422, 'request_id'],
    [{ type: 'income', amount: 1, source: 'Upper' }, 422, 'source'],
  ];
  for (const [body, status, field] of bad) {
    const answer = await update(id, body);
    t.deepEqual([answer.status, answer.fields], [status, [field]], JSON.stringify(body));
  }
  t.deepEqual(outcome(await update(999_999, { type: 'income', amount: 1 })), [404, 20002, 'user_not_found']);
  const unknown = admin.post('/user-balance-logs', { user_id: 999_999, type: 'income', amount: 1 });
  t.deepEqual(outcome(await unknown), [422, 30003, 'user_unknown']);
  t.deepEqual(outcome(await admin.get('/user-balance-logs/999999')), [404, 20002, 'balance_log_not_found']);
  t.is(await mustAddUp(id), 0);
});

test('one request_id takes effect once', async (t) => {
  const { id } = await makeUser(admin);
  const request_id = unique('once');
  const body = { type: 'income', amount: '7.50', request_id };
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, number) => update(id, body, number % 2 ? admin : other)),
  );
  for (const { status, data } of answers) t.deepEqual([status, data], [200, answers[0]?.data]);
  await update(id, { type: 'income', amount: 1 });
  t.deepEqual((await update(id, body)).data, answers[0]?.data, 'later as well');
  t.is((await admin.get(`/users/${id}`)).data.balance, 8.5);
  const reused = [422, 30002, 'request_id_reused'];
  t.deepEqual(outcome(await update(id, { ...body, amount: '7.51' })), reused);
  t.deepEqual(outcome(await update(id, { ...body, type: 'refund' })), reused);
  t.deepEqual(outcome(await update(id, { ...body, description: 'other' })), reused);
  t.deepEqual(outcome(await update(id, { ...body, source: 'other' })), reused);
  t.deepEqual(outcome(await update(id, { ...body, source_id: 'other' })), reused);
  t.deepEqual(outcome(await update((await makeUser(admin)).id, body)), reused);
  t.is(await mustAddUp(id), 2);
  await update(id, { type: 'expense', amount: '8.50' });
  t.is((await admin.delete(`/users/${id}`)).status, 200);
  t.deepEqual((await update(id, body)).data, answers[0]?.data, 'also when the user is gone');
});

// Serial, as two more: they keep the connections of the service busy.
test.serial('concurrent requests with one request_id reach one user only', async (t) => {
  const users = await Promise.all(Array.from({ length: 8 }, () => makeUser(admin)));
  const body = { type: 'income', amount: 1, request_id: unique('race') };
  const ids = users.map(({ id }) => id);
  // Each has come this far before one of them continues.
  const letGo = await holding(`SELECT id FROM users WHERE id IN (${ids.join()}) FOR UPDATE`);
  const asked = ids.map((id, index) => update(id, body, index % 4 ? admin : other));
  await until(async () => (await lockWaits('FROM users')) >= ids.length).finally(letGo);
  const answers = await Promise.all(asked);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 7 }, () => 422)]);
  const counts = await Promise.all(users.map(({ id }) => mustAddUp(id)));
  t.is(
    counts.reduce((sum, count) => sum + count),
    1,
  );
});

test.serial('hundreds of concurrent changes over two processes add up exactly', async (t) => {
  const callers = [admin, other];
  const userIds = (await Promise.all(Array.from({ length: 5 }, () => makeUser(admin)))).map(({ id }) => id);
  const tally = await changeBalances(callers, userIds, 200);
  const counts = await Promise.all(userIds.map(mustAddUp));
  t.is(
    counts.reduce((sum, count) => sum + count, 0),
    tally.applied,
  );
  t.is(tally.applied + tally.insufficient + tally.repeated, 200);
  t.true(tally.insufficient > 0 && tally.repeated > 0);
});

test('statistics sum the changes of one user or all in a time range', async (t) => {
  const { id } = await makeUser(admin);
  for (const [type, amount] of [
    ['income', '10.10'],
    ['income', '0.20'],
    ['expense', '3.05'],
    ['refund', '1.00'],
  ]) {
    await update(id, { type, amount });
  }
  await change(
    "UPDATE user_balance_logs SET created_at = '2024-03-10 12:00:00' WHERE user_id = ? AND type = 'refund'",
    [id],
  );
  const sums = (query: string) => admin.get(`/user-balance-logs/statistics?${query}`);
  const all = await sums(`user_id=${id}`);
  t.deepEqual(all.data, {
    ...{ total_income: 10.3, total_expense: 3.05, total_refund: 1, count: 4, current_balance: 8.25 },
  });
  t.regex(all.text, /"total_income":10\.30,/);
  t.deepEqual((await sums(`user_id=${id}&end_time=2024-03-10`)).data, {
    ...{ total_income: 0, total_expense: 0, total_refund: 1, count: 1, current_balance: 8.25 },
  });
  const everybody = (await sums('')).data;
  const { logs } = await selectRow<{ logs: number }>('SELECT COUNT(*) AS logs FROM user_balance_logs');
  t.true(everybody.count >= 4 && everybody.count <= logs);
  t.deepEqual(outcome(await sums('user_id=999999')), [422, 30003, 'user_unknown']);
});

test('balance logs are filtered by user, type, source, operator and time', async (t) => {
  const clerk = await signedInWith(admin, ['user.update_balance', 'user_balance_log.index']);
  const { id } = await makeUser(admin);
  const source = unique('s').slice(0, 12);
  await update(id, { type: 'income', amount: 2, source });
  await update(id, { type: 'expense', amount: 1, source }, clerk);
  const found = async (query: string) =>
    (await clerk.get(`/user-balance-logs?${query}&order_by=id:asc`)).data.list.map(
      ({ type }: { type: string }) => type,
    );
  t.deepEqual(await found(`source=${source}`), ['income', 'expense']);
  t.deepEqual(await found(`user_id=${id}&source=another`), []);
  t.deepEqual(await found(`user_id=${id}&type=expense`), ['expense']);
  t.deepEqual(await found(`operator_id=${clerk.account?.id}`), ['expense']);
  t.deepEqual(await found(`source=${source}&end_time=2024-01-01`), []);
  const [sorted] = (await clerk.get(`/user-balance-logs?source=${source}&order_by=amount:desc`)).data.list;
  t.is(sorted.amount, 2);
});

test.serial('concurrent changes are answered with the balance they booked', async (t) => {
  const { id } = await makeUser(admin);
  await update(id, { type: 'income', amount: 20 });
  const answers = await Promise.all(
    Array.from({ length: 40 }, () => update(id, { type: 'expense', amount: 1 }, other)),
  );
  const booked = answers.filter(({ status }) => status === 200).map(({ data }) => data.balance as number);
  t.deepEqual(
    booked.sort((a, b) => b - a),
    Array.from({ length: 20 }, (_, index) => 19 - index),
  );
  t.is(answers.filter(({ status }) => status === 400).length, 20);
  t.is((await admin.get(`/users/${id}`)).data.balance, 0);
  t.is(await mustAddUp(id), 21);
});

test('amounts that a JSON number cannot carry are refused', async (t) => {
  const { id } = await makeUser(admin);
  const send = async (amount: string) => {
    const body = `{"type":"income","description":"0.10000000000000000001","amount":${amount}}`;
    const answer = await admin.post(`/users/${id}/update-balance`, body);
    return [answer.status, answer.errors?.amount !== undefined];
  };
  for (const amount of [
    ...['9999999999999.9999', '1.0000000000000000001', '0.29999999999999999', '1e-20', '1.005'],
    ...['123456789012345678e-16', '10000000000000.01'],
  ])
    t.deepEqual(await send(amount), [422, true], amount);
  for (const amount of ['0.30', '1e2', '9999999999.99', '1.000000000', '"0.30"'])
    t.deepEqual(await send(amount), [200, false], amount);
  const [log] = (await admin.get(`/user-balance-logs?user_id=${id}&order_by=id:asc`)).data.list;
  t.is(log.description, '0.10000000000000000001', 'texts stay as they are');
});
