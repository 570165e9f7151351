// /orders and /payments: the fields and states of an order, and the payments that are made, placed, asked for and found for it.
import '../support/settings/shared-environment.js';
import test from 'ava';
import fc from 'fast-check';
import { expireOrder } from '../../src/jobs/expire-order.js';
import { change, select } from '../../src/lib/database/db.js';
import { connectRedis } from '../../src/lib/redis/redis.js';
import { outcome } from '../support/client.js';
import { askExport, endOf } from '../support/exports.js';
import {
  callBack,
  makeMethod,
  makeOrder,
  makePayment,
  makeUser,
  mockSign,
  somePaymentNumber,
  unique,
} from '../support/factories.js';
import { paidPayment } from '../support/refunds.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const { admin } = service;
const { id: userId } = await makeUser(admin);
const { id: methodId } = await makeMethod(admin);

test.before(connectRedis);

const line = (price: unknown, quantity: unknown = 1) => ({ product_name: 'Tea', price, quantity });

const place = (body: object) => admin.post('/orders', { user_id: userId, details: [line('1.00')], ...body });

const create = (body: object) => admin.post('/payments', { payment_method_id: methodId, ...body });

const rowCount = (user: number) =>
  selectRow<{ orders: number; details: number }>(
    `SELECT COUNT(DISTINCT o.id) AS orders, COUNT(d.id) AS details
     FROM orders o LEFT JOIN order_details d ON d.order_no = o.order_no WHERE o.user_id = ?`,
    [user],
  );

test('an order carries its lines, its user and the exact sum', async (t) => {
  const details = [{ ...line('12.30', 3), product_id: 7 }, line(0.1, 3), { ...line(0, 1), product_id: 0 }];
  const placed = await place({ details, remark: 'by hand', ignored: true });
  t.is(placed.status, 200);
  t.regex(placed.text, /"amount":37\.20,/);
  t.regex(placed.text, /"price":12\.30,"quantity":3,"subtotal":36\.90/);
  t.regex(placed.text, /"price":0\.10,"quantity":3,"subtotal":0\.30/);
  const order = placed.data;
  t.regex(
    order.order_no,
    new RegExp(`^ORD${new Date().toISOString().slice(0, 7).replace('-', '')}[0-9A-HJKMNP-TV-Z]{26}$`),
  );
  t.like(order, {
    user_id: userId,
    status: 'pending',
    remark: 'by hand',
    expire_at: null,
    paid_at: null,
    payment_no: null,
  });
  t.is(order.user.id, userId);
  t.deepEqual(
    order.details.map((detail: { product_id: number | null }) => detail.product_id),
    [7, null, null],
  );
  const rows = await select<object>('SELECT amount, period FROM orders WHERE order_no = ?', [order.order_no]);
  t.deepEqual(rows, [{ amount: '37.20', period: Number(order.order_no.slice(3, 9)) }]);
  for (const reference of [order.order_no, order.id]) {
    t.deepEqual((await admin.get(`/orders/${reference}`)).data, { ...order, refunds: [] });
  }
});

test('every amount in whole cents comes back with its digits', async (t) => {
  const user = await makeUser(admin);
  await fc.assert(
    fc.asyncProperty(fc.bigInt(0n, 10n ** 15n), fc.boolean(), async (cents, asNumber) => {
      const text = `${cents / 100n}.${String(cents % 100n).padStart(2, '0')}`;
      const price = asNumber ? text : JSON.stringify(text);
      const body = `{"user_id":${user.id},"details":[{"product_name":"x","price":${price},"quantity":1}]}`;
      const { text: answer } = await admin.post('/orders', body);
      t.true(answer.includes(`"amount":${text},`), `${price} became ${answer}`);
    }),
    { numRuns: 60 },
  );
});

