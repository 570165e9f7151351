// What a company's answer does to a payment and its order: closing, expiring, failing, and answers that do not count. Payments
// in doubt: when their company is asked again, and when the service notifies a person. And the account of a method, which
// stays while its company owes an answer and can be corrected otherwise.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/open-results.js';
import test from 'ava';
import { askChannel } from '../../src/jobs/ask-channel.js';
import { expireOrder } from '../../src/jobs/expire-order.js';
import { change, select } from '../../src/lib/database/db.js';
import { flagForAttention } from '../../src/models/trade/payment-attention.js';
import {
  claimFollowUp,
  follow,
  followSince,
  followUpOf,
  unfollow,
} from '../../src/models/trade/payment-follow-up.js';
import { sweep } from '../../src/worker/sweeper.js';
import { AlipayPlatform } from '../support/companies/alipay-platform.js';
import { notificationsOf, untouched } from '../support/callbacks.js';
import type { Answer } from '../support/client.js';
import {
  companiesTest,
  growOlder,
  makeDue,
  runDue,
  types,
  type Placed,
} from '../support/companies/companies.js';
import { makeOrder, makePaymentOf, placePayment, unique } from '../support/factories.js';
import { refused, unverifiable, yes, type NoticeAnswer } from '../support/companies/notices.js';
import { holding, lockWaits } from '../support/other-connection.js';
import { booksOf } from '../support/refunds.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import type { ResultMood } from '../support/companies/result-dials.js';
import { until } from '../support/until.js';

// Without a worker nothing is asked but by these tests.
const service = serviceTest({ withWorker: false });
const companies = companiesTest(service);
const { place, pay, send, shown, trace } = companies;

const { signal } = new AbortController();
const ask = ({ payment_no }: Placed) => askChannel.run({ payment_no }, signal);
const expire = ({ order_no }: Placed) => expireOrder.run({ order_no }, signal);

/** Asks at once. */
async function askNow(payment: Placed): Promise<unknown> {
  await makeDue(payment);
  return ask(payment);
}

const orderOf = async (payment: Placed): Promise<string> => (await trace(payment)).order.status;

async function cancel({ order_no }: Placed): Promise<void> {
  await service.admin.put(`/orders/${order_no}`, { status: 'cancelled' });
  // Marks what was cancelled to be closed.
  await sweep();
}

// Which answers say nothing is tested in test/lib/; an incomplete one does say that it was paid.
const silences: ResultMood[] = ['unsigned', 'forging', 'silent', 'incomplete'];

for (const type of types)
  test.serial(`an answer of ${type} that does not count changes nothing`, async (t) => {
    const payment = await place(type);
    const number = pay(type, payment);
    for (const mood of silences) {
      companies[type].results.mood = mood;
      t.is(await askNow(payment), 'unanswered', mood);
      t.deepEqual(await trace(payment), { ...untouched, verdicts: [] }, mood);
      t.like(await shown(payment), { follow_up: { last_answer: null } }, mood);
    }
    companies[type].results.reset();
    t.is(await askNow(payment), 'paid');
    t.like((await trace(payment)).payment, {
      status: 'paid',
      third_party_no: number,
      needs_attention: false,
    });
  });

test.serial('another amount is not booked and flags the payment with both', async (t) => {
  for (const type of types) {
    const payment = await place(type);
    pay(type, payment);
    companies[type].results.mood = 'otherAmount';
    await askNow(payment);
    const now = await shown(payment);
    t.like(now, {
      status: 'pending',
      needs_attention: true,
      fail_reason: 'payment_amount_mismatch',
      follow_up: null,
    });
    t.like(now.callbacks, [{ source: 'query', state: 'refused', verdict: 'payment_amount_mismatch' }]);
    t.not(now.callbacks[0].reported_amount, null);
  }
});

