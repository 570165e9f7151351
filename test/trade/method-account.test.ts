// The account of a payment method: it stays while its company owes an answer, and can be corrected otherwise.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { change as changeRows } from '../../src/lib/database/db.js';
import { follow, followUpOf, unfollow } from '../../src/models/trade/payment-follow-up.js';
import { runRefund } from '../../src/models/trade/refund-run.js';
import { AlipayPlatform } from '../support/alipay-platform.js';
import type { Answer } from '../support/client.js';
import { companiesTest, types } from '../support/companies.js';
import { makeOrder, unique } from '../support/factories.js';
import { refused, yes } from '../support/notices.js';
import { booksOf, refundRow } from '../support/refunds.js';
import { holding, lockWaits } from '../support/other-connection.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
const companies = companiesTest(service);

const otherAccount = { app_id: '2021000000000099', seller_id: '2088531891668799' };

const change = (id: number, config: Record<string, string>, more: object = {}): Promise<Answer> =>
  service.admin.put(`/payment-methods/${id}`, { config, ...more });

/** A pending payment over that method. */
async function newPayment(payment_method_id: number, more: object = {}): Promise<Answer> {
  const { order_no } = await makeOrder(service.admin, '69.00', { expire_in_seconds: 3600 });
  return service.admin.post('/payments', { order_no, payment_method_id, ...more });
}

const place = (paymentNo: string): Promise<Answer> => service.admin.post(`/payments/${paymentNo}/place`);

const accountOf = ({ data }: Answer): string | null =>
  new URL(data.gateway.pay_url).searchParams.get('app_id');

test.serial(
  'an account that changes just before a payment is followed is the one it is placed in',
  async (t) => {
    const id = await companies.newMethod('alipay');
    const { payment_no } = (await newPayment(id)).data;
    const letGo = await holding(
      `INSERT INTO payment_follow_ups (payment_no, period, type, expire_at, until_at, due_at, created_at)
     VALUES (?, 202611, 'alipay', NOW(3), NOW(3), NOW(3), NOW(3))`,
      [payment_no],
    );
    const placing = place(payment_no);
    await until(async () => (await lockWaits('payment_follow_ups')) > 0);
    t.is((await change(id, otherAccount)).status, 200);
    await letGo();
    t.is(accountOf(await placing), otherAccount.app_id);
    t.is((await change(id, companies.alipay.resultConfig)).errorCode, 'payment_method_account_in_use');
  },
);

test.serial('placing waits for a change of the account that is under way', async (t) => {
  const id = await companies.newMethod('alipay');
  const { payment_no } = (await newPayment(id)).data;
  const code = unique('code_');
  const letGo = await holding(
    `INSERT INTO payment_methods (name, code, type, config, secrets, is_active, sort, created_at, updated_at)
     VALUES ('x', ?, 'alipay', '{}', '{}', 1, 0, NOW(3), NOW(3))`,
    [code],
  );
  // It has found nothing open and waits for that code.
  const changing = change(id, otherAccount, { code });
  await until(async () => (await lockWaits('payment_methods')) > 0);
  const placing = place(payment_no);
  await until(async () => (await lockWaits('payment_methods')) > 1);
  await letGo();
  t.is((await changing).status, 200);
  t.is(accountOf(await placing), otherAccount.app_id);
});

const refund = ({ payment_no }: { payment_no: string }, destination: string): Promise<Answer> =>
  service.admin.post('/refunds', { payment_no, destination, reason: 'sold out' });

/** A run of a refund that is due. */
async function run(refundNo: string): Promise<void> {
  await changeRows('UPDATE refunds SET due_at = created_at WHERE refund_no = ?', [refundNo]);
  await runRefund(refundNo, new AbortController().signal);
}