test('amounts that are not exact up to 10^13 are refused', async (t) => {
  const user = await makeUser(admin);
  const unacceptable = [
    ...[12.345, 0.1 * 3 + 1e-17, 0.1 + 0.2, 0.001, -0.01, 1e13 + 1, 1e21],
    ...['12.345', '1e3', ' 1', '1 ', '', '-1', '+1', '1.', '.5', '1,5', '0x10', '１', '١', 'NaN'],
    ...['10000000000000.01', '9'.repeat(40)],
  ];
  for (const price of unacceptable) {
    const answer = await place({ user_id: user.id, details: [line(price)] });
    t.is(answer.status, 422, `price ${price}`);
    t.is(answer.code, 30001);
    t.truthy(answer.errors?.['details.0.price']);
  }
  for (const price of [true, null, [1], { amount: 1 }]) {
    const answer = await place({ user_id: user.id, details: [line(price)] });
    t.deepEqual([answer.status, answer.code], [400, 30001], `price ${JSON.stringify(price)}`);
  }
  const tooMuch = await place({ user_id: user.id, details: [line('10000000000000.00'), line('0.01')] });
  t.deepEqual([tooMuch.status, tooMuch.fields], [422, ['amount']]);
  const overflow = await place({ user_id: user.id, details: [line('10000000000000', 1_000_000)] });
  t.is(overflow.status, 422);
  t.deepEqual(await rowCount(user.id), { orders: 0, details: 0 });
});

test('a given amount must be the sum of the lines', async (t) => {
  const details = [line('0.10', 3), line(12, 1)];
  for (const amount of ['12.30', 12.3]) t.is((await place({ details, amount })).status, 200);
  const wrong = await place({ details, amount: '12.31' });
  t.deepEqual(outcome(wrong), [422, 30001, 'order_amount_mismatch']);
  t.is((await place({ details: undefined, products: details, amount: 12.3 })).data.amount, 12.3);
});

test('missing and mistyped fields are 400, invalid values 422', async (t) => {
  const user = await makeUser(admin);
  const good = { user_id: user.id, details: [line('1')] };
  const refused: [object, number, string][] = [
    [{ user_id: undefined }, 400, 'user_id'],
    [{ user_id: String(user.id) }, 400, 'user_id'],
    [{ user_id: [user.id] }, 400, 'user_id'],
    [{ user_id: 0 }, 422, 'user_id'],
    [{ details: undefined }, 400, 'details'],
    [{ details: {} }, 400, 'details'],
    [{ details: [] }, 422, 'details'],
    [{ details: Array.from({ length: 201 }, () => line('1')) }, 422, 'details'],
    [{ details: [{ ...line('1'), product_name: '' }] }, 422, 'details.0.product_name'],
    [{ details: [{ ...line('1'), product_name: 'x'.repeat(201) }] }, 422, 'details.0.product_name'],
    [{ details: [line('1', 0)] }, 422, 'details.0.quantity'],
    [{ details: [line('1', 1.5)] }, 422, 'details.0.quantity'],
    [{ details: [line('1', '2')] }, 400, 'details.0.quantity'],
    [{ remark: 'x'.repeat(501) }, 422, 'remark'],
    [{ expire_in_seconds: 0 }, 422, 'expire_in_seconds'],
    [{ expire_in_seconds: '60' }, 400, 'expire_in_seconds'],
  ];
  for (const [change, status, field] of refused) {
    const answer = await admin.post('/orders', { ...good, ...change });
    t.deepEqual(
      [answer.status, answer.code, answer.fields],
      [status, 30001, [field]],
      JSON.stringify(change).slice(0, 80),
    );
  }
  t.deepEqual(await rowCount(user.id), { orders: 0, details: 0 });
});

test('only a known, enabled user can have an order', async (t) => {
  const unknown = await place({ user_id: 999_999_999 });
  t.deepEqual(outcome(unknown), [422, 30003, 'user_unknown']);
  const disabled = await makeUser(admin, { status: 0 });
  const refused = await place({ user_id: disabled.id });
  t.deepEqual([refused.status, refused.code], [400, 40004]);
  const gone = await makeUser(admin);
  await change('UPDATE users SET deleted_at = NOW(3) WHERE id = ?', [gone.id]);
  t.is((await place({ user_id: gone.id })).code, 30003);
  for (const user of [disabled, gone]) t.deepEqual(await rowCount(user.id), { orders: 0, details: 0 });
});

