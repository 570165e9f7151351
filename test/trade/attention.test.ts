// Payments that a person must look at or that wait for too long: listed, notified once, dismissed when they are handled. And
// the instants of a payment: each state has its own, which no later event changes.
import '../support/settings/shared-environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { notificationsOf } from '../support/callbacks.js';
import {
  callBack,
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  makePaymentOf,
  makeUser,
  type MadePayment,
} from '../support/factories.js';
import { exportedCsv } from '../support/exports.js';
import { pruneNotifications } from '../../src/models/office/notification.js';
import { expireOrder } from '../../src/models/trade/order.js';
import { flagForAttention } from '../../src/models/trade/payment-attention.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';
import { sweep } from '../../src/worker/sweeper.js';

const { id: methodId } = await makeMethod(service.admin);

const pending = () => makePayment(service.admin, methodId);

const notify = (payment: MadePayment, more: object = {}) => callBack(service.anonymous, payment, more);

const mismatch = (payment: MadePayment) => notify(payment, { amount: '0.01' });

const clear = async ({ payment_no }: MadePayment, fail_reason: string) =>
  (await service.admin.put(`/payments/${payment_no}`, { needs_attention: false, fail_reason })).data;

const timesNotified = async (payment: MadePayment) => (await notificationsOf(payment)).length;

const needingAttention = async ({ payment_no }: MadePayment) =>
  (await service.admin.get(`/payments?needs_attention=1&payment_no=${payment_no}`)).data.list.map(
    ({ fail_reason }: { fail_reason: string }) => fail_reason,
  );

test('a payment that needs attention is notified once until it is cleared', async (t) => {
  const payment = await pending();
  await Promise.all([1, 2, 3, 4].map(() => mismatch(payment)));
  t.deepEqual(await needingAttention(payment), ['payment_amount_mismatch']);
  t.is(await timesNotified(payment), 1);
  const body = {
    needs_attention: false,
    remark: 'asked the provider',
    fail_reason: 'payment_amount_mismatch',
  };
  const { data } = await service.admin.put(`/payments/${payment.payment_no}`, body);
  t.like(data, { ...body, status: 'pending' });
  t.deepEqual(await needingAttention(payment), []);
  await mismatch(payment);
  await mismatch(payment);
  t.deepEqual(await needingAttention(payment), ['payment_amount_mismatch']);
  t.is(await timesNotified(payment), 2);
  t.is((await notify(payment)).data.status, 'paid');
  const { data: paid } = await service.admin.get(`/payments/${payment.payment_no}`);
  t.like(paid, { status: 'paid', needs_attention: false, fail_reason: null, remark: 'asked the provider' });
});

test('a payment has an assignee, who is listed, exported, logged and may be sent back', async (t) => {
  const { admin } = service;
  const payment = await pending();
  const address = `/payments/${payment.payment_no}`;
  const colleague = await makeAdmin(admin);
  const assigned = await admin.put(address, { assignee_id: colleague.id });
  const assignee = { id: colleague.id, username: colleague.username };
  t.like(assigned.data, { assignee_id: colleague.id, assignee });
  const { list } = (await admin.get(`/payments?assignee_id=${colleague.id}`)).data;
  t.deepEqual(
    list.map((one: MadePayment) => one.payment_no),
    [payment.payment_no],
  );
  t.like(list[0], { assignee });
  const [head = [], row = []] = await exportedCsv(admin, '/payments', { assignee_id: colleague.id });
  t.is(row[head.indexOf('处理人')], colleague.username);
  const logged = await select('SELECT id FROM operation_logs WHERE path LIKE ? AND changes LIKE ?', [
    `%${address}`,
    '%assignee_id%',
  ]);
  t.is(logged.length, 1);
  const other = await makeAdmin(admin, [], { status: 0 });
  for (const id of [other.id, 4_000_000_000]) {
    const refused = await admin.put(address, { assignee_id: id, remark: 'not written' });
    t.deepEqual([refused.status, refused.errorCode], [422, 'admin_unknown']);
  }
  for (const none of [0, '']) {
    t.is((await admin.put(address, { assignee_id: none })).data.assignee_id, null);
    t.is((await admin.put(address, { assignee_id: colleague.id })).status, 200);
  }
  t.is((await admin.put(`/admins/${colleague.id}`, { status: 0 })).status, 200);
  t.is((await admin.put(address, (await admin.get(address)).data)).status, 200);
  t.like((await admin.put(address, { assignee_id: null })).data, { assignee: null, remark: null });
});