test.serial(
  'a refund in an account that does not know its payment fails, and the money can go back',
  async (t) => {
    const { alipay } = companies;
    const second = await AlipayPlatform.start();
    t.teardown(() => second.stop());
    Object.assign(second, { appId: otherAccount.app_id, sellerId: otherAccount.seller_id });
    const id = await companies.newMethod('alipay');
    const { data: payment } = await newPayment(id, { initiate: true });
    alipay.pay(payment.gateway.pay_url);
    await service.admin.post(`/payments/${payment.payment_no}/query`);
    t.is((await change(id, second.resultConfig)).status, 200);
    const { refund_no } = (await refund(payment, 'channel')).data;
    await run(refund_no);
    t.is((await refundRow(refund_no)).status, 'processing', 'a query confirms it');
    t.is((await change(id, alipay.resultConfig)).errorCode, 'payment_method_account_in_use');
    await run(refund_no);
    t.like(await refundRow(refund_no), {
      ...{ status: 'failed', code: 'ACQ.TRADE_NOT_EXIST', fail_reason: 'refund_failed', needs_attention: 1 },
    });
    t.like(await booksOf(payment), { refund_reserved: '0.00', refunded_amount: '0.00' });
    t.is((await change(id, alipay.resultConfig)).status, 200);
    const again = (await refund(payment, 'channel')).data;
    await changeRows(`UPDATE refunds SET status = 'waiting' WHERE refund_no = ?`, [again.refund_no]);
    t.is(
      (await change(id, second.resultConfig)).errorCode,
      'payment_method_account_in_use',
      'one that waits',
    );
    await changeRows(`UPDATE refunds SET status = 'pending' WHERE refund_no = ?`, [again.refund_no]);
    // Refunds of one payment keep their distance.
    await changeRows('UPDATE refunds SET sent_at = created_at - INTERVAL 1 MINUTE WHERE refund_no = ?', [
      refund_no,
    ]);
    await run(again.refund_no);
    t.like(await booksOf(payment), { refunded_amount: '69.00' });
  },
);

const inUse = { status: 400, errorCode: 'payment_method_account_in_use' };

test.serial('nothing that names the account changes while a payment is open in it', async (t) => {
  const others = {
    wechat: { app_id: 'wx0000000000000000', mch_id: '1900000009', gateway: companies.alipay.url },
    alipay: { app_id: otherAccount.app_id, gateway: companies.wechat.url },
  };
  for (const type of types) {
    const id = await companies.newMethod(type);
    await companies.place(type, { methodId: id });
    for (const [name, value] of Object.entries(others[type]))
      t.like(await change(id, { [name]: value }), inUse, `${type} ${name}`);
    t.is((await change(id, { notify_url: 'https://shop.test/' })).status, 200);
  }
});

test.serial('a wrong merchant is corrected after the company has refused a payment', async (t) => {
  const { wechat } = companies;
  const id = await companies.newMethod('wechat', { mch_id: '1900000009' });
  const refused = await newPayment(id, { initiate: true });
  t.like(refused, { status: 502, errorCode: 'third_party_error' });
  t.is((await change(id, { mch_id: wechat.mchId })).status, 200);
  const [payment] = (await service.admin.get('/payments?status=pending&page_size=1')).data.list;
  t.is(payment.payment_method_id, id);
  t.is((await place(payment.payment_no)).status, 200);
  t.like(await change(id, { mch_id: '1900000009' }), inUse);
});

test.serial(
  'a wrong seller is corrected while a payment is open, and its callback is then taken',
  async (t) => {
    const { alipay } = companies;
    const id = await companies.newMethod('alipay', { seller_id: otherAccount.seller_id });
    const { data: payment } = await newPayment(id, { initiate: true });
    alipay.pay(payment.gateway.pay_url);
    const notice = companies.noticeOf('alipay', payment);
    const send = () => companies.send('alipay', notice);
    t.like(await send(), refused('payment_merchant_mismatch'));
    t.is((await change(id, { seller_id: alipay.sellerId })).status, 200);
    t.deepEqual(await send(), yes.alipay);
  },
);

test.serial(
  'what the company may have taken holds the account, whatever a repeated placing comes to',
  async (t) => {
    const { wechat } = companies;
    const id = await companies.newMethod('wechat');
    const { payment_no } = (await newPayment(id)).data;
    for (const mood of ['resetting', 'refusing'] as const) {
      wechat.mood = mood;
      t.is((await place(payment_no)).status, 502, mood);
      t.like(await change(id, { mch_id: '1900000009' }), inUse, mood);
    }
    wechat.mood = 'well';
  },
);

test.serial('a payment that was placed before results were open is followed when it is paid', async (t) => {
  const id = await companies.newMethod('wechat');
  const { data: payment } = await newPayment(id, { initiate: true });
  await changeRows('DELETE FROM payment_follow_ups WHERE payment_no = ?', [payment.payment_no]);
  companies.pay('wechat', payment);
  t.like(await place(payment.payment_no), { status: 502 });
  t.truthy((await companies.shown(payment)).follow_up);
});

test.serial('of two placings at the same time a refused one leaves the follow-up of the other', async (t) => {
  const { payment_no } = (await newPayment(await companies.newMethod('wechat'))).data;
  const first = await follow(payment_no, 'wechat', null);
  const second = await follow(payment_no, 'wechat', null);
  for (const one of [first, second]) await unfollow(payment_no, one);
  t.truthy(await followUpOf(payment_no));
});