test.serial('two runs at the same time ask once', async (t) => {
  const payment = await place('wechat');
  await makeDue(payment);
  const before = companies.wechat.results.count('query');
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => ask(payment)));
  t.deepEqual(outcomes.sort(), ['not_due', 'not_due', 'not_due', 'not_due', 'waiting']);
  t.is(companies.wechat.results.count('query'), before + 1);
});

test.serial(
  'a payment that the company closed is failed here, and its order can be paid by another',
  async (t) => {
    for (const type of types) {
      const payment = await place(type);
      companies[type].ledger.close(payment.payment_no);
      t.is(await askNow(payment), 'closed');
      const now = await shown(payment);
      t.like(now, {
        status: 'failed',
        needs_attention: false,
        follow_up: null,
        order: { status: 'pending' },
      });
      t.regex(now.fail_reason, /CLOSED$/);
      const again = await placePayment(service.admin, payment, payment.payment_method_id);
      t.is(again.status, 200);
    }
  },
);

test.serial('a flagged payment that the company closed shows the reason of its flag', async (t) => {
  const payment = await place('wechat');
  await flagForAttention(payment.payment_no, 'payment_merchant_mismatch');
  companies.wechat.ledger.close(payment.payment_no);
  t.is(await askNow(payment), 'closed');
  const flagged = { needs_attention: true, fail_reason: 'payment_merchant_mismatch' };
  t.like(await shown(payment), { status: 'failed', ...flagged });
});

test.serial('a payment of a cancelled order is closed at its company', async (t) => {
  for (const type of types) {
    const payment = await place(type);
    await cancel(payment);
    t.truthy((await shown(payment)).follow_up.closing_at);
    t.is(await ask(payment), 'closed');
    t.regex(String(companies[type].ledger.stateOf(payment.payment_no)), /CLOSED$/);
    t.like(await shown(payment), { status: 'cancelled', follow_up: null });
  }
});

test.serial('money that comes between the question and the closing is booked and flagged', async (t) => {
  for (const type of types) {
    const payment = await place(type);
    await cancel(payment);
    const { results } = companies[type];
    results.before = (operation) => void (operation === 'close' && pay(type, payment));
    t.is(await ask(payment), 'paid');
    t.like((await trace(payment)).payment, {
      ...{ status: 'paid', needs_attention: true, fail_reason: 'order_not_payable' },
    });
    t.is(await orderOf(payment), 'cancelled');
    results.reset();
  }
});

test.serial(
  'a customer who is still paying is not closed: 202 is asked again until there is a result',
  async (t) => {
    const payment = await place('wechat');
    companies.wechat.ledger.enter(payment.payment_no);
    await cancel(payment);
    t.is(await ask(payment), 'waiting');
    t.is((await trace(payment)).payment.status, 'cancelled');
    pay('wechat', payment);
    t.is(await askNow(payment), 'paid');
    t.like((await trace(payment)).payment, { status: 'paid', fail_reason: 'order_not_payable' });
  },
);

test.serial('an order expires once its payments are closed at their companies', async (t) => {
  for (const type of types) {
    const payment = await place(type, { expire_in_seconds: 1200 });
    await growOlder(payment, 21);
    t.is(await expire(payment), 'closing');
    t.is(await orderOf(payment), 'pending');
    t.is(await ask(payment), 'closed');
    t.like(await trace(payment), { payment: { status: 'cancelled', needs_attention: false } });
    t.is(await orderOf(payment), 'cancelled');
  }
});

test.serial('an order whose customer paid at the last moment becomes paid instead of expiring', async (t) => {
  const payment = await place('wechat', { expire_in_seconds: 1200 });
  pay('wechat', payment);
  await growOlder(payment, 21);
  t.is(await expire(payment), 'closing');
  t.is(await ask(payment), 'paid');
  t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false });
  t.is(await orderOf(payment), 'paid');
  t.is(await expire(payment), 'not_due');
});

