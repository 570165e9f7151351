// How an order moves on from pending: paid, cancelled, expired, deleted.
import '../support/shared-environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { expireOrder } from '../../src/jobs/expire-order.js';
import { makeMethod, makeOrder, makePayment, mockCallback } from '../support/factories.js';
import { connectRedis } from '../../src/lib/redis/redis.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

test.before(connectRedis);

const paidOrder = async () => {
  const method = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, method.id);
  await service.anonymous.post('//api/payment/notify/mock', mockCallback(payment));
  // A busy machine answers some callbacks before they are settled.
  await until(async () => (await service.admin.get(`/orders/${payment.order_no}`)).data.status === 'paid');
  return payment.order_no;
};

test('only the remark of a paid order can be changed', async (t) => {
  const orderNo = await paidOrder();
  const changed = await service.admin.put(`/orders/${orderNo}`, {
    remark: 'seen',
    amount: 1,
    status: undefined,
  });
  t.like(changed.data, { remark: 'seen', status: 'paid', amount: 12.3 });
  t.is((await service.admin.put(`/orders/${orderNo}`, { remark: '' })).data.remark, null);
  t.is((await service.admin.put(`/orders/${orderNo}`, { status: 'pending' })).status, 422);
});

test('cancelling an order cancels its pending payments', async (t) => {
  const { admin } = service;
  const method = await makeMethod(admin);
  const payment = await makePayment(admin, method.id);
  const cancelled = await admin.put(`/orders/${payment.order_no}`, {
    status: 'cancelled',
    remark: 'changed mind',
  });
  t.like(cancelled.data, { status: 'cancelled', remark: 'changed mind' });
  t.is((await admin.get(`/payments/${payment.payment_no}`)).data.status, 'cancelled');
  t.is((await admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' })).status, 200);
});

test('a paid order cannot be cancelled', async (t) => {
  const { admin } = service;
  const orderNo = await paidOrder();
  const refused = await admin.put(`/orders/${orderNo}`, { status: 'cancelled', remark: 'never written' });
  t.deepEqual([refused.status, refused.code, refused.errorCode], [400, 40003, 'order_not_cancellable']);
  t.like((await admin.get(`/orders/${orderNo}`)).data, { status: 'paid', remark: null });
});

test('pending and cancelled orders can be deleted', async (t) => {
  const { admin } = service;
  const method = await makeMethod(admin);
  const { order_no, payment_no } = await makePayment(admin, method.id);
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
  const { admin } = service;
  const paid = await paidOrder();
  const refused = await admin.delete(`/orders/${paid}`);
  t.deepEqual([refused.status, refused.code, refused.errorCode], [400, 40002, 'order_not_deletable']);
});

test('an expired order is cancelled by its delayed job', async (t) => {
  const { admin } = service;
  const payment_method_id = (await makeMethod(admin)).id;
  const order = await makeOrder(admin, '5', { expire_in_seconds: 2 });
  const body = { order_no: order.order_no, payment_method_id };
  const { data: payment } = await admin.post('/payments', body);
  await until(async () => (await admin.get(`/orders/${order.order_no}`)).data.status === 'cancelled');
  t.is((await admin.get(`/payments/${payment.payment_no}`)).data.status, 'cancelled');
  const [row] = await select<{ lateMs: number }>(
    'SELECT TIMESTAMPDIFF(MICROSECOND, expire_at, updated_at) / 1000 AS lateMs FROM orders WHERE order_no = ?',
    [order.order_no],
  );
  t.true(Number(row?.lateMs) >= 0 && Number(row?.lateMs) < 2000, `cancelled after ${row?.lateMs} ms`);
});

test('an expired order without a job is cancelled by the sweeper', async (t) => {
  const { admin } = service;
  const [lost, alive] = [await makeOrder(admin), await makeOrder(admin, '1', { expire_in_seconds: 600 })];
  await change('UPDATE orders SET expire_at = ? WHERE order_no = ?', [
    new Date(Date.now() - 5000),
    lost.order_no,
  ]);
  await until(async () => (await admin.get(`/orders/${lost.order_no}`)).data.status === 'cancelled', 10_000);
  t.is((await admin.get(`/orders/${alive.order_no}`)).data.status, 'pending');
});

test('an expiry job cancels only pending orders that have expired', async (t) => {
  const { admin } = service;
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