test('a malformed order reference is not found', async (t) => {
  for (const reference of [
    '0',
    '-1',
    '1.5',
    'ORD',
    'ORD20261301ARZ3NDEKTSV4RRFFQ69G5FAV',
    `ORD202600${'0'.repeat(26)}`,
    `ORD202611${'0'.repeat(25)}U`,
    'abc',
    '9'.repeat(16),
    "1' OR 1=1",
  ]) {
    const answer = await admin.get(`/orders/${encodeURIComponent(reference)}`);
    t.deepEqual(outcome(answer), [404, 20002, 'order_not_found'], reference);
  }
});

test('orders are listed, summed and exported by when they were paid', async (t) => {
  const { order_no } = await paidPayment(admin, methodId);
  const paidAt = new Date(Date.now() + 2 * 86_400_000);
  await change('UPDATE orders SET paid_at = ? WHERE order_no = ?', [paidAt, order_no]);
  const day = paidAt.toISOString().slice(0, 10);
  const range = { start_time: day, end_time: day, order_no };
  const found = async (more: object) => {
    const query = new URLSearchParams({ ...range, ...more, with_sum: 'true' });
    const { data } = await admin.get(`/orders?${query.toString()}`);
    return [data.list.map((row: { order_no: string }) => row.order_no), data.total, data.amount_sum];
  };
  t.deepEqual(await found({ time_field: 'paid_at' }), [[order_no], 1, 12.3]);
  t.deepEqual(await found({}), [[], 0, 0], 'by when they were created');
  const exported = await askExport(admin, '/orders', { ...range, format: 'csv', time_field: 'paid_at' });
  t.is((await endOf(admin, exported)).total_rows, 1);
  const unknown = await admin.get('/orders?time_field=deleted_at');
  t.deepEqual([unknown.status, unknown.fields], [422, ['time_field']]);
});

const paidOrder = async () => {
  const payment = await paidPayment(admin, methodId);
  // A busy machine answers some callbacks before they are settled.
  await until(async () => (await admin.get(`/orders/${payment.order_no}`)).data.status === 'paid');
  return payment.order_no;
};

test('only the remark of a paid order can be changed', async (t) => {
  const orderNo = await paidOrder();
  const changed = await admin.put(`/orders/${orderNo}`, {
    remark: 'seen',
    amount: 1,
    status: undefined,
  });
  t.like(changed.data, { remark: 'seen', status: 'paid', amount: 12.3 });
  t.is((await admin.put(`/orders/${orderNo}`, { remark: '' })).data.remark, null);
  t.is((await admin.put(`/orders/${orderNo}`, { status: 'pending' })).status, 422);
});

