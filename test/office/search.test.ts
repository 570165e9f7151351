// The search over records of every kind: what finds them, and who.
import '../support/settings/shared-environment.js';
import test from 'ava';
import type { Client } from '../support/client.js';
import { callBack, makeAdmin, makePayment, makeUser, signedInWith, unique } from '../support/factories.js';
import { paidPayment } from '../support/refunds.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const payment = await makePayment(service.admin);

interface Hit {
  kind: string;
  id: string;
  note: string;
  status: string;
}

async function find(q: string, client: Client = service.admin): Promise<Hit[]> {
  const answer = await client.get(`/search?q=${encodeURIComponent(q)}`);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.data.list;
}

const named = async (q: string, client?: Client) =>
  (await find(q, client)).map(({ kind, id }) => `${kind} ${id}`);

test('an order is found by its number, its beginning and its end, in any case', async (t) => {
  const { order_no } = payment;
  for (const q of [order_no, order_no.toLowerCase(), order_no.slice(0, 30), order_no.slice(-8)])
    t.true((await named(q)).includes(`order ${order_no}`), q);
  t.true((await named(` ${order_no}\t`)).includes(`order ${order_no}`), 'pasted with spaces');
  t.deepEqual(await named(order_no.slice(-5)), [], 'five characters are too few');
  t.deepEqual(await named('  '), []);
  const [hit] = await find(order_no);
  t.regex(hit?.status ?? '', /^(pending|paid)$/);
});

test('a payment is found by its number, its end, its order and its third-party numbers', async (t) => {
  const { payment_no, order_no } = payment;
  const [transaction_id, second] = [unique('4200'), unique('4201')];
  for (const number of [transaction_id, second])
    await callBack(service.anonymous, payment, { transaction_id: number });
  const numbers = [transaction_id, transaction_id.slice(0, 10), second];
  for (const q of [payment_no, payment_no.slice(-10), order_no, ...numbers])
    t.true((await named(q)).includes(`payment ${payment_no}`), q);
});

test('a refund is found by its number, its end and its payment', async (t) => {
  const { admin } = service;
  const paid = await paidPayment(admin);
  const body = { payment_no: paid.payment_no, destination: 'balance', reason: 'sold out' };
  const { refund_no } = (await admin.post('/refunds', body)).data;
  for (const q of [refund_no, refund_no.toLowerCase(), refund_no.slice(-10), paid.payment_no])
    t.true((await named(q)).includes(`refund ${refund_no}`), q);
  const [hit] = await find(refund_no);
  t.like(hit, { note: paid.payment_no, status: 'succeeded' });
  const { data: order } = await admin.get(`/orders/${paid.order_no}`);
  t.like(order.refunds, [{ refund_no, amount: 12.3, destination: 'balance' }]);
});

test('a user is found by number, name, phone and e-mail address', async (t) => {
  const username = unique('Search');
  const more = {
    username,
    nickname: `何${username}`,
    phone: `139${Date.now()}`,
    email: `${username}@example.com`,
  };
  const { id } = await makeUser(service.admin, more);
  for (const q of [String(id), username.toLowerCase(), more.nickname, more.phone, more.email])
    t.true((await named(q)).includes(`user ${id}`), q);
  t.deepEqual(await named('%%'), [], 'wildcards are text');
});

test('an administrator and a trace are found', async (t) => {
  t.true((await named('admi')).includes('admin 1'));
  const { headers } = await service.admin.put('/profile', { nickname: 'Found' });
  const traceId = headers.get('X-Trace-Id') ?? '';
  await until(async () => (await named(traceId)).includes(`trace ${traceId}`));
  const clerk = await signedInWith(service.admin, ['admin.index', 'admin.show']);
  t.deepEqual(await named(traceId, clerk), []);
  const noteIn = async (language: string): Promise<string> =>
    (await service.admin.get(`/search?q=${traceId}`, { 'Accept-Language': language })).data.list[0].note;
  t.deepEqual([await noteIn('zh-CN'), await noteIn('en-US')], ['修改个人资料', 'Change my profile']);
});

test('each kind is found by who may list and show it only', async (t) => {
  const { admin } = service;
  const { order_no, payment_no } = await makePayment(admin);
  await callBack(service.anonymous, { payment_no, amount: 12.3 });
  const refund = { payment_no, destination: 'balance', reason: 'sold out' };
  const { refund_no } = (await admin.post('/refunds', refund)).data;
  const [user, other] = [await makeUser(admin), await makeAdmin(admin)];
  for (const [kind, text, id] of [
    ['order', order_no, order_no],
    ['payment', order_no, payment_no],
    ['refund', payment_no, refund_no],
    ['user', user.username, user.id],
    ['admin', other.username, other.id],
  ] as const) {
    const found = async (...verbs: string[]) => {
      const slugs = verbs.map((verb) => `${kind}.${verb}`);
      return named(text, await signedInWith(admin, slugs));
    };
    t.deepEqual([await found(), await found('index'), await found('show')], [[], [], []], kind);
    t.deepEqual(await found('index', 'show'), [`${kind} ${id}`]);
  }
  t.is((await service.anonymous.get('/search?q=admin')).status, 401);
});

test('a text too short or too long is refused', async (t) => {
  for (const q of ['', 'a'.repeat(65)])
    t.true([400, 422].includes((await service.admin.get(`/search?q=${q}`)).status), q);
});

for (const path of ['orders', 'payments'])
  test(`the sum of amounts of ${path} is that of what is filtered`, async (t) => {
    const { data } = await service.admin.get(
      `/${path}?page_size=1&order_no=${payment.order_no}&with_sum=true`,
    );
    t.is(data.amount_sum, payment.amount);
    t.false('amount_sum' in (await service.admin.get(`/${path}`)).data);
  });
