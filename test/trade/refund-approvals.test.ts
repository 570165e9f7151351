// Refunds above REFUND_APPROVAL_ABOVE wait for another administrator than the one who requested them.
import '../support/environment.js';
import '../support/refund-approvals.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { checkEquations } from '../../src/models/figures/consistency.js';
import { outcome, type Client } from '../support/client.js';
import { makeMethod, signedInWith } from '../support/factories.js';
import { booksOf, paidPayment } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
let methodId: number;
let clerk: Client;

test.before(async () => {
  methodId = (await makeMethod(service.admin)).id;
  clerk = await signedInWith(service.admin, ['refund.store', 'refund.approve', 'refund.show']);
});

test.after(async (t) => {
  t.deepEqual(await checkEquations(), []);
});

const ask = (caller: Client, payment: { payment_no: string }, more: object = {}) =>
  caller.post('/refunds', {
    ...{ payment_no: payment.payment_no, destination: 'channel', reason: 'sold out' },
    ...more,
  });

const statusOf = async (refundNo: string): Promise<string | undefined> =>
  (await select<{ status: string }>('SELECT status FROM refunds WHERE refund_no = ?', [refundNo]))[0]?.status;

test('a refund up to the limit needs no approval', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '20.00');
  const { data } = await ask(clerk, payment, { amount: '10.00' });
  await until(async () => (await statusOf(data.refund_no)) === 'succeeded');
  const decided = await service.admin.post(`/refunds/${data.refund_no}/approve`);
  t.deepEqual(outcome(decided), [400, 40001, 'refund_not_waiting']);
});

test('a refund above the limit is reserved, announced, and sent when another administrator approves', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '20.00');
  const { data } = await ask(clerk, payment, { amount: '10.01' });
  t.like(data, { status: 'waiting', due_at: null, sent_at: null });
  t.like(await booksOf(payment), { refund_reserved: '10.01', refunded_amount: '0.00' });
  const { list } = (await service.admin.get('/notifications?page_size=100')).data;
  const notifications = list.filter(({ content }: { content: string }) => content.startsWith(data.refund_no));
  t.is(notifications.length, 1, JSON.stringify(list));
  t.true(notifications[0].content.includes('¥10.01'));
  t.is((await service.admin.post(`/refunds/${data.refund_no}/query`)).data.status, 'waiting');
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => service.admin.post(`/refunds/${data.refund_no}/approve`)),
  );
  const outcomes = answers.map(({ status, errorCode }) => (status === 200 ? 'approved' : errorCode)).sort();
  t.deepEqual(outcomes, ['approved', ...Array.from({ length: 7 }, () => 'refund_not_waiting')]);
  await until(async () => (await statusOf(data.refund_no)) === 'succeeded');
  t.like((await service.admin.get(`/refunds/${data.refund_no}`)).data.approver, { username: 'admin' });
  t.like(await booksOf(payment), { refund_reserved: '10.01', refunded_amount: '10.01' });
});

test('small refunds of one payment that come to more than the limit need approval', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '40.00');
  const part = { amount: '4.00', destination: 'balance' };
  const states = [];
  for (let nth = 0; nth < 4; nth++) states.push((await ask(clerk, payment, part)).data.status);
  t.deepEqual(states, ['succeeded', 'succeeded', 'waiting', 'waiting']);
  t.like(await booksOf(payment), { refund_reserved: '16.00', refunded_amount: '8.00' });
  const other = await paidPayment(service.admin, methodId, '40.00');
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask(clerk, other, part)));
  t.is(answers.filter(({ data }) => data.status === 'succeeded').length, 2, 'also when they come at once');
  t.like(await booksOf(other), { refund_reserved: '20.00', refunded_amount: '8.00' });
});

test('nobody approves what they requested, super administrators neither', async (t) => {
  for (const caller of [service.admin, clerk]) {
    const payment = await paidPayment(service.admin, methodId, '20.00');
    const { refund_no } = (await ask(caller, payment)).data;
    const own = await caller.post(`/refunds/${refund_no}/approve`);
    t.deepEqual(outcome(own), [403, 20003, 'refund_own_request']);
    t.is(await statusOf(refund_no), 'waiting');
    t.like(await booksOf(payment), { refund_reserved: '20.00', refunded_amount: '0.00' });
  }
});

