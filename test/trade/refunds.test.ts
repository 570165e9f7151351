// /refunds: the remaining amount of a payment is refunded once, to its channel or to the balance.
import '../support/settings/shared-environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { checkEquations } from '../../src/models/figures/consistency.js';
import { newRefundNumber, periodOf, refundPeriod, shiftPeriod } from '../../src/lib/values/numbers.js';
import { outcome } from '../support/client.js';
import { exportedCsv } from '../support/exports.js';
import {
  callBack,
  makeCompanyMethod,
  makeMethod,
  makeOrder,
  makePayment,
  makePaymentOf,
  somePaymentNumber,
  unique,
} from '../support/factories.js';
import { wechatConfig } from '../support/companies/merchant.js';
import { booksOf, paidPayment } from '../support/refunds.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const { id: methodId } = await makeMethod(service.admin);

test.after(async (t) => {
  t.deepEqual(await checkEquations(), []);
});

const english = { 'Accept-Language': 'en-US' };

const ask = (body: object, headers?: Record<string, string>) =>
  service.admin.post('/refunds', { destination: 'channel', reason: 'sold out', ...body }, headers);

const refundsOf = ({ payment_no }: { payment_no: string }) =>
  select<{ refund_no: string; status: string; amount: string }>(
    'SELECT refund_no, status, amount FROM refunds WHERE payment_no = ?',
    [payment_no],
  );

const ended = (payment: { payment_no: string }) =>
  until(async () => {
    const refunds = await refundsOf(payment);
    return refunds.every(({ status }) => status === 'succeeded') ? refunds : undefined;
  });

test('forty refunds at once never take more than was paid', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '10.00');
  const { payment_no } = payment;
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask({ payment_no, amount: '0.80' })));
  const taken = answers.filter(({ status }) => status === 200);
  t.is(taken.length, 12);
  for (const { status, code, errorCode } of answers.filter((answer) => !taken.includes(answer)))
    t.deepEqual([status, code, errorCode], [400, 40004, 'refund_exceeds_payment']);
  t.is((await ended(payment)).length, 12);
  t.like(await booksOf(payment), { status: 'paid', refund_reserved: '9.60', refunded_amount: '9.60' });
  const last = await ask({ payment_no });
  t.is(last.data.amount, 0.4);
  await ended(payment);
  const more = await ask({ payment_no }, english);
  t.deepEqual([more.status, more.errorCode], [400, 'refund_exceeds_payment']);
  t.is(more.message, 'The amount is more than the 0.00 that is left to refund');
  t.like(await booksOf(payment), { status: 'paid', refund_reserved: '10.00', refunded_amount: '10.00' });
});

test('a refund is sent to its channel and answered with the payment', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '24.90');
  const { data } = await ask({ payment_no: payment.payment_no, amount: 5.9 });
  t.regex(data.refund_no, /^REF\d{8}[0-9A-HJKMNP-TV-Z]{26}$/);
  t.like(data, {
    payment_no: payment.payment_no,
    order_no: payment.order_no,
    amount: 5.9,
    reason: 'sold out',
  });
  t.like(data, { destination: 'channel', approved_by: null, approver: null, needs_attention: false });
  t.like(data.requester, { username: service.account.username });
  await ended(payment);
  const done = (await service.admin.get(`/refunds/${data.refund_no}`)).data;
  t.like(done, {
    status: 'succeeded',
    channel_refund_no: `MOCK-${data.refund_no}`,
    code: 'SUCCESS',
    tries: 1,
  });
  t.is(done.due_at, null);
  for (const at of ['sent_at', 'accepted_at', 'finished_at']) t.is(typeof done[at], 'string', at);
  const shown = (await service.admin.get(`/payments/${payment.payment_no}`)).data;
  t.like(shown, { status: 'paid', refunded_amount: 5.9, refundable: 19 });
  t.deepEqual(shown.refunds, [done]);
  t.is((await service.admin.get(`/orders/${payment.order_no}`)).data.status, 'paid');
});

test('a refund of a payment in the next month is sent now', async (t) => {
  const { order_no } = await makeOrder(service.admin);
  // Made on a machine whose clock is in the next month already.
  const month = shiftPeriod(periodOf(new Date()), 1);
  const later = `ORD${month}${order_no.slice(9)}`;
  for (const table of ['order_details', 'orders'])
    await change(`UPDATE ${table} SET order_no = ?, period = ? WHERE order_no = ?`, [later, month, order_no]);
  const payment = await makePaymentOf(service.admin, { order_no: later }, methodId);
  await callBack(service.anonymous, payment);
  const { refund_no } = (await ask({ payment_no: payment.payment_no })).data;
  t.is(refundPeriod(refund_no), month);
  await ended(payment);
  t.like(await booksOf(payment), { refund_reserved: '12.30', refunded_amount: '12.30' });
});

