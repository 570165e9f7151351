// Money that arrives twice, late, under a used number or without proof: always recorded, always notified, never applied twice. And
// random sequences of everything that can happen to orders and payments, compared with a small model; test/long/ runs many more.
import '../support/settings/environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { announce } from '../../src/lib/redis/changes.js';
import { paymentKey, paymentPeriod, periodOf, shiftPeriod } from '../../src/lib/values/numbers.js';
import { expireOrder } from '../../src/models/trade/order.js';
import { recordAttempt, recordVerified } from '../../src/models/trade/callback-intake.js';
import type { CallbackKey } from '../../src/models/trade/payment-callback.js';
import { payablePayment } from '../../src/models/trade/payment-placement.js';
import { settle } from '../../src/models/trade/payment-settlement.js';
import { notificationsOf, trace as traceOf, untouched } from '../support/callbacks.js';
import { watchStates } from '../support/model/changes.js';
import {
  callBack,
  makeCompanyMethod,
  makeMethod,
  makeOrder,
  makePayment,
  makePaymentOf,
  placePayment,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { alipayConfig, wechatConfig } from '../support/companies/merchant.js';
import { proveModel } from '../support/model/model-proof.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { inThisThread } from '../support/model/system-under-test.js';
import {
  connectionsAt,
  holding,
  holdingPayment,
  lockWaits,
  otherConnection,
} from '../support/other-connection.js';
import { until } from '../support/until.js';
import { shortNumber } from '../support/companies/wechat-ledger.js';
import { sealed } from '../support/companies/wechat-signature.js';

const service = serviceTest({ withWorker: false });
let methodId: number;

// Without a worker: what waits in the inbox waits until a test settles it.
test.before(async () => {
  methodId = (await makeMethod(service.admin)).id;
});

const pending = () => makePayment(service.admin, methodId);

const trace = (payment: MadePayment) => traceOf(service.admin, payment);

const notify = (payment: MadePayment, more: object = {}) => callBack(service.anonymous, payment, more);

const attempt = ({ payment_no }: MadePayment, third_party_no: string) => ({
  ...{ type: 'mock', ...paymentKey(payment_no), third_party_no },
  ...{ fields: {}, ip: '127.0.0.1', state: 'pending' as const, verdict: 'verified', trace_id: 'test' },
});

/** A verified attempt in the inbox. */
const store = (payment: MadePayment, thirdPartyNo: string): Promise<CallbackKey | undefined> =>
  recordVerified(attempt(payment, thirdPartyNo));

/** The same, stored an instant before its order ended and visible to nobody until then. */
async function storeInTime(payment: MadePayment): Promise<CallbackKey> {
  const key = (await store(payment, unique('T-'))) as CallbackKey;
  const before = 'SELECT cancelled_at - INTERVAL 5000 MICROSECOND FROM orders WHERE order_no = ?';
  await change(`UPDATE payment_callbacks SET created_at = (${before}) WHERE id = ? AND period = ?`, [
    payment.order_no,
    key.id,
    key.period,
  ]);
  return key;
}

/** Places a payment for that order, each time under the same key. */
const placingAgain = (order: { order_no: string }) => {
  const headers = { 'Idempotency-Key': unique('key-') };
  return () => placePayment(service.admin, order, methodId, headers);
};

const pay = async (payment: MadePayment, thirdPartyNo: string) =>
  settle((await store(payment, thirdPartyNo)) as CallbackKey);

/** How often each stored attempt of a payment came. */
const timesOf = async ({ payment_no }: MadePayment): Promise<number[]> => {
  const sql = 'SELECT times FROM payment_callbacks WHERE payment_no = ? ORDER BY id';
  return (await select<{ times: number }>(sql, [payment_no])).map(({ times }) => times);
};

test.serial('open pages learn of a payment that is flagged for a used number', async (t) => {
  const [first, second] = [await pending(), await pending()];
  const number = unique('BANK-');
  t.is(await pay(first, number), 'paid');
  const { changes } = await openSocket(service.url, await ticketOf(service.admin));
  // What was announced before arrives with it.
  announce(['dictionaries']);
  await until(() => changes.flat().includes('dictionaries'));
  changes.length = 0;
  t.is((await notify(second, { transaction_id: number })).errorCode, 'payment_third_party_no_used');
  await until(() => changes.flat().includes('payments'));
});

test('a second third-party number on a paid payment is flagged once', async (t) => {
  const [payment, other] = [await pending(), await pending()];
  const [first, second] = [unique('BANK-'), unique('BANK-')];
  t.is(await pay(payment, first), 'paid');
  t.is(await pay(payment, second), 'paid_twice');
  t.is(await pay(payment, second), 'already_paid', 'the provider repeats itself');
  t.like((await trace(payment)).payment, {
    ...{ status: 'paid', third_party_no: first, needs_attention: true, fail_reason: 'paid_twice' },
  });
  t.deepEqual(await notificationsOf(payment), [true]);
  const refused = await notify(other, { transaction_id: second });
  t.deepEqual([refused.status, refused.errorCode], [400, 'payment_third_party_no_used']);
  t.deepEqual((await trace(other)).verdicts, ['payment_third_party_no_used']);
  t.is((await trace(other)).payment.status, 'pending');
  const aside = { needs_attention: false, fail_reason: 'paid_twice' };
  await service.admin.put(`/payments/${payment.payment_no}`, aside);
  t.is(await pay(payment, second), 'already_paid');
  t.false((await trace(payment)).payment.needs_attention, 'what was put aside stays aside');
});

test('a third-party number already in use is refused before it is acknowledged', async (t) => {
  const [winner, loser] = [await pending(), await pending()];
  const number = unique('T-');
  t.truthy(await store(winner, number), 'not settled yet');
  const answer = await notify(loser, { transaction_id: number });
  t.deepEqual([answer.status, answer.errorCode], [400, 'payment_third_party_no_used']);
  t.like((await trace(loser)).payment, { status: 'pending', fail_reason: 'third_party_no_used' });
});

test('paying an order cancels its other payments', async (t) => {
  const first = await pending();
  const second = await makePaymentOf(service.admin, first, methodId);
  t.is(await pay(first, unique('T-')), 'paid');
  t.is((await trace(second)).payment.status, 'cancelled');
  t.is((await service.admin.get(`/payments?order_no=${first.order_no}&status=pending`)).data.total, 0);
  t.is((await service.admin.get(`/payments?order_no=${first.order_no}&status=cancelled`)).data.total, 1);
  t.is(await pay(second, unique('T-')), 'paid_needs_attention');
  t.like((await trace(second)).payment, { status: 'paid', fail_reason: 'order_not_payable' });
});

test('only a pending payment is placed', async (t) => {
  const { admin } = service;
  const place = placingAgain(await makeOrder(admin));
  const placed = await place();
  t.is(placed.data.gateway.trade_status, 'SUCCESS');
  t.is((await place()).data.gateway.trade_status, 'SUCCESS', 'placed again');
  const other = await makePaymentOf(admin, placed.data, methodId);
  t.is(await pay(other, unique('T-')), 'paid');
  const late = await place();
  t.deepEqual([late.status, late.data.payment_no], [200, placed.data.payment_no]);
  t.deepEqual([late.data.status, late.data.gateway], ['cancelled', undefined]);
  // As releases before left them: a pending payment of a paid order.
  await change("UPDATE payments SET status = 'pending' WHERE payment_no = ?", [placed.data.payment_no]);
  const refused = await place();
  t.deepEqual([refused.status, refused.errorCode], [400, 'order_not_payable']);
});

test('a create repeated under its key returns the payment as it was booked', async (t) => {
  const { admin } = service;
  const order = await makeOrder(admin);
  const place = placingAgain(order);
  const made = (await place()).data;
  const number = unique('T-');
  t.is(await pay(made, number), 'paid');
  const again = await place();
  t.is(again.status, 200);
  t.like(again.data, { payment_no: made.payment_no, status: 'paid', third_party_no: number });
  t.is(again.data.gateway, undefined, 'it is not placed a second time');
  t.is((await admin.get(`/payments?order_no=${order.order_no}`)).data.total, 1);
});

test('a payment that ended while being placed is not placed', async (t) => {
  const { payment_no, order_no } = await pending();
  t.is((await payablePayment(payment_no, order_no)).amount.toString(), '12.30');
  await change("UPDATE payments SET status = 'failed' WHERE payment_no = ?", [payment_no]);
  await t.throwsAsync(payablePayment(payment_no, order_no), { message: /order_not_payable/ });
});

test('a payment is not placed again after its order has expired', async (t) => {
  const order = await makeOrder(service.admin, '1', { expire_in_seconds: 600 });
  const place = placingAgain(order);
  t.truthy((await place()).data.gateway);
  await change('UPDATE orders SET expire_at = NOW(3) WHERE order_no = ?', [order.order_no]);
  const late = await place();
  t.deepEqual([late.status, late.errorCode], [400, 'order_not_payable']);
});

test('money reported in time wins over expiry, cancelling and deleting', async (t) => {
  const { admin } = service;
  const payment = await pending();
  const key = await store(payment, unique('T-'));
  await change('UPDATE orders SET expire_at = NOW(3) - INTERVAL 1 SECOND WHERE order_no = ?', [
    payment.order_no,
  ]);
  t.is(await expireOrder(payment.order_no), 'not_due');
  const path = `/orders/${payment.order_no}`;
  const [cancelled, deleted] = [await admin.put(path, { status: 'cancelled' }), await admin.delete(path)];
  t.deepEqual([cancelled.status, cancelled.errorCode], [400, 'order_being_paid']);
  t.deepEqual([deleted.status, deleted.errorCode], [400, 'order_being_paid']);
  t.is(await settle(key as CallbackKey), 'paid');
  t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false });
});

