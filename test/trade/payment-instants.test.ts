// The instants of a payment: each state has its own, which no later event changes.
import '../support/shared-environment.js';
import test from 'ava';
import { change } from '../../src/lib/database/db.js';
import { expireOrder } from '../../src/models/trade/order.js';
import { callBack, makeMethod, makeOrder, makePayment, type MadePayment } from '../support/factories.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';
import { until } from '../support/until.js';

const { id: methodId } = await makeMethod(service.admin);

const notify = (payment: MadePayment, more: object = {}) => callBack(service.anonymous, payment, more);

const show = async ({ payment_no }: { payment_no: string }) =>
  (await service.admin.get(`/payments/${payment_no}`)).data;

/** The states that count, as the database would have them an hour ago: what moves afterwards is seen. */
async function age({ payment_no, order_no }: MadePayment): Promise<void> {
  for (const [table, column, key] of [
    ['payments', 'closed_at', 'payment_no'],
    ['orders', 'cancelled_at', 'order_no'],
  ])
    await change(
      `UPDATE ${table} SET ${column} = ${column} - INTERVAL 1 HOUR, updated_at = updated_at - INTERVAL 1 HOUR WHERE ${key} = ?`,
      [key === 'payment_no' ? payment_no : order_no],
    );
}

test('a payment is closed when its order is cancelled, and nothing later moves that', async (t) => {
  const payment = await makePayment(service.admin, methodId, '69.00');
  t.like(await show(payment), { status: 'pending', closed_at: null, order: { cancelled_at: null } });
  const before = Date.now();
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  const closed = await show(payment);
  t.is(closed.status, 'cancelled');
  t.true(Date.parse(closed.closed_at) >= before && Date.parse(closed.closed_at) <= Date.now());
  t.is(closed.order.status, 'cancelled');
  t.true(Date.parse(closed.order.cancelled_at) >= before);
  await age(payment);
  const { closed_at, order } = await show(payment);
  t.true(Date.parse(closed_at) < before);
  t.is((await notify(payment, { amount: '70.00' })).status, 400);
  const seen = { needs_attention: false, fail_reason: 'payment_amount_mismatch', remark: 'refunded' };
  t.is((await service.admin.put(`/payments/${payment.payment_no}`, seen)).status, 200);
  const handled = await show(payment);
  t.true(Date.parse(handled.updated_at) >= before);
  t.like(handled, { status: 'cancelled', closed_at, order });
  t.is((await notify(payment)).data.status, 'paid');
  t.like(await show(payment), { status: 'paid', fail_reason: 'order_not_payable', closed_at, order });
});

test('a cancelled order is one change in the operation log', async (t) => {
  const { order_no } = await makeOrder(service.admin, '5.00');
  await service.admin.put(`/orders/${order_no}`, { status: 'cancelled' });
  const entry = await until(async () => {
    const { data } = await service.admin.get(`/operation-logs?path=/api/admin/orders/${order_no}`);
    return data.list[0]?.changes.length > 0 ? data.list[0] : undefined;
  });
  t.deepEqual(entry.changes, [{ field: 'status', old: 'pending', new: 'cancelled' }]);
});

test('a payment is closed when its order expires', async (t) => {
  const { order_no } = await makeOrder(service.admin, '5.00', { expire_in_seconds: 3600 });
  const { data: payment } = await service.admin.post('/payments', { order_no, payment_method_id: methodId });
  await change('UPDATE orders SET expire_at = created_at WHERE order_no = ?', [order_no]);
  const before = Date.now();
  t.is(await expireOrder(order_no), 'cancelled');
  const after = Date.now();
  const { status, closed_at, order } = await show(payment);
  t.is(status, 'cancelled');
  for (const at of [closed_at, order.cancelled_at])
    t.true(Date.parse(at) >= before && Date.parse(at) <= after, at);
  t.like((await service.admin.get(`/orders/${order_no}`)).data, { cancelled_at: order.cancelled_at });
});

test('a payment is closed when another one pays the order', async (t) => {
  const payment = await makePayment(service.admin, methodId, '8.00');
  const { order_no, payment_no } = payment;
  const { data: other } = await service.admin.post('/payments', { order_no, payment_method_id: methodId });
  t.is((await notify(payment)).data.status, 'paid');
  t.like(await show(payment), { status: 'paid', closed_at: null, order: { payment_no } });
  const closed = await show(other);
  t.like(closed, { status: 'cancelled', order: { status: 'paid', payment_no } });
  t.true(Date.parse(closed.closed_at) >= Date.parse(closed.created_at));
});

test('a refused amount is stored with its verdict and reported beside the expected one', async (t) => {
  const payment = await makePayment(service.admin, methodId, '69.00');
  t.is((await notify(payment, { amount: '70.50' })).status, 400);
  const { callbacks } = await show(payment);
  t.deepEqual(
    callbacks.map(({ verdict, reported_amount }: Record<string, unknown>) => ({ verdict, reported_amount })),
    [{ verdict: 'payment_amount_mismatch', reported_amount: 70.5 }],
  );
  const notification = await selectRow<{ content: string }>(
    'SELECT content FROM notifications WHERE content LIKE ?',
    [`${payment.payment_no}:%`],
  );
  t.regex(notification.content, /应为 ¥69\.00，通知为 ¥70\.50.*expected ¥69\.00, reported ¥70\.50/);
  t.is((await notify(payment)).data.status, 'paid');
  const { callbacks: both } = await show(payment);
  t.deepEqual(
    both.map(({ verdict, reported_amount }: Record<string, unknown>) => [verdict, reported_amount]),
    [
      ['paid', null],
      ['payment_amount_mismatch', 70.5],
    ],
  );
});

test('who cleared a reason, when and with which words stays with the payment', async (t) => {
  const payment = await makePayment(service.admin, methodId, '9.00');
  const path = `/payments/${payment.payment_no}`;
  const seen = { needs_attention: false, fail_reason: 'payment_amount_mismatch' };
  await service.admin.put(path, seen);
  t.deepEqual((await show(payment)).handlings, [], 'nothing was to be cleared');
  await notify(payment, { amount: '0.01' });
  t.is((await service.admin.put(path, { ...seen, fail_reason: 'paid_twice' })).status, 400);
  const before = Date.now();
  await service.admin.put(path, { ...seen, remark: 'asked the provider' });
  await notify(payment, { amount: '0.02' });
  await Promise.all([1, 2, 3].map(() => service.admin.put(path, seen)));
  await service.admin.put(path, { remark: 'another word' });
  const { handlings } = await show(payment);
  t.is(handlings.length, 2, 'of several at once one clears it');
  const [first, second] = handlings;
  const { id: admin_id, username } = service.account;
  t.like(first, { reason: seen.fail_reason, remark: 'asked the provider', username, admin_id });
  t.like(second, { reason: seen.fail_reason, remark: null, username });
  t.true(
    Date.parse(first.created_at) >= before && Date.parse(second.created_at) >= Date.parse(first.created_at),
  );
});