test('a refund to the balance is given at once, and once', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '30.00');
  const key = { 'Idempotency-Key': unique('refund-') };
  const body = { payment_no: payment.payment_no, amount: '12.00', destination: 'balance' };
  const answers = await Promise.all(Array.from({ length: 10 }, () => ask(body, key)));
  t.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  const { data } = answers[0] as { data: { refund_no: string; status: string; user_id: number } };
  t.is(data.status, 'succeeded');
  const logs = (await service.admin.get(`/user-balance-logs?user_id=${data.user_id}`)).data.list;
  t.is(logs.length, 1);
  t.like(logs[0], { type: 'refund', amount: 12, source: 'refund', source_id: data.refund_no });
  t.like(logs[0], { request_id: data.refund_no, description: 'sold out' });
  t.is((await service.admin.get(`/users/${data.user_id}`)).data.balance, 12);
  await Promise.all(Array.from({ length: 5 }, () => service.admin.post(`/refunds/${data.refund_no}/query`)));
  t.is((await service.admin.get(`/users/${data.user_id}`)).data.balance, 12);
  t.like(await booksOf(payment), { status: 'paid', refund_reserved: '12.00', refunded_amount: '12.00' });
});

test('a refund to the balance of a deleted user is refused whole', async (t) => {
  const payment = await paidPayment(service.admin, methodId);
  await change(
    'UPDATE users u JOIN payments p ON p.user_id = u.id SET u.deleted_at = NOW(3) WHERE p.payment_no = ?',
    [payment.payment_no],
  );
  const answer = await ask({ payment_no: payment.payment_no, destination: 'balance' });
  t.deepEqual([answer.status, answer.errorCode], [422, 'user_unknown']);
  t.deepEqual(await refundsOf(payment), []);
  t.like(await booksOf(payment), { refund_reserved: '0.00', refunded_amount: '0.00' });
});

test('what cannot be refunded is refused', async (t) => {
  const paid = await paidPayment(service.admin, methodId);
  const { payment_no } = paid;
  const open = await makePayment(service.admin, methodId);
  const refused: [object, number, number, string][] = [
    [{ payment_no, amount: 0 }, 422, 30001, 'value_not_acceptable'],
    [{ payment_no, amount: '-1.00' }, 422, 30001, 'value_not_acceptable'],
    [{ payment_no, amount: 1.001 }, 422, 30001, 'value_not_acceptable'],
    [{ payment_no, amount: 'all' }, 422, 30001, 'value_not_acceptable'],
    [{ payment_no, amount: '12.31' }, 400, 40004, 'refund_exceeds_payment'],
    [{ payment_no, destination: 'cash' }, 422, 30001, 'value_not_acceptable'],
    [{ payment_no, destination: undefined }, 400, 30001, 'validation_failed'],
    [{ payment_no, reason: undefined }, 400, 30001, 'validation_failed'],
    [{ payment_no, reason: 'x'.repeat(81) }, 422, 30001, 'value_not_acceptable'],
    [{}, 400, 30001, 'validation_failed'],
    [{ payment_no: 'PAY' }, 422, 30003, 'payment_unknown'],
    [{ payment_no: somePaymentNumber() }, 422, 30003, 'payment_unknown'],
    [{ payment_no: open.payment_no }, 400, 40004, 'payment_not_refundable'],
    [{ payment_no: open.payment_no, destination: 'balance' }, 400, 40004, 'payment_not_refundable'],
  ];
  for (const [body, ...expected] of refused) {
    const answer = await ask(body);
    t.deepEqual(outcome(answer), expected, JSON.stringify(body));
  }
  t.deepEqual(await refundsOf(paid), []);
  t.like(await booksOf(paid), { refund_reserved: '0.00', refunded_amount: '0.00' });
  const texts = [
    await ask({ payment_no: open.payment_no }),
    await ask({ payment_no: open.payment_no }, english),
  ];
  t.deepEqual(
    texts.map(({ message }) => message),
    ['只有已支付的支付可以退款', 'Only a paid payment can be refunded'],
  );
  const unknown = newRefundNumber(new Date());
  for (const refundNo of [unknown, 'REF', '999999999']) {
    const answer = await service.admin.get(`/refunds/${refundNo}`);
    t.deepEqual(outcome(answer), [404, 20002, 'refund_not_found']);
  }
  for (const action of ['approve', 'reject', 'query'])
    t.is((await service.admin.post(`/refunds/${unknown}/${action}`)).errorCode, 'refund_not_found', action);
});

