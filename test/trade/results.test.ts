// Results of companies. Rules for the notices of every company: one effect however often they arrive, and only stored ones are
// acknowledged. And payments whose callbacks never arrived: their companies are asked, and only signed answers move money.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/open-results.js';
import test from 'ava';
import { openApiDocument } from '../../src/api/declare/openapi.js';
import { routes } from '../../src/api/payment-notify.js';
import { change, select } from '../../src/lib/database/db.js';
import { seal } from '../../src/lib/secrets/secret-box.js';
import { setClock } from '../../src/lib/values/clock.js';
import { sweep } from '../../src/worker/sweeper.js';
import { untouched } from '../support/callbacks.js';
import { outcome } from '../support/client.js';
import {
  companiesTest,
  growOlder,
  makeDue,
  types,
  type Placed,
  type Type,
} from '../support/companies/companies.js';
import { callBack, makePayment, type MadePayment } from '../support/factories.js';
import {
  deliver,
  flagged,
  refused,
  unverifiable,
  yes,
  type Notice,
  type NoticeAnswer,
} from '../support/companies/notices.js';
import { holding, holdingPayment } from '../support/other-connection.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { selectRow } from '../support/rows.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
const companies = companiesTest(service);
const { noticeOf, pay, place, send: sendOne, shown, trace } = companies;
/** It waits and gives up as in production. */
let other: TestProcess;

test.before(async () => {
  other = await startApi({ CALLBACK_WAIT_MS: '2000', CALLBACK_DEADLINE_MS: '2000' });
});

test.afterEach.always(() => setClock());

/** Nobody asks the company about it. */
const placeUnasked = (type: Type, methodId?: number): Promise<Placed> =>
  place(type, { methodId, isFollowed: false });

const send = (type: Type, notice: Notice, repeat = 1, url = service.url): Promise<NoticeAnswer[]> =>
  deliver(`${url}/api/payment/notify/${type}`, notice, repeat);

/** Where the newest attempt is replayed. */
async function replayPath(payment: MadePayment): Promise<string> {
  const [{ id }] = (await shown(payment)).callbacks;
  return `/payments/${payment.payment_no}/callbacks/${id}/replay`;
}

/** As the company reads an answer: WeChat the status, Alipay the word. */
const isYes = (type: Type, { status, text }: NoticeAnswer): boolean =>
  type === 'wechat' ? status === 200 || status === 204 : text === 'success';

// What each company has in its place.
const foreign = {
  wechat: [
    { mchid: '1900000002' },
    { appid: 'wx0000000000000000' },
    { appid: 'wx0000000000000000', trade_state: 'CLOSED' },
    { amount: { total: 6900, payer_total: 6900, currency: 'USD', payer_currency: 'CNY' } },
    { amount: { total: 6900 } },
  ],
  alipay: [{ app_id: '2021000000000002' }, { seller_id: '2088000000000000' }],
};
const otherAmount = {
  wechat: { amount: { total: 6899, payer_total: 6899, currency: 'CNY', payer_currency: 'CNY' } },
  alipay: { total_amount: '0.01' },
};
const coupon = {
  wechat: { amount: { total: 6900, payer_total: 1, currency: 'CNY', payer_currency: 'CNY' } },
  alipay: { receipt_amount: '0.01', buyer_pay_amount: '0.01' },
};
const noMoney: Record<Type, (payment: Placed) => Notice[]> = {
  wechat: (payment) => [
    companies.wechat.refunded(payment.payment_no),
    noticeOf('wechat', payment, { trade_state: 'CLOSED' }),
  ],
  alipay: (payment) =>
    [
      { trade_status: 'WAIT_BUYER_PAY' },
      { trade_status: 'TRADE_CLOSED' },
      { trade_status: 'TRADE_SUCCESS', gmt_refund: '2026-11-25 10:00:00.123', refund_fee: '1.00' },
      { trade_status: 'TRADE_CLOSED', out_biz_no: 'REF1', refund_fee: '69.00' },
    ].map((more) => noticeOf('alipay', payment, more)),
};

/** New ones of a company, which its method does not know yet. */
const keys = newRsaKeys();

