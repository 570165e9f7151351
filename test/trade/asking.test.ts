// Payments whose callbacks never arrived: the service queries their companies, and only signed answers move money.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { sweep } from '../../src/worker/sweeper.js';
import { outcome } from '../support/client.js';
import { untouched } from '../support/callbacks.js';
import { companiesTest, growOlder, makeDue, types } from '../support/companies.js';
import { callBack, makePayment, type MadePayment } from '../support/factories.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
const companies = companiesTest(service);
const { place, pay, send, shown, trace } = companies;

/** Has payments asked about before the sweeper comes by. */
async function askNow(...payments: MadePayment[]): Promise<void> {
  await makeDue(...payments);
  await sweep();
}

test.serial(
  'payments become paid by the answers of their companies when every callback is lost',
  async (t) => {
    for (const type of types) {
      const payments = await Promise.all(Array.from({ length: 5 }, () => place(type)));
      const numbers = payments.map((payment) => pay(type, payment));
      await makeDue(...payments);
      for (const [at, payment] of payments.entries()) {
        const paid = await until(async () => {
          const { status, follow_up, ...rest } = await shown(payment);
          return status === 'paid' && !follow_up && rest;
        });
        t.like(paid, { third_party_no: numbers[at], needs_attention: false, fail_reason: null });
        t.like(paid.callbacks, [
          { source: 'query', state: 'settled', verdict: 'paid', third_party_no: numbers[at] },
        ]);
        t.like(paid.order, { status: 'paid', payment_no: payment.payment_no, paid_at: paid.pay_time });
        // By the company's clock, which shows seconds.
        t.is(new Date(paid.pay_time).getUTCMilliseconds(), 0);
      }
    }
  },
);

test.serial('a placed payment is asked about after a minute, then ever more rarely', async (t) => {
  const payment = await place('wechat');
  const { follow_up } = await shown(payment);
  const from = Date.parse(payment.created_at);
  const hours = (text: string): number => Math.round((Date.parse(text) - from) / 360_000) / 10;
  const first = (Date.parse(follow_up.due_at) - Date.parse(follow_up.created_at)) / 60_000;
  t.is(first, 1);
  t.like(follow_up, { asked: 0, last_asked_at: null, last_answer: null, closing_at: null });
  t.deepEqual([hours(follow_up.expire_at), hours(follow_up.until_at)], [24, 48]);
  const sent = companies.wechat.transactions.at(-1)?.content.time_expire ?? '';
  t.is(Date.parse(sent), Math.floor(Date.parse(follow_up.expire_at) / 1000) * 1000);
  // The lease of a run is two minutes; what is longer is the next wait.
  const wait = ({ due_at, last_asked_at }: { due_at: string; last_asked_at: string }): number =>
    (Date.parse(due_at) - Date.parse(last_asked_at)) / 60_000;
  // As long as a wait can be.
  const ages = [1, 6, 18, 72, 72];
  for (const [step, minutes] of [5, 15, 60, 60, 60].entries()) {
    await growOlder(payment, ages[step] as number);
    await sweep();
    const asked = await until(async () => {
      const { follow_up: now } = await shown(payment);
      return now.asked === step + 1 && wait(now) > 2.1 && now;
    });
    t.is(asked.last_answer, 'NOTPAY');
    t.true(wait(asked) > minutes * 0.79 && wait(asked) < minutes * 1.21, `${wait(asked)} of ${minutes} min`);
  }
  t.deepEqual((await trace(payment)).payment, untouched.payment);
});

test.serial('placing again sends the company the same expiry', async (t) => {
  const payment = await place('wechat');
  await service.admin.post(`/payments/${payment.payment_no}/place`);
  const [first, second] = companies.wechat.transactions.slice(-2);
  t.is(first?.content.out_trade_no, second?.content.out_trade_no);
  t.is(first?.content.time_expire, second?.content.time_expire);
  await growOlder(payment, 24 * 60);
  const late = await service.admin.post(`/payments/${payment.payment_no}/place`);
  t.deepEqual([late.status, late.errorCode], [400, 'order_expires_too_soon']);
});

test.serial('a payment whose placing was cut off is asked about all the same', async (t) => {
  companies.wechat.mood = 'resetting';
  await t.throwsAsync(place('wechat'), { message: /third_party_error/ });
  companies.wechat.mood = 'well';
  const [row] = await select<{ payment_no: string }>(
    'SELECT payment_no FROM payment_follow_ups ORDER BY created_at DESC LIMIT 1',
  );
  const payment_no = row?.payment_no ?? '';
  // The company had taken it, and the customer has found a way to pay.
  companies.wechat.ledger.pay(payment_no);
  await askNow({ payment_no, order_no: '', amount: 0, id: 0 });
  await until(async () => (await service.admin.get(`/payments/${payment_no}`)).data.status === 'paid');
  t.pass();
});