test.serial('an order waits ten minutes for a silent company, which is asked on', async (t) => {
  const payment = await place('wechat', { expire_in_seconds: 1200 });
  companies.wechat.results.mood = 'silent';
  await growOlder(payment, 21);
  t.is(await expire(payment), 'closing');
  t.is(await ask(payment), 'unanswered');
  const { due_at, last_asked_at } = (await shown(payment)).follow_up;
  t.true(Date.parse(due_at) - Date.parse(last_asked_at) < 120_000, 'every minute while it waits');
  await growOlder(payment, 9);
  t.is(await expire(payment), 'closing');
  await growOlder(payment, 2);
  t.is(await expire(payment), 'cancelled');
  companies.wechat.results.mood = 'well';
  pay('wechat', payment);
  t.is(await askNow(payment), 'paid');
  t.like((await trace(payment)).payment, { status: 'paid', fail_reason: 'order_not_payable' });
});

test.serial(
  'what the customer never opened lets its order expire at once, and ends an hour later',
  async (t) => {
    const payment = await place('alipay', { expire_in_seconds: 1200, isOpened: false });
    t.is(await askNow(payment), 'absent');
    t.is((await trace(payment)).payment.status, 'pending', 'not yet is not never');
    await growOlder(payment, 21);
    t.is(await expire(payment), 'closing');
    t.is(await ask(payment), 'absent');
    t.is(await orderOf(payment), 'cancelled');
    t.truthy((await shown(payment)).follow_up);
    await growOlder(payment, 61);
    t.is(await askNow(payment), 'absent');
    t.like(await shown(payment), { status: 'cancelled', follow_up: null });
  },
);

test.serial('a company that never says the last word leaves the payment to a person', async (t) => {
  const payment = await place('wechat');
  companies.wechat.results.mood = 'unsigned';
  await growOlder(payment, 48 * 60 + 1);
  t.is(await askNow(payment), 'unanswered');
  t.like(await shown(payment), {
    ...{ status: 'pending', needs_attention: true, fail_reason: 'channel_unanswered', follow_up: null },
  });
});

/** WeChat reports the money of a payment, and its signature does not fit. */
const sendUnverifiable = (payment: Placed): Promise<NoticeAnswer> =>
  send('wechat', unverifiable(companies.noticeOf('wechat', payment)));

/** Places a payment with Alipay over a method that takes another key for Alipay's. */
const placeMistyped = async (): Promise<Placed> => {
  const methodId = await companies.newMethod('alipay', { alipay_public_key: newRsaKeys().publicPem });
  return place('alipay', { methodId, expire_in_seconds: 1800 });
};

test.serial('a question that the end of its worker cuts off is no silence of the company', async (t) => {
  const payment = await place('wechat');
  await sendUnverifiable(payment);
  const ending = new AbortController();
  Object.assign(companies.wechat.results, { mood: 'silent', before: () => ending.abort() });
  await makeDue(payment);
  await t.throwsAsync(askChannel.run({ payment_no: payment.payment_no }, ending.signal));
  const { needs_attention, follow_up } = await shown(payment);
  t.false(needs_attention);
  t.is(Date.parse(follow_up.due_at) - Date.parse(follow_up.last_asked_at), 120_000, 'its claim ends');
});

test.serial('a closing that is requested while the company is asked is due at once', async (t) => {
  const payment = await place('wechat');
  await growOlder(payment, 72);
  const { results } = companies.wechat;
  results.before = async () => {
    results.reset();
    await cancel(payment);
  };
  t.is(await askNow(payment), 'waiting');
  t.is(await ask(payment), 'closed');
  t.is(companies.wechat.ledger.stateOf(payment.payment_no), 'CLOSED');
});