test('cancelling an order cancels its pending payments', async (t) => {
  const payment = await makePayment(admin, methodId);
  const cancelled = await admin.put(`/orders/${payment.order_no}`, {
    status: 'cancelled',
    remark: 'changed mind',
  });
  t.like(cancelled.data, { status: 'cancelled', remark: 'changed mind' });
  t.is((await admin.get(`/payments/${payment.payment_no}`)).data.status, 'cancelled');
  t.is((await admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' })).status, 200);
});

test('nobody makes an order paid', async (t) => {
  const { id } = await makeOrder(admin);
  const { status, errorCode } = await admin.put(`/orders/${id}`, { status: 'paid' });
  t.deepEqual([status, errorCode], [422, 'order_status_unsettable']);
});

test('a paid order cannot be cancelled', async (t) => {
  const orderNo = await paidOrder();
  const refused = await admin.put(`/orders/${orderNo}`, { status: 'cancelled', remark: 'never written' });
  t.deepEqual(outcome(refused), [400, 40003, 'order_not_cancellable']);
  t.like((await admin.get(`/orders/${orderNo}`)).data, { status: 'paid', remark: null });
});

test('pending and cancelled orders can be deleted', async (t) => {
  const { order_no, payment_no } = await makePayment(admin, methodId);
  t.is((await admin.delete(`/orders/${order_no}`)).status, 200);
  t.is((await admin.get(`/payments/${payment_no}`)).data.status, 'cancelled');
  const cancelled = await makeOrder(admin);
  await admin.put(`/orders/${cancelled.order_no}`, { status: 'cancelled' });
  t.is((await admin.delete(`/orders/${cancelled.id}`)).status, 200);
  for (const gone of [order_no, cancelled.order_no, cancelled.id]) {
    for (const answer of [
      await admin.get(`/orders/${gone}`),
      await admin.put(`/orders/${gone}`),
      await admin.delete(`/orders/${gone}`),
    ]) {
      t.deepEqual([answer.status, answer.code], [404, 20002]);
    }
  }
  t.is((await admin.get(`/orders?order_no=${order_no}`)).data.total, 0);
  t.is((await select('SELECT id FROM orders WHERE order_no = ?', [order_no])).length, 1);
});

test('a paid order cannot be deleted', async (t) => {
  const paid = await paidOrder();
  const refused = await admin.delete(`/orders/${paid}`);
  t.deepEqual(outcome(refused), [400, 40002, 'order_not_deletable']);
});

test('an expired order is cancelled by its delayed job', async (t) => {
  const order = await makeOrder(admin, '5', { expire_in_seconds: 4 });
  const { data: payment } = await create({ order_no: order.order_no });
  await until(async () => (await admin.get(`/orders/${order.order_no}`)).data.status === 'cancelled');
  t.is((await admin.get(`/payments/${payment.payment_no}`)).data.status, 'cancelled');
  const { lateMs } = await selectRow<{ lateMs: number }>(
    'SELECT TIMESTAMPDIFF(MICROSECOND, expire_at, updated_at) / 1000 AS lateMs FROM orders WHERE order_no = ?',
    [order.order_no],
  );
  t.true(Number(lateMs) >= 0 && Number(lateMs) < 2000, `cancelled after ${lateMs} ms`);
});

test('an expired order without a job is cancelled by the sweeper', async (t) => {
  const [lost, alive] = [await makeOrder(admin), await makeOrder(admin, '1', { expire_in_seconds: 600 })];
  await change('UPDATE orders SET expire_at = ? WHERE order_no = ?', [
    new Date(Date.now() - 5000),
    lost.order_no,
  ]);
  await until(async () => (await admin.get(`/orders/${lost.order_no}`)).data.status === 'cancelled', 10_000);
  t.is((await admin.get(`/orders/${alive.order_no}`)).data.status, 'pending');
});

test('an expiry job cancels only pending orders that have expired', async (t) => {
  const [alive, closed] = [await makeOrder(admin), await makeOrder(admin)];
  await admin.put(`/orders/${closed.order_no}`, { status: 'cancelled' });
  const paid = await paidOrder();
  await change('UPDATE orders SET expire_at = NOW(3) - INTERVAL 1 SECOND WHERE order_no IN (?)', [
    [closed.order_no, paid],
  ]);
  // Set by hand, because a delayed job of its own would hold the key.
  await change('UPDATE orders SET expire_at = NOW(3) + INTERVAL 1 HOUR WHERE order_no = ?', [alive.order_no]);
  for (const [order_no, status] of [
    [alive.order_no, 'pending'],
    [closed.order_no, 'cancelled'],
    [paid, 'paid'],
  ] as const) {
    t.is(await expireOrder.enqueueAndWait({ order_no }, 10_000), 'not_due', status);
    t.is((await admin.get(`/orders/${order_no}`)).data.status, status);
  }
  t.is(await expireOrder.enqueueAndWait({ order_no: 'unknown' }, 10_000), 'not_due');
  await change('UPDATE orders SET expire_at = NOW(3) WHERE order_no = ?', [alive.order_no]);
  t.truthy(await expireOrder.enqueueAndWait({ order_no: alive.order_no }, 10_000), 'it may come again');
  t.is((await admin.get(`/orders/${alive.order_no}`)).data.status, 'cancelled');
});

const paymentsOf = (orderNo: string) =>
  select<{ payment_no: string }>('SELECT payment_no FROM payments WHERE order_no = ?', [orderNo]);

test('a new payment is pending with the amount and user of its order', async (t) => {
  const order = await makeOrder(admin, '24.90');
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
  const { user, status, payment_no, expire_at, paid_at, cancelled_at } = (
    await admin.get(`/orders/${order.order_no}`)
  ).data;
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
    t.deepEqual((await admin.get(`/payments/${reference}`)).data, { ...answer.data, ...own });
  }
});

test('an order that cannot be paid gets no payment', async (t) => {
  const paid = await makePayment(admin, methodId);
  await callBack(service.anonymous, paid);
  const cancelled = await makeOrder(admin);
  await admin.put(`/orders/${cancelled.order_no}`, { status: 'cancelled' });
  const expired = await makeOrder(admin, '1', { expire_in_seconds: 600 });
  await change('UPDATE orders SET expire_at = NOW(3) WHERE order_no = ?', [expired.order_no]);
  const deleted = await makeOrder(admin);
  await admin.delete(`/orders/${deleted.order_no}`);
  const open = await makeOrder(admin);
  const off = await makeMethod(admin, undefined, { is_active: false });
  const overUnknown = { order_no: open.order_no, payment_method_id: 999_999 };
  const overDisabled = { order_no: open.order_no, payment_method_id: off.id };
  const refused: [object, number, number, string][] = [
    [{ order_no: paid.order_no }, 400, 40001, 'order_not_payable'],
    [{ order_no: cancelled.order_no }, 400, 40001, 'order_not_payable'],
    [{ order_no: expired.order_no }, 400, 40001, 'order_not_payable'],
    [{ order_no: deleted.order_no }, 422, 30003, 'order_unknown'],
    [{ order_no: 'ORD202601ARZ3NDEKTSV4RRFFQ69G5FAVA' }, 422, 30003, 'order_unknown'],
    [{ order_no: open.order_no, amount: '12.31' }, 422, 30001, 'payment_amount_not_equal'],
    [overUnknown, 422, 30003, 'payment_method_unknown'],
    [{ ...overUnknown, initiate: true }, 422, 30003, 'payment_method_unknown'],
    [overDisabled, 400, 40001, 'payment_method_disabled'],
    [{ ...overDisabled, initiate: true }, 400, 40001, 'payment_method_disabled'],
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
  await callBack(service.anonymous, payment, { transaction_id: 'T-query' });
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
      await admin.get(`/payments/${reference}`),
      await admin.post(`/payments/${reference}/query`),
    ]) {
      t.deepEqual(outcome(answer), [404, 20002, 'payment_record_not_found'], reference);
    }
  }
});

