// What a company's answer does to a payment and its order: closing, expiring, failing, and answers that do not count.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { askChannel } from '../../src/jobs/ask-channel.js';
import { expireOrder } from '../../src/jobs/expire-order.js';
import { flagForAttention } from '../../src/models/trade/payment-attention.js';
import { sweep } from '../../src/worker/sweeper.js';
import { trace as traceOf, untouched } from '../support/callbacks.js';
import { companiesTest, growOlder, makeDue, types, type Placed } from '../support/companies.js';
import { serviceTest } from '../support/service-test.js';
import type { ResultMood } from '../support/result-dials.js';

// Without a worker nothing is asked but by these tests.
const service = serviceTest({ withWorker: false });
const companies = companiesTest(service);
const { place, pay, shown } = companies;

const { signal } = new AbortController();
const ask = ({ payment_no }: Placed) => askChannel.run({ payment_no }, signal);
const expire = ({ order_no }: Placed) => expireOrder.run({ order_no }, signal);
const trace = (payment: Placed) => traceOf(service.admin, payment);

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

const silences: ResultMood[] = [
  ...(['failing', 'busy', 'unsigned', 'forging', 'garbled', 'silent', 'cut', 'resetting'] as const),
  ...(['otherPayment', 'newWord', 'incomplete'] as const),
];

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