test.serial('a callback soon after a question is asked about a minute after that', async (t) => {
  const payment = await place('wechat');
  await growOlder(payment, 72);
  const wait = async (): Promise<number> => {
    const { follow_up } = await shown(payment);
    return Date.parse(follow_up.due_at) - Date.parse(follow_up.last_asked_at);
  };
  t.is(await askNow(payment), 'waiting');
  t.true((await wait()) > 60_000);
  t.like(await sendUnverifiable(payment), { status: 400, slug: 'payment_sign_invalid' });
  t.is(await wait(), 60_000);
  // The same while it is being asked.
  companies.wechat.results.before = () => sendUnverifiable(payment);
  t.is(await askNow(payment), 'waiting');
  t.is(await wait(), 60_000);
  t.false((await shown(payment)).needs_attention);
});

test.serial(
  'a callback that cannot be verified flags its payment when the company cannot be understood either',
  async (t) => {
    const { alipay } = companies;
    const payment = await placeMistyped();
    alipay.pay(payment.gateway.pay_url);
    const notice = alipay.notice(alipay.paid(payment.gateway.pay_url));
    t.is(await askNow(payment), 'unanswered');
    t.false((await shown(payment)).needs_attention, 'nobody has said anything yet');
    t.like(await send('alipay', notice), { status: 400, slug: 'payment_sign_invalid' });
    t.false((await shown(payment)).needs_attention, 'its company is asked first');
    t.is(await askNow(payment), 'unanswered');
    t.like(await shown(payment), { needs_attention: true, fail_reason: 'notice_unverified' });
    t.is((await notificationsOf(payment)).length, 1);
    const seen = { needs_attention: false, fail_reason: 'notice_unverified' };
    await service.admin.put(`/payments/${payment.payment_no}`, seen);
    t.is(await askNow(payment), 'unanswered');
    t.false((await shown(payment)).needs_attention, 'a person has seen that callback');
    t.like(await send('alipay', notice), { status: 400 });
    const query = await service.admin.post(`/payments/${payment.payment_no}/query`);
    t.is(query.status, 502);
    t.true((await shown(payment)).needs_attention, 'not the one after it');
    const { alipay_public_key = '' } = alipay.resultConfig;
    await service.admin.put(`/payment-methods/${payment.payment_method_id}`, {
      config: { alipay_public_key },
    });
    t.is(await askNow(payment), 'paid');
    t.like(await shown(payment), { status: 'paid', needs_attention: false });
  },
);

test.serial('a worker that dies while it asks takes no doubt with it', async (t) => {
  const { alipay } = companies;
  const payment = await placeMistyped();
  const notice = alipay.notice(alipay.paid(payment.gateway.pay_url));
  t.like(await send('alipay', notice), { status: 400, slug: 'payment_sign_invalid' });
  await makeDue(payment);
  t.truthy(await claimFollowUp(payment.payment_no));
  // Its lease ends.
  await growOlder(payment, 3);
  await change(
    'UPDATE payment_callbacks SET created_at = created_at - INTERVAL 4 MINUTE WHERE payment_no = ?',
    [payment.payment_no],
  );
  t.is(await ask(payment), 'unanswered');
  t.like(await shown(payment), { needs_attention: true, fail_reason: 'notice_unverified' });
});

test.serial('a callback over a method whose secrets do not open flags its payment', async (t) => {
  const { alipay } = companies;
  const payment = await place('alipay', { methodId: await companies.newMethod('alipay') });
  const secrets = JSON.stringify({ private_key: 'v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA:AAAA' });
  await change('UPDATE payment_methods SET secrets = ? WHERE id = ?', [secrets, payment.payment_method_id]);
  const answer = await send('alipay', alipay.notice(alipay.paid(payment.gateway.pay_url)));
  t.like(answer, { status: 503, slug: 'payment_secret_unreadable' });
  t.like(await shown(payment), { needs_attention: true, fail_reason: 'notice_unverified' });
  const stored = 'SELECT same_key FROM payment_callbacks WHERE payment_no = ?';
  t.deepEqual(await select(stored, [payment.payment_no]), [{ same_key: null }]);
});