test('payments are filtered by number, order, third-party number, method, user and status', async (t) => {
  const method = await makeMethod(admin);
  const [first, second] = [await makePayment(admin, method.id), await makePayment(admin, method.id)];
  const thirdParty = unique('100%_');
  await callBack(service.anonymous, first, { transaction_id: thirdParty });
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
  const { payment_no, order_no } = await makePayment(admin, methodId, '7.00');
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
  const paid = await paidPayment(admin, methodId);
  const cancelled = await makePayment(admin, methodId);
  await admin.put(`/orders/${cancelled.order_no}`, { status: 'cancelled' });
  for (const { payment_no } of [paid, cancelled]) {
    const { status, errorCode } = await admin.post(`/payments/${payment_no}/place`);
    t.deepEqual([status, errorCode], [400, 'order_not_payable']);
  }
  t.is((await admin.post(`/payments/${unique('PAY')}/place`)).status, 404);
});

test('a disabled method places no payments', async (t) => {
  const method = await makeMethod(admin);
  const { payment_no } = await makePayment(admin, method.id);
  await admin.put(`/payment-methods/${method.id}`, { is_active: false });
  const { status, errorCode } = await admin.post(`/payments/${payment_no}/place`);
  t.deepEqual([status, errorCode], [400, 'payment_method_disabled']);
  t.is((await admin.get(`/payments/${payment_no}`)).data.status, 'pending');
});