test('attention that a good callback cleared is notified again', async (t) => {
  const payment = await pending();
  await mismatch(payment);
  t.is((await notify(payment)).data.status, 'paid');
  t.deepEqual(await needingAttention(payment), []);
  await mismatch(payment);
  await mismatch(payment);
  t.deepEqual(await needingAttention(payment), ['payment_amount_mismatch']);
  t.is(await timesNotified(payment), 2);
});

test('clearing one reason leaves another that nobody has cleared', async (t) => {
  const payment = await pending();
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  t.is((await notify(payment)).data.status, 'paid');
  await mismatch(payment);
  t.deepEqual(await needingAttention(payment), ['payment_amount_mismatch']);
  t.like(await clear(payment, 'payment_amount_mismatch'), {
    needs_attention: true,
    fail_reason: 'order_not_payable',
  });
  t.deepEqual(await needingAttention(payment), ['order_not_payable'], 'money to be refunded stays listed');
  t.is(await timesNotified(payment), 2);
  await mismatch(payment);
  t.is(await timesNotified(payment), 3, 'a cleared reason is notified again');
  t.like(await clear(payment, 'payment_amount_mismatch'), {
    needs_attention: true,
    fail_reason: 'order_not_payable',
  });
  t.like(await clear(payment, 'order_not_payable'), {
    needs_attention: false,
    fail_reason: 'order_not_payable',
  });
  t.deepEqual(await needingAttention(payment), []);
});

test('money that arrives ends the doubts about it, although its order cannot be paid', async (t) => {
  const payment = await pending();
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  for (const doubt of ['notice_unverified', 'channel_unanswered'] as const)
    await flagForAttention(payment.payment_no, doubt);
  await mismatch(payment);
  t.is((await notify(payment)).data.status, 'paid');
  t.like(await clear(payment, 'order_not_payable'), {
    needs_attention: true,
    fail_reason: 'payment_amount_mismatch',
  });
  t.like(await clear(payment, 'payment_amount_mismatch'), { needs_attention: false });
});

test('each further payment is notified and cleared by itself', async (t) => {
  const payment = await pending();
  const pay = (name: string) =>
    notify(payment, { transaction_id: `${name}-${payment.payment_no.slice(-12)}` });
  await pay('first');
  await pay('second');
  t.is(await timesNotified(payment), 1);
  // Somebody looks now, and a third payment arrives before they clear what they saw.
  await pay('third');
  await pay('third');
  t.is(await timesNotified(payment), 2);
  t.like(await clear(payment, 'paid_twice'), { needs_attention: true, fail_reason: 'paid_twice' });
  t.deepEqual(await needingAttention(payment), ['paid_twice']);
  t.like(await clear(payment, 'paid_twice'), { needs_attention: false });
  t.deepEqual(await needingAttention(payment), []);
  await pay('third');
  t.is(await timesNotified(payment), 2);
  await pay('fourth');
  t.is(await timesNotified(payment), 3);
  // Somebody who has seen one callback can make up numbers without end.
  for (let number = 5; number < 15; number++) await pay(`n${number}`);
  t.is(await timesNotified(payment), 10);
});