test.serial('a payment that becomes paid during its last question is not flagged', async (t) => {
  const payment = await place('wechat');
  await growOlder(payment, 49 * 60);
  const { results } = companies.wechat;
  results.before = async () => {
    results.reset();
    pay('wechat', payment);
    await service.admin.post(`/payments/${payment.payment_no}/query`);
    results.mood = 'unsigned';
  };
  t.is(await askNow(payment), 'unanswered');
  t.like(await shown(payment), {
    status: 'paid',
    needs_attention: false,
    fail_reason: null,
    follow_up: null,
  });
  t.deepEqual(await notificationsOf(payment), []);
});

for (const status of ['pending', 'failed'])
  test.serial(
    `a genuine callback has a ${status} payment asked about that was asked about no more`,
    async (t) => {
      const { alipay } = companies;
      const payment = await place('alipay', { isFollowed: false });
      pay('alipay', payment);
      await change('UPDATE payments SET status = ? WHERE payment_no = ?', [status, payment.payment_no]);
      const refunded = alipay.paid(payment.gateway.pay_url, { refund_fee: '1.00' });
      t.is((await send('alipay', alipay.notice(refunded))).text, 'success');
      t.is(await ask(payment), 'paid');
      // Not made here, so a person looks at it.
      const flagged = { needs_attention: true, fail_reason: 'refunded_elsewhere' };
      t.like(await shown(payment), { status: 'paid', follow_up: null, ...flagged });
    },
  );

test.serial('what is followed afterwards may be opened for a day from then', async (t) => {
  const payment = await place('alipay', { isOpened: false, isFollowed: false });
  await change('UPDATE payments SET created_at = created_at - INTERVAL 26 HOUR WHERE payment_no = ?', [
    payment.payment_no,
  ]);
  await followSince(new Date(Date.now() - 2 * 86_400_000), ['alipay']);
  t.is(await ask(payment), 'absent');
  const { status, follow_up } = await shown(payment);
  t.is(status, 'pending');
  const hours = (text: string): number => Math.round((Date.parse(text) - Date.now()) / 3_600_000);
  t.deepEqual([hours(follow_up.expire_at), hours(follow_up.until_at)], [24, 48]);
});

test.serial('what was cancelled with its expired order is followed afterwards, too', async (t) => {
  // As placed while the results were closed.
  const soon = { expire_in_seconds: 600, isFollowed: false };
  const [paid, unpaid] = [await place('alipay', soon), await place('wechat', soon)];
  pay('alipay', paid);
  for (const payment of [paid, unpaid]) {
    await growOlder(payment, 11);
    t.is(await expire(payment), 'cancelled');
  }
  await followSince(new Date(Date.now() - 2 * 86_400_000), types);
  t.is(await ask(paid), 'paid');
  const late = { status: 'paid', needs_attention: true, fail_reason: 'order_not_payable' };
  t.like(await shown(paid), late);
  t.is(await ask(unpaid), 'closed');
  t.like(await shown(unpaid), { status: 'cancelled', follow_up: null });
});

for (const type of types)
  test.serial(
    `${type}: what nobody has paid by its expiry is closed at the company, unflagged`,
    async (t) => {
      const payment = await place(type);
      await growOlder(payment, 24 * 60 + 1);
      t.is(await askNow(payment), 'closed');
      t.regex(String(companies[type].ledger.stateOf(payment.payment_no)), /CLOSED$/);
      t.like(await shown(payment), {
        ...{ status: 'failed', fail_reason: 'CLOSED', needs_attention: false, follow_up: null },
        order: { status: 'pending' },
      });
    },
  );

test.serial('what a company does not close a day after its expiry is left to a person', async (t) => {
  const payment = await place('wechat');
  companies.wechat.ledger.enter(payment.payment_no);
  await growOlder(payment, 48 * 60 + 1);
  t.is(await askNow(payment), 'waiting');
  t.like(await shown(payment), { needs_attention: true, fail_reason: 'channel_unanswered', follow_up: null });
});