test.serial(
  'a query asks the company, settles what it says and answers in the form of every channel',
  async (t) => {
    for (const type of types) {
      const payment = await place(type);
      const query = () => service.admin.post(`/payments/${payment.payment_no}/query`);
      t.like((await query()).data, { status: 'pending', trade_state: 'NOTPAY', third_party_no: null });
      const number = pay(type, payment);
      t.like((await query()).data, { status: 'paid', trade_state: 'SUCCESS', third_party_no: number });
      t.like(await shown(payment), { follow_up: null, order: { status: 'paid' } });
      const asked = companies[type].results.count('query', payment.payment_no);
      t.is((await query()).status, 200);
      t.is(
        companies[type].results.count('query', payment.payment_no),
        asked,
        'what is paid is not asked about',
      );
    }
  },
);

test.serial('a query of a silent company is answered 502 with the reason', async (t) => {
  const payment = await place('wechat');
  const { follow_up } = await shown(payment);
  companies.wechat.results.mood = 'silent';
  const answer = await service.admin.post(
    `/payments/${payment.payment_no}/query`,
    {},
    { 'Accept-Language': 'en-US' },
  );
  t.deepEqual(outcome(answer), [502, 50005, 'third_party_error']);
  t.regex(answer.message, /did not answer in time/);
  const after = await shown(payment);
  t.like(after, { status: 'pending', follow_up: { asked: 1, last_answer: null } });
  t.is(after.follow_up.due_at, follow_up.due_at, 'it is asked about on its own as before');
});

test.serial('a callback that cannot be verified has its payment asked about, not flagged', async (t) => {
  const payment = await place('wechat');
  const number = pay('wechat', payment);
  const notice = companies.wechat.notice(companies.wechat.paid(payment.payment_no), {
    mutate: ({ headers, body }) => ({ headers: { ...headers, 'Wechatpay-Nonce': 'another' }, body }),
  });
  const answer = await send('wechat', notice);
  t.like(answer, { status: 400, slug: 'payment_sign_invalid' });
  const paid = await until(async () => {
    const now = await shown(payment);
    return now.status === 'paid' && now;
  });
  t.like(paid, { third_party_no: number, needs_attention: false });
  t.deepEqual(
    paid.callbacks.map(({ source, verdict }: { source: string; verdict: string }) => [source, verdict]),
    [
      ['query', 'paid'],
      ['callback', 'payment_sign_invalid'],
    ],
  );
});

test.serial('a callback of no money has its payment asked about', async (t) => {
  const payment = await place('wechat');
  const closed = companies.wechat.paid(payment.payment_no, { trade_state: 'CLOSED' });
  await send('wechat', companies.wechat.notice(closed));
  await until(async () => (await shown(payment)).follow_up?.last_answer === 'NOTPAY');
  t.is((await shown(payment)).status, 'pending');
});

test.serial('companies are asked ten times a second at most', async (t) => {
  const payments = await Promise.all(Array.from({ length: 35 }, () => place('wechat')));
  const { results } = companies.wechat;
  const times: number[] = [];
  results.before = (operation) => operation === 'query' && times.push(Date.now());
  await askNow(...payments);
  await until(() => times.length >= 35);
  times.sort((one, other) => one - other);
  // Other jobs may take turns of the first portion, but two more are whole: without a limit all take some tenths of a second.
  t.true((times[34] ?? 0) - (times[0] ?? 0) > 1500, times.join(' '));
});

test.serial('payments that were paid meanwhile take no turn of those that are asked about', async (t) => {
  const payments = await Promise.all(Array.from({ length: 5 }, () => place('alipay')));
  for (const payment of payments) {
    pay('alipay', payment);
    await send('alipay', companies.noticeOf('alipay', payment));
  }
  await askNow(...payments);
  const followed = await select('SELECT payment_no FROM payment_follow_ups WHERE payment_no IN (?)', [
    payments.map(({ payment_no }) => payment_no),
  ]);
  t.deepEqual(followed, []);
});

test.serial('callbacks do not wait for a company that is silent', async (t) => {
  const payments = await Promise.all(Array.from({ length: 12 }, () => place('wechat')));
  const { results } = companies.wechat;
  results.mood = 'silent';
  const before = results.count('query');
  await askNow(...payments);
  await until(() => results.count('query') >= before + 10);
  for (let times = 0; times < 5; times++) {
    const payment = await makePayment(service.admin);
    const { data } = await callBack(service.anonymous, payment);
    t.is(data.status, 'paid');
  }
});