test.serial('an order that is paid while it expires stays paid', async (t) => {
  const payment = await pending();
  const { order_no } = payment;
  const key = (await store(payment, unique('T-'))) as CallbackKey;
  await change('UPDATE orders SET expire_at = NOW(3) - INTERVAL 1 SECOND WHERE order_no = ?', [order_no]);
  const letPay = await holdingPayment(payment);
  const settling = settle(key);
  await until(async () => (await lockWaits('FROM payments p')) === 1);
  // Nobody looks into the inbox until the settlement is over.
  const inbox = await otherConnection();
  const locking = inbox.query('LOCK TABLES payment_callbacks WRITE');
  await until(async () => (await connectionsAt('LOCK TABLES payment_callbacks%')).length === 1);
  const expiring = expireOrder(order_no);
  await until(async () => (await connectionsAt(`SELECT% = 'pending'%`)).length === 1);
  await letPay();
  t.is(await settling, 'paid');
  await locking;
  await inbox.end();
  t.is(await expiring, 'not_due');
  t.is((await service.admin.get(`/orders/${order_no}`)).data.status, 'paid');
});

test.serial('a flag that is set while its payment is being paid stays', async (t) => {
  const payment = await pending();
  const key = (await store(payment, unique('T-'))) as CallbackKey;
  const flagging = await otherConnection();
  await flagging.query('START TRANSACTION');
  const flag = `UPDATE payments SET needs_attention = 1, fail_reason = 'refunded_elsewhere' WHERE payment_no = ?`;
  await flagging.query(flag, [payment.payment_no]);
  await flagging.query(
    `INSERT INTO notifications (type, title, content, event_key, created_at) VALUES ('system', 'x', 'x', ?, NOW(3))`,
    [`attention-${payment.payment_no}-refunded_elsewhere`],
  );
  const settling = settle(key);
  await until(async () => (await lockWaits('payments p')) === 1);
  await flagging.query('COMMIT');
  await flagging.end();
  t.is(await settling, 'paid');
  const flagged = { status: 'paid', needs_attention: true, fail_reason: 'refunded_elsewhere' };
  t.like((await trace(payment)).payment, flagged);
});