const otherAccount = { app_id: '2021000000000099', seller_id: '2088531891668799' };

const changeMethod = (id: number, config: Record<string, string>, more: object = {}): Promise<Answer> =>
  service.admin.put(`/payment-methods/${id}`, { config, ...more });

const newOrder = () => makeOrder(service.admin, '69.00', { expire_in_seconds: 3600 });

/** A pending payment over that method. */
const newPayment = async (methodId: number) => makePaymentOf(service.admin, await newOrder(), methodId);

/** One that is placed at once. */
const placeNew = async (methodId: number) => placePayment(service.admin, await newOrder(), methodId);

const placeAgain = (paymentNo: string): Promise<Answer> => service.admin.post(`/payments/${paymentNo}/place`);

const accountOf = ({ data }: Answer): string | null =>
  new URL(data.gateway.pay_url).searchParams.get('app_id');

test.serial(
  'an account that changes just before a payment is followed is the one it is placed in',
  async (t) => {
    const id = await companies.newMethod('alipay');
    const { payment_no } = await newPayment(id);
    const letGo = await holding(
      `INSERT INTO payment_follow_ups (payment_no, period, type, expire_at, until_at, due_at, created_at)
     VALUES (?, 202611, 'alipay', NOW(3), NOW(3), NOW(3), NOW(3))`,
      [payment_no],
    );
    const placing = placeAgain(payment_no);
    await until(async () => (await lockWaits('payment_follow_ups')) > 0);
    t.is((await changeMethod(id, otherAccount)).status, 200);
    await letGo();
    t.is(accountOf(await placing), otherAccount.app_id);
    t.is((await changeMethod(id, companies.alipay.resultConfig)).errorCode, 'payment_method_account_in_use');
  },
);

test.serial('placing waits for a change of the account that is under way', async (t) => {
  const id = await companies.newMethod('alipay');
  const { payment_no } = await newPayment(id);
  const code = unique('code_');
  const letGo = await holding(
    `INSERT INTO payment_methods (name, code, type, config, secrets, is_active, sort, created_at, updated_at)
     VALUES ('x', ?, 'alipay', '{}', '{}', 1, 0, NOW(3), NOW(3))`,
    [code],
  );
  // It has found nothing open and waits for that code.
  const changing = changeMethod(id, otherAccount, { code });
  await until(async () => (await lockWaits('payment_methods')) > 0);
  const placing = placeAgain(payment_no);
  await until(async () => (await lockWaits('payment_methods')) > 1);
  await letGo();
  t.is((await changing).status, 200);
  t.is(accountOf(await placing), otherAccount.app_id);
});

const refund = ({ payment_no }: { payment_no: string }, destination: string): Promise<Answer> =>
  service.admin.post('/refunds', { payment_no, destination, reason: 'sold out' });