for (const type of types) {
  test.serial(`${type}: a signed notice pays, and a repeat changes nothing`, async (t) => {
    const payment = await placeUnasked(type);
    const [wechatTime, alipayTime] = ['2026-11-25T08:30:01+08:00', '2026-11-25 08:30:01'];
    const number = `T-1-${type}`;
    const more = {
      success_time: wechatTime,
      gmt_payment: alipayTime,
      transaction_id: number,
      trade_no: number,
    };
    const notice = noticeOf(type, payment, more);
    t.deepEqual(await sendOne(type, notice), yes[type]);
    const { payment: after, order, verdicts } = await trace(payment);
    const pay_time = '2026-11-25T00:30:01.000Z';
    t.deepEqual(after, {
      ...{ status: 'paid', third_party_no: number, pay_time, needs_attention: false, fail_reason: null },
    });
    t.deepEqual(order, { status: 'paid', payment_no: payment.payment_no, paid_at: new Date(pay_time) });
    t.deepEqual(verdicts, ['paid']);
    const finished = noticeOf(type, payment, { ...more, trade_status: 'TRADE_FINISHED' });
    for (const again of [notice, finished]) t.deepEqual(await sendOne(type, again), yes[type]);
    t.deepEqual((await trace(payment)).payment, after);
    const { text } = await service.admin.get(`/payments/${payment.payment_no}`);
    const signature = notice.headers['Wechatpay-Signature'] ?? new URLSearchParams(notice.body).get('sign');
    t.false(text.includes(signature ?? '-'));
  });

  test.serial(
    `${type}: a signed notice for another account or currency is flagged and pays nothing`,
    async (t) => {
      for (const more of foreign[type]) {
        const payment = await placeUnasked(type);
        const slug = 'payment_merchant_mismatch';
        t.like(await sendOne(type, noticeOf(type, payment, more)), refused(slug), JSON.stringify(more));
        t.deepEqual(await trace(payment), { ...flagged(slug), verdicts: [slug] });
        t.deepEqual(await sendOne(type, noticeOf(type, payment)), yes[type]);
      }
    },
  );

  test.serial(`${type}: another amount is flagged; what a coupon takes off is none of it`, async (t) => {
    const payment = await placeUnasked(type);
    const other = noticeOf(type, payment, otherAmount[type]);
    t.like(await sendOne(type, other), refused('payment_amount_mismatch'));
    t.like(await trace(payment), flagged('payment_amount_mismatch'));
    t.deepEqual(await sendOne(type, noticeOf(type, payment, coupon[type])), yes[type]);
    t.is((await trace(payment)).payment.status, 'paid');
  });

  test.serial(`${type}: notices that report no money are stored and pay nothing`, async (t) => {
    const payment = await placeUnasked(type);
    const notices = noMoney[type](payment);
    for (const notice of notices) t.deepEqual(await sendOne(type, notice), yes[type]);
    // The refund was not made here, so a person looks at it.
    t.deepEqual(await trace(payment), {
      ...flagged('refunded_elsewhere'),
      verdicts: notices.map(() => 'noted'),
    });
    const stored = await select<object>(
      'SELECT DISTINCT state, sealed FROM payment_callbacks WHERE payment_no = ?',
      [payment.payment_no],
    );
    t.deepEqual(stored, [{ state: 'settled', sealed: null }]);
    t.is((await service.admin.post(await replayPath(payment))).data.outcome, 'noted');
  });

  test.serial(
    `${type}: a refused notice is replayed once the key is right, by the clock of then`,
    async (t) => {
      const name = type === 'wechat' ? 'platform_public_key' : 'alipay_public_key';
      const serial = 'PUB_KEY_ID_0119000000012025';
      const id = await companies.newMethod(type, {
        [name]: companies[type].keys.publicPem,
        ...(type === 'wechat' && { platform_public_key_id: serial }),
      });
      const payment = await placeUnasked(type, id);
      const { wechat, alipay } = companies;
      const notice =
        type === 'wechat'
          ? wechat.notice(wechat.paid(payment.payment_no), { by: { keys, serial } })
          : alipay.notice(alipay.paid(payment.gateway.pay_url), { keys });
      t.like(await sendOne(type, notice), refused('payment_sign_invalid'));
      const path = await replayPath(payment);
      t.is((await service.admin.post(path)).errorCode, 'payment_sign_invalid');
      await service.admin.put(`/payment-methods/${id}`, { config: { [name]: keys.publicPem } });
      setClock(new Date(Date.now() + 3_600_000));
      t.is((await service.admin.post(path)).data.outcome, 'paid');
      t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false });
    },
  );

  test.serial(`${type}: many copies of a notice at once have one effect`, async (t) => {
    const payment = await placeUnasked(type);
    const notice = noticeOf(type, payment);
    // More than there are connections.
    const answers = await send(type, notice, 60);
    // What is not stored in time is answered 503, so that it comes again.
    t.true(answers.every((answer) => isYes(type, answer) || answer.status === 503));
    t.true(answers.some((answer) => isYes(type, answer)));
    await until(async () => (await trace(payment)).payment.status === 'paid', 20_000);
    const rows = await select<{ state: string; verdict: string; total: number }>(
      `SELECT state, verdict, COUNT(*) AS total FROM payment_callbacks WHERE payment_no = ? AND state <> 'pending'
       GROUP BY state, verdict`,
      [payment.payment_no],
    );
    t.deepEqual(
      rows.filter(({ verdict }) => verdict !== 'already_paid'),
      [{ state: 'settled', verdict: 'paid', total: 1 }],
    );
    t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false });
    t.true(isYes(type, await sendOne(type, notice)));
  });

  test.serial(`${type}: no yes before the notice is committed`, async (t) => {
    const payment = await placeUnasked(type);
    const notice = noticeOf(type, payment, { transaction_id: 'T-HELD', trade_no: 'T-HELD' });
    // Somebody else is about to store the same number, so that this one waits.
    const letGo = await holding(
      'INSERT INTO third_party_numbers (type, third_party_no, payment_no) VALUES (?, ?, ?)',
      [type, 'T-HELD', payment.payment_no],
    );
    const answers = await send(type, notice, 1, other.url).finally(letGo);
    t.false(answers.some((answer) => isYes(type, answer)));
    t.is(answers[0]?.status, 503);
    t.deepEqual(await trace(payment), { ...untouched, verdicts: [] });
    t.true(isYes(type, await sendOne(type, notice)));
    t.is((await trace(payment)).payment.status, 'paid');
  });
}