// It empties Redis again and again.
test.serial('any sequence of commands leaves the rows and answers of the model', async (t) => {
  const system = inThisThread(service, methodId);
  t.teardown(() => system.stop());
  await watchStates();
  const done = await proveModel(t, system, {
    runs: 20,
    steps: { minLength: 10, maxLength: 40 },
    restartOneIn: 40,
  });
  t.log(Object.fromEntries([...done].sort()));
});

test('no payment is made or placed while one for its order is being settled', async (t) => {
  const { admin } = service;
  const payment = await pending();
  const { order_no, payment_no } = payment;
  const key = await store(payment, unique('T-'));
  const refused = [
    await placePayment(admin, payment, methodId),
    await admin.post('/payments', { order_no, payment_method_id: methodId }),
    await admin.post(`/payments/${payment_no}/place`, {}),
  ];
  for (const { status, errorCode } of refused) t.deepEqual([status, errorCode], [400, 'order_being_paid']);
  t.is(await settle(key as CallbackKey), 'paid');
  t.is((await admin.get(`/payments?order_no=${order_no}`)).data.total, 1);
});

test('a payment is never in an earlier month than its order', async (t) => {
  const { order_no } = await makeOrder(service.admin);
  // Made on a machine whose clock is in the next month already.
  const month = shiftPeriod(periodOf(new Date()), 1);
  const later = `ORD${month}${order_no.slice(9)}`;
  for (const table of ['order_details', 'orders'])
    await change(`UPDATE ${table} SET order_no = ?, period = ? WHERE order_no = ?`, [later, month, order_no]);
  const payment = await makePaymentOf(service.admin, { order_no: later }, methodId);
  t.is(paymentPeriod(payment.payment_no), month);
  t.is((await service.admin.put(`/orders/${later}`, { status: 'cancelled' })).status, 200);
  t.is((await trace(payment)).payment.status, 'cancelled');
});