test.serial(
  'a refund in an account that does not know its payment fails, and the money can go back',
  async (t) => {
    const { alipay } = companies;
    const second = await AlipayPlatform.start();
    t.teardown(() => second.stop());
    Object.assign(second, { appId: otherAccount.app_id, sellerId: otherAccount.seller_id });
    const id = await companies.newMethod('alipay');
    const { data: payment } = await placeNew(id);
    alipay.pay(payment.gateway.pay_url);
    await service.admin.post(`/payments/${payment.payment_no}/query`);
    t.is((await changeMethod(id, second.resultConfig)).status, 200);
    const { refund_no } = (await refund(payment, 'channel')).data;
    t.is((await runDue(refund_no)).status, 'processing', 'a query confirms it');
    t.is((await changeMethod(id, alipay.resultConfig)).errorCode, 'payment_method_account_in_use');
    t.like(await runDue(refund_no), {
      ...{ status: 'failed', code: 'ACQ.TRADE_NOT_EXIST', fail_reason: 'refund_failed', needs_attention: 1 },
    });
    t.like(await booksOf(payment), { refund_reserved: '0.00', refunded_amount: '0.00' });
    t.is((await changeMethod(id, alipay.resultConfig)).status, 200);
    const again = (await refund(payment, 'channel')).data;
    await change(`UPDATE refunds SET status = 'waiting' WHERE refund_no = ?`, [again.refund_no]);
    t.is(
      (await changeMethod(id, second.resultConfig)).errorCode,
      'payment_method_account_in_use',
      'one that waits',
    );
    await change(`UPDATE refunds SET status = 'pending' WHERE refund_no = ?`, [again.refund_no]);
    // Refunds of one payment keep their distance.
    await change('UPDATE refunds SET sent_at = created_at - INTERVAL 1 MINUTE WHERE refund_no = ?', [
      refund_no,
    ]);
    await runDue(again.refund_no);
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
    await place(type, { methodId: id });
    for (const [name, value] of Object.entries(others[type]))
      t.like(await changeMethod(id, { [name]: value }), inUse, `${type} ${name}`);
    t.is((await changeMethod(id, { notify_url: 'https://shop.test/' })).status, 200);
  }
});

test.serial('a wrong merchant is corrected after the company has refused a payment', async (t) => {
  const { wechat } = companies;
  const id = await companies.newMethod('wechat', { mch_id: '1900000009' });
  const refused = await placeNew(id);
  t.like(refused, { status: 502, errorCode: 'third_party_error' });
  t.is((await changeMethod(id, { mch_id: wechat.mchId })).status, 200);
  const [payment] = (await service.admin.get('/payments?status=pending&page_size=1')).data.list;
  t.is(payment.payment_method_id, id);
  t.is((await placeAgain(payment.payment_no)).status, 200);
  t.like(await changeMethod(id, { mch_id: '1900000009' }), inUse);
});

test.serial(
  'a wrong seller is corrected while a payment is open, and its callback is then taken',
  async (t) => {
    const { alipay } = companies;
    const id = await companies.newMethod('alipay', { seller_id: otherAccount.seller_id });
    const { data: payment } = await placeNew(id);
    alipay.pay(payment.gateway.pay_url);
    const notice = companies.noticeOf('alipay', payment);
    const send = () => companies.send('alipay', notice);
    t.like(await send(), refused('payment_merchant_mismatch'));
    t.is((await changeMethod(id, { seller_id: alipay.sellerId })).status, 200);
    t.deepEqual(await send(), yes.alipay);
  },
);

test.serial(
  'what the company may have taken holds the account, whatever a repeated placing comes to',
  async (t) => {
    const { wechat } = companies;
    const id = await companies.newMethod('wechat');
    const { payment_no } = await newPayment(id);
    for (const mood of ['resetting', 'refusing'] as const) {
      wechat.mood = mood;
      t.is((await placeAgain(payment_no)).status, 502, mood);
      t.like(await changeMethod(id, { mch_id: '1900000009' }), inUse, mood);
    }
    wechat.mood = 'well';
  },
);

test.serial('a payment that was placed before results were open is followed when it is paid', async (t) => {
  const id = await companies.newMethod('wechat');
  const { data: payment } = await placeNew(id);
  await change('DELETE FROM payment_follow_ups WHERE payment_no = ?', [payment.payment_no]);
  companies.pay('wechat', payment);
  t.like(await placeAgain(payment.payment_no), { status: 502 });
  t.truthy((await companies.shown(payment)).follow_up);
});

test.serial('of two placings at the same time a refused one leaves the follow-up of the other', async (t) => {
  const { payment_no } = await newPayment(await companies.newMethod('wechat'));
  const first = await follow(payment_no, 'wechat', null);
  const second = await follow(payment_no, 'wechat', null);
  for (const one of [first, second]) await unfollow(payment_no, one);
  t.truthy(await followUpOf(payment_no));
});