test('old notifications leave, but not those whose reasons are open', async (t) => {
  const payment = await pending();
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  await notify(payment);
  await change('UPDATE notifications SET created_at = created_at - INTERVAL 400 DAY WHERE content LIKE ?', [
    `${payment.payment_no}:%`,
  ]);
  await mismatch(payment);
  await pruneNotifications();
  t.is(await timesNotified(payment), 2);
  t.like(await clear(payment, 'payment_amount_mismatch'), {
    needs_attention: true,
    fail_reason: 'order_not_payable',
  });
  t.like(await clear(payment, 'order_not_payable'), { needs_attention: false });
  await pruneNotifications();
  t.is(await timesNotified(payment), 1);
});

test('a double payment stays recorded after its attention is cleared', async (t) => {
  const first = await pending();
  const second = await makePaymentOf(service.admin, first, methodId);
  await notify(first);
  await notify(second, { transaction_id: `twice-${second.id}` });
  t.deepEqual(await needingAttention(second), ['order_not_payable']);
  t.deepEqual([await timesNotified(first), await timesNotified(second)], [0, 1]);
  const seen = { needs_attention: false, remark: 'refunded' };
  const early = await service.admin.put(`/payments/${second.id}`, { ...seen, fail_reason: 'paid_twice' });
  t.deepEqual(
    [early.status, early.code, early.errorCode, early.fields],
    [400, 40003, 'payment_attention_changed', ['fail_reason']],
  );
  t.deepEqual(await needingAttention(second), ['order_not_payable'], 'what nobody has seen stays');
  await service.admin.put(`/payments/${second.id}`, { ...seen, fail_reason: 'order_not_payable' });
  t.deepEqual(await needingAttention(second), []);
  await notify(second, { transaction_id: `twice-${second.id}` });
  const { data } = await service.admin.get(`/payments/${second.payment_no}`);
  t.like(data, { status: 'paid', third_party_no: `twice-${second.id}`, needs_attention: false });
  t.is(await timesNotified(second), 1);
});

test('only the remark and the attention of a payment can be changed', async (t) => {
  const payment = await pending();
  const path = `/payments/${payment.payment_no}`;
  const before = (await service.admin.get(path)).data;
  for (const [body, status, code] of [
    [{ needs_attention: true, fail_reason: 'x' }, 422, 30001],
    [{ needs_attention: 'false', fail_reason: 'x' }, 400, 30001],
    [{ needs_attention: null, fail_reason: 'x' }, 400, 30001],
    [{ remark: 'x'.repeat(501) }, 422, 30001],
    [{ remark: 1 }, 400, 30001],
  ] as const) {
    const answer = await service.admin.put(path, body);
    t.deepEqual([answer.status, answer.code, answer.fields], [status, code, [Object.keys(body)[0]]]);
  }
  const ignored = { status: 'paid', amount: 1, third_party_no: 'T', pay_time: before.created_at };
  await service.admin.put(path, { ...ignored, needs_attention: false, fail_reason: 'x' });
  const unnamed = await service.admin.put(path, { needs_attention: false });
  t.deepEqual([unnamed.status, unnamed.fields], [400, ['fail_reason']]);
  const after = (await service.admin.get(path)).data;
  t.deepEqual({ ...after, updated_at: null }, { ...before, updated_at: null });
  t.is((await service.admin.put(path, { remark: 'seen' })).data.remark, 'seen');
  t.is((await service.admin.put(path, { remark: '' })).data.remark, null);
  for (const unknown of ['PAY', '999999999']) {
    const answer = await service.admin.put(`/payments/${unknown}`, { remark: 'x' });
    t.deepEqual([answer.status, answer.code], [404, 20002]);
  }
});