test('notices that anybody can send are stored whole once', async (t) => {
  const config = { ...alipayConfig, alipay_public_key: newRsaKeys().publicPem };
  const { id } = await makeCompanyMethod(service.admin, 'alipay', config);
  const payment = await makePayment(service.admin, id);
  const notice = { out_trade_no: payment.payment_no, trade_status: 'TRADE_SUCCESS', sign: 'x' };
  const send = () => service.anonymous.post('//api/payment/notify/alipay', notice);
  for (let times = 0; times < 5; times++) t.is((await send()).status, 501);
  t.deepEqual(await timesOf(payment), [1, 4]);
  const { payment_no } = payment;
  await service.admin.put(`/payments/${payment_no}`, {
    needs_attention: false,
    fail_reason: 'notice_unverified',
  });
  t.is((await send()).status, 501);
  t.is((await trace(payment)).payment.fail_reason, 'notice_unverified', 'after a look it is news again');
  t.is((await timesOf(payment)).length, 3);
});

test('money reported just before its order was cancelled still pays it', async (t) => {
  const payment = await pending();
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  t.is(await settle(await storeInTime(payment)), 'paid');
  const { order, payment: paid } = await trace(payment);
  t.deepEqual([order.status, paid.status, paid.needs_attention], ['paid', 'paid', false]);
});

test('a deleted order is never paid', async (t) => {
  const payment = await pending();
  await service.admin.delete(`/orders/${payment.order_no}`);
  t.is(await settle(await storeInTime(payment)), 'paid_needs_attention');
  const { order, payment: paid } = await trace(payment);
  t.deepEqual([order.status, paid.fail_reason], ['cancelled', 'order_not_payable']);
});

test('one of two payments in time for a cancelled order pays it', async (t) => {
  for (let round = 0; round < 10; round++) {
    const first = await pending();
    const second = await makePaymentOf(service.admin, first, methodId);
    await service.admin.put(`/orders/${first.order_no}`, { status: 'cancelled' });
    const keys = [await storeInTime(first), await storeInTime(second)];
    const results = await Promise.all(keys.map((key) => settle(key)));
    t.deepEqual([...results].sort(), ['paid', 'paid_needs_attention']);
    const winner = [first, second][results.indexOf('paid')] as MadePayment;
    t.like((await trace(winner)).order, { status: 'paid', payment_no: winner.payment_no });
  }
});

test('two attempts under one number settled concurrently need no attention', async (t) => {
  for (let round = 0; round < 10; round++) {
    const payment = await pending();
    const number = unique('T-');
    const keys = [await store(payment, number), await store(payment, number)] as CallbackKey[];
    const results = await Promise.all(keys.map((key) => settle(key)));
    t.deepEqual([...results].sort(), ['already_paid', 'paid']);
    t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false, fail_reason: null });
  }
});

test('a number used meanwhile is refused at settlement', async (t) => {
  const [owner, other] = [await pending(), await pending()];
  const number = unique('T-');
  t.is(await settle(await recordAttempt(attempt(owner, number))), 'paid');
  const late = await recordAttempt(attempt(other, number));
  t.is(await settle(late), 'payment_third_party_no_used');
  t.is(await settle(late), 'payment_third_party_no_used', 'it stays refused');
  const { payment, verdicts } = await trace(other);
  t.like(payment, { status: 'pending', needs_attention: true, fail_reason: 'third_party_no_used' });
  t.deepEqual(verdicts, ['payment_third_party_no_used']);
});

