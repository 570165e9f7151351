// /payments: creating, placing, asking for and finding payments.
import '../support/shared-environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { outcome } from '../support/client.js';
import {
  callBack,
  makeMethod,
  makeOrder,
  makePayment,
  mockSign,
  somePaymentNumber,
  unique,
} from '../support/factories.js';
import { paidPayment } from '../support/refunds.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const { id: methodId } = await makeMethod(service.admin);

const pay = (payment: { payment_no: string; amount: number }, more: object = {}) =>
  callBack(service.anonymous, payment, more);

const create = (body: object, headers?: Record<string, string>) =>
  service.admin.post('/payments', { payment_method_id: methodId, ...body }, headers);

const paymentsOf = (orderNo: string) =>
  select<{ payment_no: string }>('SELECT payment_no FROM payments WHERE order_no = ?', [orderNo]);

test('a new payment is pending with the amount and user of its order', async (t) => {
  const order = await makeOrder(service.admin, '24.90');
  const answer = await create({ order_no: order.order_no, remark: 'counter', amount: '24.9' });
  t.is(answer.status, 200);
  t.regex(answer.text, /"amount":24\.90,/);
  const today = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  t.regex(answer.data.payment_no, new RegExp(`^PAY${today}[0-9A-HJKMNP-TV-Z]{26}$`));
  t.like(answer.data, {
    order_no: order.order_no,
    status: 'pending',
    remark: 'counter',
    third_party_no: null,
    pay_time: null,
  });
  t.like(answer.data, { payment_method_id: methodId, needs_attention: false, fail_reason: null });
  t.like(answer.data.payment_method, { id: methodId, type: 'mock' });
  t.false('gateway' in answer.data);
  const { status, payment_no, expire_at, paid_at, cancelled_at } = (
    await service.admin.get(`/orders/${order.order_no}`)
  ).data;
  const { user } = (await service.admin.get(`/orders/${order.order_no}`)).data;
  const own = {
    user,
    order: { status, payment_no, expire_at, paid_at, cancelled_at },
    callbacks: [],
    follow_up: null,
    handlings: [],
    refunds: [],
    refundable: 0,
  };
  for (const reference of [answer.data.payment_no, answer.data.id]) {
    t.deepEqual((await service.admin.get(`/payments/${reference}`)).data, { ...answer.data, ...own });
  }
});

test('an order that cannot be paid gets no payment', async (t) => {
  const { admin } = service;
  const paid = await makePayment(admin, methodId);
  await pay(paid);
  const cancelled = await makeOrder(admin);
  await admin.put(`/orders/${cancelled.order_no}`, { status: 'cancelled' });
  const expired = await makeOrder(admin, '1', { expire_in_seconds: 600 });
  await change('UPDATE orders SET expire_at = NOW(3) WHERE order_no = ?', [expired.order_no]);
  const deleted = await makeOrder(admin);
  await admin.delete(`/orders/${deleted.order_no}`);
  const open = await makeOrder(admin);
  const off = await makeMethod(admin, undefined, { is_active: false });
  const refused: [object, number, number, string][] = [
    [{ order_no: paid.order_no }, 400, 40001, 'order_not_payable'],
    [{ order_no: cancelled.order_no }, 400, 40001, 'order_not_payable'],
    [{ order_no: expired.order_no }, 400, 40001, 'order_not_payable'],
    [{ order_no: deleted.order_no }, 422, 30003, 'order_unknown'],
    [{ order_no: 'ORD202601ARZ3NDEKTSV4RRFFQ69G5FAVA' }, 422, 30003, 'order_unknown'],
    [{ order_no: open.order_no, amount: '12.31' }, 422, 30001, 'payment_amount_not_equal'],
    [{ order_no: open.order_no, payment_method_id: 999_999 }, 422, 30003, 'payment_method_unknown'],
    [
      { order_no: open.order_no, payment_method_id: 999_999, initiate: true },
      422,
      30003,
      'payment_method_unknown',
    ],
    [{ order_no: open.order_no, payment_method_id: off.id }, 400, 40001, 'payment_method_disabled'],
    [
      { order_no: open.order_no, payment_method_id: off.id, initiate: true },
      400,
      40001,
      'payment_method_disabled',
    ],
    [{ order_no: undefined }, 400, 30001, 'validation_failed'],
    [{ order_no: [open.order_no] }, 400, 30001, 'validation_failed'],
    [{ order_no: open.order_no, payment_method_id: undefined }, 400, 30001, 'validation_failed'],
    [{ order_no: open.order_no, payment_method_id: '1' }, 400, 30001, 'validation_failed'],
    [{ order_no: open.order_no, initiate: 'yes' }, 400, 30001, 'validation_failed'],
    [{ order_no: open.order_no, amount: 12.301 }, 422, 30001, 'value_not_acceptable'],
    [{ order_no: open.order_no, remark: 'x'.repeat(501) }, 422, 30001, 'value_not_acceptable'],
  ];
  for (const [body, ...expected] of refused) {
    const answer = await create(body);
    t.deepEqual(outcome(answer), expected, JSON.stringify(body));
  }
  for (const { order_no } of [cancelled, expired, deleted, open]) t.deepEqual(await paymentsOf(order_no), []);
});