test('money of a channel that cannot refund goes to the balance', async (t) => {
  const { admin } = service;
  const { id } = await makeCompanyMethod(admin, 'wechat', wechatConfig);
  const payment = await makePayment(admin, id);
  await change(`UPDATE payments SET status = 'paid', pay_time = NOW(3) WHERE payment_no = ?`, [
    payment.payment_no,
  ]);
  const refused = await ask({ payment_no: payment.payment_no });
  t.deepEqual([refused.status, refused.errorCode], [501, 'payment_gateway_not_implemented']);
  t.deepEqual(await refundsOf(payment), []);
  const given = await ask({ payment_no: payment.payment_no, destination: 'balance' });
  t.like(given.data, { status: 'succeeded', destination: 'balance', amount: 12.3 });
});

test('refunds are listed, summed and exported by their filters', async (t) => {
  const payment = await paidPayment(service.admin, methodId, '50.00');
  const { payment_no, order_no } = payment;
  const first = (await ask({ payment_no, amount: '10.00', destination: 'balance' })).data;
  await ask({ payment_no, amount: '15.50' });
  await ended(payment);
  const found = async (query: string) =>
    (await service.admin.get(`/refunds?payment_no=${payment_no}&${query}`)).data;
  t.like(await found('with_sum=1'), { total: 2, amount_sum: 25.5 });
  t.false('amount_sum' in (await found('')));
  const filters: [string, number][] = [
    ['status=succeeded', 2],
    ['status=waiting', 0],
    ['destination=balance', 1],
    ['needs_attention=1', 0],
    [`refund_no=${first.refund_no}`, 1],
    [`order_no=${order_no}`, 2],
    [`user_id=${first.user_id}`, 2],
    ['user_id=999999', 0],
    [`payment_method_id=${methodId}`, 2],
    ['start_time=2100-01-01', 0],
    ['end_time=2100-01-01', 2],
  ];
  for (const [query, total] of filters) t.is((await found(query)).total, total, query);
  const sorted = await found('order_by=amount:desc');
  t.deepEqual(
    sorted.list.map(({ amount }: { amount: number }) => amount),
    [15.5, 10],
  );
  const [heads, ...rows] = await exportedCsv(service.admin.with(english), '/refunds', { payment_no });
  t.is(heads?.[0], 'Refund number');
  t.deepEqual(
    rows.map((row) => [row[6], row[7], row[8]]),
    [
      ['10.00', 'Balance', 'Succeeded'],
      ['15.50', 'Channel', 'Succeeded'],
    ],
  );
});

test('refunds of last month are found by the time at which they finished', async (t) => {
  const { admin } = service;
  const own = (await makeMethod(admin)).id;
  const payment = await paidPayment(admin, own);
  const { refund_no } = (await ask({ payment_no: payment.payment_no, destination: 'balance' })).data;
  const now = new Date();
  const first = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
  const made = new Date(first.getTime() - 10 * 86_400_000);
  const number = newRefundNumber(made);
  await change(
    'UPDATE refunds SET refund_no = ?, period = ?, created_at = ?, finished_at = ? WHERE refund_no = ?',
    [number, refundPeriod(number) ?? 0, made, new Date(first.getTime() + 30 * 60_000), refund_no],
  );
  const range = (day: Date) => {
    const text = day.toISOString().slice(0, 10);
    return { start_time: text, end_time: text, time_field: 'finished_at', payment_method_id: String(own) };
  };
  const found = async (query: Record<string, string>) => {
    const { data } = await admin.get(`/refunds?${new URLSearchParams(query).toString()}&with_sum=true`);
    return [data.list.map((row: { refund_no: string }) => row.refund_no), data.total, data.amount_sum];
  };
  t.deepEqual(await found(range(first)), [[number], 1, 12.3]);
  const none = [[], 0, 0];
  t.deepEqual(await found(range(made)), none);
  t.deepEqual(
    await found({ ...range(first), timezone: 'America/New_York' }),
    none,
    'there it was the day before',
  );
  t.deepEqual(await found({ ...range(first), time_field: 'created_at' }), none);
  t.deepEqual(await found({ ...range(made), time_field: 'created_at' }), [[number], 1, 12.3]);
  const [, ...rows] = await exportedCsv(admin, '/refunds', { ...range(first), payment_method_id: own });
  t.deepEqual(
    rows.map(([no]) => no),
    [number],
  );
});
