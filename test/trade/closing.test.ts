// What a company's answer does to a payment and its order: closing, expiring, failing, and answers that do not count. Payments
// in doubt: when their company is asked again, and when the service notifies a person.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { askChannel } from '../../src/jobs/ask-channel.js';
import { expireOrder } from '../../src/jobs/expire-order.js';
import { change, select } from '../../src/lib/database/db.js';
import { flagForAttention } from '../../src/models/trade/payment-attention.js';
import { claimFollowUp, followSince } from '../../src/models/trade/payment-follow-up.js';
import { sweep } from '../../src/worker/sweeper.js';
import { untouched } from '../support/callbacks.js';
import { companiesTest, growOlder, makeDue, types, type Placed } from '../support/companies.js';
import { makeOrder } from '../support/factories.js';
import type { Notice } from '../support/notices.js';
import { newRsaKeys } from '../support/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import type { ResultMood } from '../support/result-dials.js';

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

const orderOf = async (payment: Placed): Promise<string | undefined> => (await trace(payment)).order?.status;

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
      const body = {
        order_no: payment.order_no,
        payment_method_id: payment.payment_method_id,
        initiate: true,
      };
      const again = await service.admin.post('/payments', body);
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

/** A notice of WeChat about its money whose signature fits no longer. */
const unverifiable = ({ payment_no }: Placed): Notice =>
  companies.wechat.notice(companies.wechat.paid(payment_no), {
    mutate: ({ headers, body }) => ({ headers: { ...headers, 'Wechatpay-Nonce': 'another' }, body }),
  });

/** Places a payment over a method of its own. */
async function placeOver(config: Record<string, string>, more: object = {}): Promise<Placed> {
  const { data: method } = await service.admin.post('/payment-methods', { type: 'alipay', config });
  const { order_no } = await makeOrder(service.admin, '69.00', more);
  const body = { order_no, payment_method_id: method.id, initiate: true };
  const { data, text } = await service.admin.post('/payments', body);
  if (!data) throw new Error(text);
  return data;
}

const soon = { expire_in_seconds: 600 };

const notificationsOf = async ({ payment_no }: Placed): Promise<number> =>
  (await select('SELECT id FROM notifications WHERE content LIKE ?', [`${payment_no}:%`])).length;

test.serial('a question that the end of its worker cuts off is no silence of the company', async (t) => {
  const payment = await place('wechat');
  await send('wechat', unverifiable(payment));
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
  t.like(await send('wechat', unverifiable(payment)), { status: 400, slug: 'payment_sign_invalid' });
  t.is(await wait(), 60_000);
  // The same while it is being asked.
  companies.wechat.results.before = () => send('wechat', unverifiable(payment));
  t.is(await askNow(payment), 'waiting');
  t.is(await wait(), 60_000);
  t.false((await shown(payment)).needs_attention);
});

test.serial(
  'a callback that cannot be verified flags its payment when the company cannot be understood either',
  async (t) => {
    const { alipay } = companies;
    const config = { ...alipay.resultConfig, alipay_public_key: newRsaKeys().publicPem };
    const payment = await placeOver(config, { expire_in_seconds: 1800 });
    alipay.pay(payment.gateway.pay_url);
    const notice = alipay.notice(alipay.paid(payment.gateway.pay_url));
    t.is(await askNow(payment), 'unanswered');
    t.false((await shown(payment)).needs_attention, 'nobody has said anything yet');
    t.like(await send('alipay', notice), { status: 400, slug: 'payment_sign_invalid' });
    t.false((await shown(payment)).needs_attention, 'its company is asked first');
    t.is(await askNow(payment), 'unanswered');
    t.like(await shown(payment), { needs_attention: true, fail_reason: 'notice_unverified' });
    t.is(await notificationsOf(payment), 1);
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
  const config = { ...alipay.resultConfig, alipay_public_key: newRsaKeys().publicPem };
  const payment = await placeOver(config, { expire_in_seconds: 1800 });
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
  const payment = await placeOver(alipay.resultConfig);
  const secrets = JSON.stringify({ private_key: 'v1:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA:AAAA' });
  await change('UPDATE payment_methods SET secrets = ? WHERE id = ?', [secrets, payment.payment_method_id]);
  const answer = await send('alipay', alipay.notice(alipay.paid(payment.gateway.pay_url)));
  t.like(answer, { status: 503, slug: 'payment_secret_unreadable' });
  t.like(await shown(payment), { needs_attention: true, fail_reason: 'notice_unverified' });
  const [stored] = await select<object>(
    'SELECT same_key, sealed FROM payment_callbacks WHERE payment_no = ?',
    [payment.payment_no],
  );
  t.like(stored, { same_key: null });
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
  t.is(await notificationsOf(payment), 0);
});

for (const status of ['pending', 'failed'])
  test.serial(
    `a genuine callback has a ${status} payment asked about that was asked about no more`,
    async (t) => {
      const { alipay } = companies;
      const payment = await place('alipay');
      pay('alipay', payment);
      await change('DELETE FROM payment_follow_ups WHERE payment_no = ?', [payment.payment_no]);
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
  const payment = await place('alipay', { isOpened: false });
  const { payment_no } = payment;
  await change('DELETE FROM payment_follow_ups WHERE payment_no = ?', [payment_no]);
  await change('UPDATE payments SET created_at = created_at - INTERVAL 26 HOUR WHERE payment_no = ?', [
    payment_no,
  ]);
  await followSince(new Date(Date.now() - 2 * 86_400_000), ['alipay']);
  t.is(await ask(payment), 'absent');
  const { status, follow_up } = await shown(payment);
  t.is(status, 'pending');
  const hours = (text: string): number => Math.round((Date.parse(text) - Date.now()) / 3_600_000);
  t.deepEqual([hours(follow_up.expire_at), hours(follow_up.until_at)], [24, 48]);
});

test.serial('what was cancelled with its expired order is followed afterwards, too', async (t) => {
  const [paid, unpaid] = [await place('alipay', soon), await place('wechat', soon)];
  pay('alipay', paid);
  for (const payment of [paid, unpaid]) {
    // As placed while the results were closed.
    await change('DELETE FROM payment_follow_ups WHERE payment_no = ?', [payment.payment_no]);
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