test('payments pending for too long are listed', async (t) => {
  const user_id = (await makeUser(service.admin)).id;
  const made = await Promise.all(
    [1, 2, 3].map(async () =>
      makePaymentOf(service.admin, await makeOrder(service.admin, '1', { user_id }), methodId),
    ),
  );
  const [old, older, paid] = made as [MadePayment, MadePayment, MadePayment];
  const ages: [MadePayment, number][] = [
    [old, 31],
    [older, 61],
    [paid, 61],
  ];
  for (const [{ payment_no }, minutes] of ages) {
    const at = new Date(Date.now() - minutes * 60_000);
    await change('UPDATE payments SET created_at = ? WHERE payment_no = ?', [at, payment_no]);
  }
  await notify(paid);
  const listed = async (minutes: number, more = '') => {
    const path = `/payments?user_id=${user_id}&order_by=id:asc&pending_longer_than=${minutes}${more}`;
    const { data } = await service.admin.get(path);
    t.is(data.total, data.list.length);
    return data.list.map(({ payment_no }: MadePayment) => payment_no).sort();
  };
  t.deepEqual(await listed(30), [old.payment_no, older.payment_no].sort());
  t.deepEqual(await listed(32), [older.payment_no]);
  t.deepEqual(await listed(62), []);
  t.deepEqual(await listed(30, '&status=paid'), []);
  for (const [value, status] of [
    ['0', 422],
    ['-5', 422],
    ['1.5', 400],
    ['long', 400],
    ['99999999', 422],
  ] as const) {
    const answer = await service.admin.get(`/payments?pending_longer_than=${value}`);
    t.deepEqual([answer.status, answer.fields], [status, ['pending_longer_than']], value);
  }
});

test('the sweeper notifies of a payment flagged by a process that crashed', async (t) => {
  const payment = await pending();
  await mismatch(payment);
  const own = 'content LIKE ?';
  const values = [`${payment.payment_no}:%`];
  const socket = await openSocket(service.url, await ticketOf(service.admin));
  await change(
    `UPDATE notifications SET undelivered_since = created_at - INTERVAL 1 HOUR WHERE ${own}`,
    values,
  );
  await sweep();
  const isDelivered = async () =>
    (await select(`SELECT id FROM notifications WHERE undelivered_since IS NULL AND ${own}`, values)).length;
  await until(isDelivered);
  await sweep();
  const frames = () =>
    socket.frames.filter(({ data }) => String(data?.content).startsWith(payment.payment_no)).length;
  await until(() => frames() > 0);
  t.deepEqual([frames(), await timesNotified(payment)], [1, 1]);
});

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

test('clearing attention and cancelling an order are one change each in the operation log', async (t) => {
  const payment = await pending();
  await mismatch(payment);
  await clear(payment, 'payment_amount_mismatch');
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  for (const [path, expected] of [
    [`payments/${payment.payment_no}`, { field: 'needs_attention', old: true, new: false }],
    [`orders/${payment.order_no}`, { field: 'status', old: 'pending', new: 'cancelled' }],
  ] as const) {
    const changes = await until(async () => {
      const { data } = await service.admin.get(`/operation-logs?path=/api/admin/${path}`);
      return data.list[0]?.changes.length > 0 && data.list[0].changes;
    });
    t.deepEqual(changes, [expected], path);
  }
});

test('a payment is closed when its order expires', async (t) => {
  const order = await makeOrder(service.admin, '5.00', { expire_in_seconds: 3600 });
  const payment = await makePaymentOf(service.admin, order, methodId);
  const { order_no } = order;
  await change('UPDATE orders SET expire_at = created_at WHERE order_no = ?', [order_no]);
  const before = Date.now();
  t.is(await expireOrder(order_no), 'cancelled');
  const after = Date.now();
  const shown = await show(payment);
  t.is(shown.status, 'cancelled');
  for (const at of [shown.closed_at, shown.order.cancelled_at])
    t.true(Date.parse(at) >= before && Date.parse(at) <= after, at);
  const { cancelled_at } = shown.order;
  t.like((await service.admin.get(`/orders/${order_no}`)).data, { cancelled_at });
});

test('a payment is closed when another one pays the order', async (t) => {
  const payment = await makePayment(service.admin, methodId, '8.00');
  const { payment_no } = payment;
  const other = await makePaymentOf(service.admin, payment, methodId);
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
