// /users: customers, which fields may change, and when they can be deleted.
import '../support/shared-environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { matchPassword } from '../../src/lib/secrets/password.js';
import { outcome } from '../support/client.js';
import { makeOrder, makeUser, unique } from '../support/factories.js';
import { service } from '../support/shared-service.js';

const { admin } = service;

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
  t.deepEqual(Object.keys(taken.errors ?? {}), ['username']);
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
  const [row] = await select<{ password_hash: string }>('SELECT password_hash FROM users WHERE id = ?', [id]);
  t.is(await matchPassword('secret-2', row?.password_hash), 'current');
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
    const [row] = await select<{ balance: string; deleted_at: Date | null }>(
      'SELECT balance, deleted_at FROM users WHERE id = ?',
      [id],
    );
    t.deepEqual([paid.status === 200, deleted.status === 200].sort(), [false, true]);
    t.is(row?.balance, paid.status === 200 ? '1.00' : '0.00');
    t.is(row?.deleted_at === null, paid.status === 200);
  }
});