test('a rejected refund releases its amount once', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '20.00');
  const other = (await ask(clerk, payment, { amount: '5.00', destination: 'balance' })).data;
  t.is(other.status, 'succeeded');
  const { refund_no } = (await ask(clerk, payment, { amount: '15.00' })).data;
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => service.admin.post(`/refunds/${refund_no}/reject`, { reason: 'no' })),
  );
  t.is(answers.filter(({ status }) => status === 200).length, 1);
  t.like(await booksOf(payment), { refund_reserved: '5.00', refunded_amount: '5.00' });
  const rejected = (await service.admin.get(`/refunds/${refund_no}`)).data;
  t.like(rejected, { status: 'rejected', fail_reason: 'no', needs_attention: false });
  t.like(rejected.approver, { username: 'admin' });
  t.is((await service.admin.post(`/refunds/${refund_no}/approve`)).errorCode, 'refund_not_waiting');
  const own = (await ask(clerk, payment, { amount: '15.00' })).data;
  t.is((await clerk.post(`/refunds/${own.refund_no}/reject`)).data.status, 'rejected', 'withdrawn');
});

test('the log distinguishes a rejection from an approval', async (t) => {
  const titles: string[][] = [];
  for (const action of ['approve', 'reject']) {
    const payment = await paidPayment(service.admin, methodId, '20.00');
    const { refund_no } = (await ask(clerk, payment)).data;
    await service.admin.post(`/refunds/${refund_no}/${action}`);
    const path = `/operation-logs?path=/refunds/${refund_no}/${action}`;
    const entryIn = async (language: string): Promise<{ title: string; action: string }> =>
      (await service.admin.with({ 'Accept-Language': language }).get(path)).data.list[0];
    const entry = await entryIn('en-US');
    titles.push([(await entryIn('zh-CN')).title, entry.title, entry.action]);
  }
  t.deepEqual(titles, [
    ['审批退款', 'Approve refunds', 'approve'],
    ['驳回退款', 'Reject refunds', 'reject'],
  ]);
});

test('the requester is notified of what somebody else has decided, and nobody else', async (t) => {
  const contents: string[] = [];
  const requester = await signedInWith(service.admin, ['refund.store', 'refund.approve']);
  const receivedBy = async (caller: Client): Promise<string[]> =>
    (await caller.get('/notifications?page_size=100')).data.list
      .filter(({ title }: { title: string }) => /^退款已/.test(title))
      .map(({ title, content }: { title: string; content: string }) => `${title}: ${content}`);
  const decide = async (by: Client, action: string, body: object, destination: string): Promise<string> => {
    const payment = await paidPayment(service.admin, methodId, '20.00');
    const { refund_no } = (await ask(requester, payment, { destination })).data;
    t.is((await by.post(`/refunds/${refund_no}/${action}`, body)).status, 200);
    return `${refund_no}: ¥20.00, ${payment.payment_no}`;
  };
  contents.unshift(
    `退款已批准 / A refund was approved: ${await decide(service.admin, 'approve', {}, 'channel')}`,
  );
  contents.unshift(`退款已批准 / A refund was approved: ${await decide(clerk, 'approve', {}, 'balance')}`);
  const reason = { reason: 'Already replaced' };
  const rejected = await decide(service.admin, 'reject', reason, 'channel');
  contents.unshift(`退款已驳回 / A refund was rejected: ${rejected}: Already replaced`);
  contents.unshift(`退款已驳回 / A refund was rejected: ${await decide(clerk, 'reject', {}, 'channel')}`);
  await decide(requester, 'reject', reason, 'channel');
  t.deepEqual(await receivedBy(requester), contents, 'not of one that was withdrawn');
  const others = await receivedBy(service.admin);
  t.false(others.some((one) => contents.includes(one)));
});

test('approval and rejection at once: one of them happens', async (t) => {
  for (let round = 0; round < 5; round++) {
    const payment = await paidPayment(service.admin, methodId, '20.00');
    const { refund_no, user_id } = (await ask(clerk, payment, { destination: 'balance' })).data;
    const answers = await Promise.all(
      ['approve', 'reject', 'approve', 'reject'].map((action) =>
        service.admin.post(`/refunds/${refund_no}/${action}`),
      ),
    );
    t.is(answers.filter(({ status }) => status === 200).length, 1);
    const { balance } = (await service.admin.get(`/users/${user_id}`)).data;
    const isGiven = (await statusOf(refund_no)) === 'succeeded';
    t.is(balance, isGiven ? 20 : 0);
    t.like(
      await booksOf(payment),
      isGiven
        ? { refund_reserved: '20.00', refunded_amount: '20.00' }
        : { refund_reserved: '0.00', refunded_amount: '0.00' },
    );
  }
});

test('a refund to the balance is given when it is approved', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '20.00');
  const { refund_no, user_id } = (await ask(clerk, payment, { destination: 'balance' })).data;
  t.is((await service.admin.get(`/users/${user_id}`)).data.balance, 0);
  t.is((await service.admin.post(`/refunds/${refund_no}/approve`)).data.status, 'succeeded');
  const logs = (await service.admin.get(`/user-balance-logs?user_id=${user_id}`)).data.list;
  t.is(logs.length, 1);
  t.like(logs[0], { request_id: refund_no, amount: 20, balance_after: 20 });
});