test('initiate places the payment with the channel', async (t) => {
  const { admin } = service;
  const unsigned = await makeMethod(admin, '', { config: { notify_url: 'https://shop.test/notify' } });
  const order = await makeOrder(admin, '0.10');
  const { data } = await create({ order_no: order.order_no, initiate: true });
  t.deepEqual(data.gateway, {
    type: 'mock',
    payment_no: data.payment_no,
    gateway: 'mock',
    amount: 0.1,
    notify_url: 'https://back-office.test/api/payment/notify/mock',
    trade_status: 'SUCCESS',
    sign: mockSign(data.payment_no, '0.10'),
  });
  const other = await create({ order_no: order.order_no, payment_method_id: unsigned.id, initiate: true });
  t.is(other.data.gateway.notify_url, 'https://shop.test/notify');
  t.false('sign' in other.data.gateway);
  t.is((await paymentsOf(order.order_no)).length, 2);
});

test('querying a mock payment returns its state', async (t) => {
  const { admin } = service;
  const state = async (reference: string | number) => (await admin.post(`/payments/${reference}/query`)).data;
  const payment = await makePayment(admin, methodId, '8.00');
  t.deepEqual(await state(payment.payment_no), {
    payment_no: payment.payment_no,
    status: 'pending',
    trade_state: 'NOTPAY',
    third_party_no: null,
    amount: 8,
    pay_time: null,
  });
  await pay(payment, { transaction_id: 'T-query' });
  t.like(await state(payment.payment_no), {
    status: 'paid',
    trade_state: 'SUCCESS',
    third_party_no: 'T-query',
  });
  const [closed, revoked] = [await makePayment(admin, methodId), await makePayment(admin, methodId)];
  await admin.put(`/orders/${closed.order_no}`, { status: 'cancelled' });
  await change(`UPDATE payments SET status = 'failed' WHERE payment_no = ?`, [revoked.payment_no]);
  t.is((await state(closed.payment_no)).trade_state, 'CLOSED');
  t.is((await state(revoked.payment_no)).trade_state, 'REVOKED');
});

test('unknown payments are not found', async (t) => {
  const unknown = somePaymentNumber(new Date());
  for (const reference of [
    unknown,
    'PAY',
    '0',
    '999999999',
    'PAY20261399ARZ3NDEKTSV4RRFFQ69G5FAVA',
    `${unknown}x`,
  ]) {
    for (const answer of [
      await service.admin.get(`/payments/${reference}`),
      await service.admin.post(`/payments/${reference}/query`),
    ]) {
      t.deepEqual(outcome(answer), [404, 20002, 'payment_record_not_found'], reference);
    }
  }
});

test('payments are filtered by number, order, third-party number, method, user and status', async (t) => {
  const { admin } = service;
  const method = await makeMethod(admin);
  const [first, second] = [await makePayment(admin, method.id), await makePayment(admin, method.id)];
  const thirdParty = unique('100%_');
  await pay(first, { transaction_id: thirdParty });
  const found = async (query: string) => {
    const { data } = await admin.get(`/payments?payment_method_id=${method.id}&order_by=id:asc&${query}`);
    t.is(data.total, data.list.length);
    return data.list.map(({ payment_no }: { payment_no: string }) => payment_no);
  };
  const { data: shown } = await admin.get(`/payments/${first.payment_no}`);
  t.deepEqual(await found(''), [first.payment_no, second.payment_no]);
  t.deepEqual(await found(`payment_no=${second.payment_no.slice(11)}`), [second.payment_no]);
  t.deepEqual(await found(`order_no=${first.order_no}`), [first.payment_no]);
  t.deepEqual(await found(`third_party_no=${encodeURIComponent('100%_')}`), [first.payment_no]);
  t.deepEqual(await found(`user_id=${shown.user_id}`), [first.payment_no]);
  t.deepEqual(await found('status=pending&needs_attention=false'), [second.payment_no]);
  t.deepEqual(await found('needs_attention=true'), []);
  t.deepEqual(await found('start_time=2000-01-01&end_time=2000-01-31&time_field=pay_time'), []);
});

test('a pending payment can be placed repeatedly', async (t) => {
  const { admin } = service;
  const method = await makeMethod(admin);
  const { payment_no, order_no } = await makePayment(admin, method.id, '7.00');
  for (let time = 0; time < 2; time++) {
    const { status, data } = await admin.post(`/payments/${payment_no}/place`);
    t.is(status, 200);
    t.like(data, { payment_no, status: 'pending', gateway: { sign: mockSign(payment_no, '7.00') } });
  }
  t.is((await paymentsOf(order_no)).length, 1);
  const logged = await until(
    async () => (await admin.get(`/operation-logs?path=/payments/${payment_no}/place`)).data.list[0],
  );
  t.like(logged, { module: 'payment', action: 'place', record_key: payment_no });
});

test('a paid, cancelled or unknown payment cannot be placed', async (t) => {
  const { admin } = service;
  const method = await makeMethod(admin);
  const paid = await paidPayment(admin, method.id);
  t.like(await admin.post(`/payments/${paid.payment_no}/place`), {
    status: 400,
    errorCode: 'order_not_payable',
  });
  const cancelled = await makePayment(admin, method.id);
  await admin.put(`/orders/${cancelled.order_no}`, { status: 'cancelled' });
  t.like(await admin.post(`/payments/${cancelled.payment_no}/place`), {
    status: 400,
    errorCode: 'order_not_payable',
  });
  t.is((await admin.post(`/payments/${unique('PAY')}/place`)).status, 404);
});

test('a disabled method places no payments', async (t) => {
  const { admin } = service;
  const method = await makeMethod(admin);
  const { payment_no } = await makePayment(admin, method.id);
  await admin.put(`/payment-methods/${method.id}`, { is_active: false });
  t.like(await admin.post(`/payments/${payment_no}/place`), {
    status: 400,
    errorCode: 'payment_method_disabled',
  });
  t.like(await selectRow('SELECT status FROM payments WHERE payment_no = ?', [payment_no]), {
    status: 'pending',
  });
});