test('a verdict is committed together with its notification', async (t) => {
  const payment = await pending();
  t.is(await pay(payment, unique('T-')), 'paid');
  const twice = (await store(payment, unique('T-'))) as CallbackKey;
  // Somebody else is about to store the same notification, so that this one waits between its statements.
  const letGo = await holding(
    `INSERT INTO notifications (type, title, content, event_key, created_at) VALUES ('system', 'x', 'x', ?, NOW(3))`,
    [`attention-${payment.payment_no}-paid_twice`],
  );
  const settling = settle(twice);
  const waits = () =>
    select(
      `SELECT 1 FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE 'INSERT IGNORE INTO notifications%'`,
    );
  await until(async () => (await waits()).length > 0);
  t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false });
  await letGo();
  t.is(await settling, 'paid_twice');
  t.like((await trace(payment)).payment, { needs_attention: true, fail_reason: 'paid_twice' });
  t.deepEqual(await notificationsOf(payment), [true]);
});

test('an unverifiable notice marks its payment', async (t) => {
  const { id } = await makeCompanyMethod(service.admin, 'alipay', alipayConfig);
  const payment = await makePayment(service.admin, id);
  const notice = { out_trade_no: payment.payment_no, trade_status: 'TRADE_SUCCESS', total_amount: '12.30' };
  const answer = await service.anonymous.post('//api/payment/notify/alipay', notice);
  t.is(answer.status, 501);
  t.like((await trace(payment)).payment, {
    ...{ status: 'pending', needs_attention: true, fail_reason: 'notice_unverified' },
  });
  await service.anonymous.post('//api/payment/notify/alipay', notice);
  t.deepEqual(await notificationsOf(payment), [true]);
  const stranger = await pending();
  await service.anonymous.post('//api/payment/notify/alipay', {
    ...notice,
    out_trade_no: stranger.payment_no,
  });
  t.deepEqual(
    (await trace(stranger)).payment,
    untouched.payment,
    'a payment of another channel is none of it',
  );
  await change("UPDATE payments SET status = 'paid', needs_attention = 0 WHERE payment_no = ?", [
    payment.payment_no,
  ]);
  await service.anonymous.post('//api/payment/notify/alipay', notice);
  t.false((await trace(payment)).payment.needs_attention, 'what is paid needs no proof');
  t.deepEqual(await timesOf(payment), [1, 2], 'nor is it stored whole again');
});

test('a sealed WeChat notice marks its payment only if the key opens it', async (t) => {
  const api_v3_key = 'k'.repeat(32);
  const newMethod = (key: string) =>
    makeCompanyMethod(service.admin, 'wechat', { ...wechatConfig, api_v3_key: key });
  // Of many methods any one may be meant.
  for (let count = 0; count < 25; count++) await newMethod('o'.repeat(32));
  const payment = await makePayment(service.admin, (await newMethod(api_v3_key)).id);
  const inside = { out_trade_no: shortNumber(payment.payment_no), trade_state: 'SUCCESS' };
  const notice = (key: string) => ({
    id: unique('n'),
    event_type: 'TRANSACTION.SUCCESS',
    resource: sealed(JSON.stringify(inside), key),
  });
  const send = (body: object) => service.anonymous.post('//api/payment/notify/wechat', body);
  t.is((await send(notice('x'.repeat(32)))).status, 501);
  t.deepEqual((await trace(payment)).payment, untouched.payment, 'sealed under no key of ours');
  t.is((await send(notice(api_v3_key))).status, 501);
  const { payment: flagged, verdicts } = await trace(payment);
  t.deepEqual([flagged.fail_reason, flagged.needs_attention], ['notice_unverified', true]);
  t.deepEqual(verdicts, ['payment_gateway_not_implemented'], 'it is stored with its payment');
  const short = [0, 1, 15, 16].map((bytes) => Buffer.alloc(bytes, 1).toString('base64'));
  const unsealed = short.map((ciphertext) => ({ ciphertext, nonce: '0123456789ab' }));
  for (const resource of [null, 1, {}, { ciphertext: 'x', nonce: '' }, ...unsealed])
    t.is((await send({ resource })).status, 501);
});