test.serial('the document has the yes of each company', async (t) => {
  const { paths } = (await openApiDocument(routes)) as unknown as Document;
  const responses = paths['/api/payment/notify/{type}']?.post.responses;
  t.regex(responses?.[204]?.description ?? '', /^The acknowledgement that wechat expects/);
  t.like(responses?.[200]?.content?.['text/plain'], { schema: { const: 'success' } });
});

interface Document {
  paths: Record<
    string,
    { post: { responses: Record<number, { description: string; content?: Record<string, object> }> } }
  >;
}

/** A notice of Alipay that was refused, and that is right as it is stored: its fields alone, as earlier releases did. */
async function refusedByMistake(payment: Placed): Promise<string> {
  const { headers, body } = noticeOf('alipay', payment);
  const forged = { headers, body: body.replace('sign=', 'sign=A') };
  const { slug } = await sendOne('alipay', forged);
  if (slug !== 'payment_sign_invalid') throw new Error(slug);
  const fields = Object.fromEntries(new URLSearchParams(body));
  await change('UPDATE payment_callbacks SET sealed = ? WHERE payment_no = ?', [
    seal(JSON.stringify(fields)),
    payment.payment_no,
  ]);
  return replayPath(payment);
}

test.serial('a refusal of earlier releases, which has its fields alone, is replayed', async (t) => {
  const path = await refusedByMistake(await placeUnasked('alipay'));
  t.is((await service.admin.post(path)).data.outcome, 'paid');
});

test.serial('a replay that takes longer answers processing, and pays', async (t) => {
  const payment = await placeUnasked('alipay');
  const path = await refusedByMistake(payment);
  const letGo = await holdingPayment(payment);
  const { data } = await service.admin.at(other.url).post(path).finally(letGo);
  t.is(data.outcome, 'processing');
  await until(async () => (await trace(payment)).payment.status === 'paid');
});

test.serial('only what is stored is a yes while the API stops', async (t) => {
  const placed: [Type, Placed][] = [];
  for (const type of types)
    for (let count = 0; count < 5; count++) placed.push([type, await placeUnasked(type)]);
  const sendTo = async (type: Type, payment: Placed) => {
    const answer = await send(type, noticeOf(type, payment), 1, other.url).catch(() => []);
    return { payment, isYes: answer.some((one) => isYes(type, one)) };
  };
  const [type, payment] = placed[0] as [Type, Placed];
  const sendAll = () => placed.map((one) => sendTo(...one));
  await until(async () => (await sendTo(type, payment)).isYes);
  const early = sendAll();
  await Promise.race(early);
  const code = other.stop();
  const late = sendAll();
  t.is(await code, 0);
  const all = await Promise.all([...early, ...late]);
  for (const answer of all) {
    if (!answer.isYes) continue;
    const rows = await select('SELECT id FROM payment_callbacks WHERE payment_no = ? AND state <> ?', [
      answer.payment.payment_no,
      'refused',
    ]);
    t.true(rows.length > 0);
  }
  const answersYet = await send('wechat', { headers: {}, body: '{}' }, 1, other.url).then(
    () => true,
    () => false,
  );
  t.false(answersYet);
});

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
  const { payment_no } = await selectRow<{ payment_no: string }>(
    'SELECT payment_no FROM payment_follow_ups ORDER BY created_at DESC LIMIT 1',
  );
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
  const answer = await sendOne('wechat', unverifiable(noticeOf('wechat', payment)));
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
  await sendOne('wechat', companies.wechat.notice(closed));
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
    await sendOne('alipay', companies.noticeOf('alipay', payment));
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
