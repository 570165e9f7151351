// What holds for the notices of every company: one effect however often they come, and a yes only for what is stored.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { seal } from '../../src/lib/secrets/secret-box.js';
import { AlipayPlatform } from '../support/alipay-platform.js';
import { trace as traceOf, untouched } from '../support/callbacks.js';
import type { Client } from '../support/client.js';
import { makeOrder, type MadePayment } from '../support/factories.js';
import { deliver, type Notice, type NoticeAnswer } from '../support/notices.js';
import { holding } from '../support/other-connection.js';
import { startApi } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';
import { WechatPlatform } from '../support/wechat-platform.js';

const service = serviceTest();
const types = ['wechat', 'alipay'] as const;
type Type = (typeof types)[number];

let wechat: WechatPlatform;
let alipay: AlipayPlatform;
const methods = new Map<Type, number>();

test.before(async () => {
  [wechat, alipay] = await Promise.all([WechatPlatform.start(), AlipayPlatform.start()]);
  for (const [type, config] of [
    ['wechat', wechat.config],
    ['alipay', alipay.resultConfig],
  ] as const)
    methods.set(type, (await service.admin.post('/payment-methods', { type, config })).data.id);
});

test.after.always(() => {
  wechat.stop();
  alipay.stop();
});

interface Placed extends MadePayment {
  gateway: { pay_url: string };
}

async function place(type: Type, admin: Client = service.admin): Promise<Placed> {
  const { order_no } = await makeOrder(admin);
  const body = { order_no, payment_method_id: methods.get(type), initiate: true };
  const { data, text } = await admin.post('/payments', body);
  if (!data) throw new Error(text);
  return data;
}

/** The notice about its money. */
function noticeOf(type: Type, { payment_no, gateway }: Placed, more: object = {}): Notice {
  if (type === 'wechat') return wechat.notice(wechat.paid(payment_no, more));
  return alipay.notice(alipay.paid(gateway.pay_url, more as Record<string, string>));
}

const send = (type: Type, notice: Notice, repeat = 1, url = service.url): Promise<NoticeAnswer[]> =>
  deliver(`${url}/api/payment/notify/${type}`, notice, { repeat });

const trace = (payment: MadePayment) => traceOf(service.admin, payment);

/** As the company reads an answer: WeChat the status, Alipay the word. */
const isYes = (type: Type, { status, text }: NoticeAnswer): boolean =>
  type === 'wechat' ? status === 200 || status === 204 : text === 'success';

for (const type of types) {
  test.serial(`${type}: a thousand copies of a notice at once have one effect`, async (t) => {
    const payment = await place(type);
    const notice = noticeOf(type, payment);
    const answers = await send(type, notice, 1000);
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
    t.true(isYes(type, (await send(type, notice))[0] as NoticeAnswer));
  });

  test.serial(`${type}: no yes before the notice is committed`, async (t) => {
    const payment = await place(type);
    const notice = noticeOf(type, payment, { transaction_id: 'T-HELD', trade_no: 'T-HELD' });
    // Somebody else is about to store the same number, so that this one waits.
    const letGo = await holding(
      'INSERT INTO third_party_numbers (type, third_party_no, payment_no) VALUES (?, ?, ?)',
      [type, 'T-HELD', payment.payment_no],
    );
    const answers = await send(type, notice).finally(letGo);
    t.false(answers.some((answer) => isYes(type, answer)));
    t.is(answers[0]?.status, 503);
    t.deepEqual(await trace(payment), { ...untouched, verdicts: [] });
    t.true(isYes(type, (await send(type, notice))[0] as NoticeAnswer));
    t.is((await trace(payment)).payment.status, 'paid');
  });

  test.serial(`${type}: a number that paid another payment is never a yes`, async (t) => {
    const [first, second] = [await place(type), await place(type)];
    const more = { transaction_id: `T-${type}`, trade_no: `T-${type}` };
    t.true(isYes(type, (await send(type, noticeOf(type, first, more)))[0] as NoticeAnswer));
    const [answer] = await send(type, noticeOf(type, second, more));
    t.like(answer, { status: 400, slug: 'payment_third_party_no_used' });
    t.like((await trace(second)).payment, { status: 'pending', fail_reason: 'third_party_no_used' });
  });

  test.serial(`${type}: a body that is too large is never a yes`, async (t) => {
    const payment = await place(type);
    const { headers, body } = noticeOf(type, payment);
    const large =
      type === 'wechat' ? `${body}${' '.repeat(64 * 1024)}` : `${body}&x=${'x'.repeat(64 * 1024)}`;
    t.like((await send(type, { headers, body: large }))[0], { status: 413, slug: 'payload_too_large' });
    t.deepEqual(await trace(payment), { ...untouched, verdicts: [] });
  });
}

test.serial('the document has the yes of each company', async (t) => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  const responses = document.paths['/api/payment/notify/{type}']?.post.responses;
  t.regex(responses?.[204]?.description ?? '', /^The acknowledgement that wechat expects/);
  t.like(responses?.[200]?.content?.['text/plain'], { schema: { const: 'success' } });
});

interface Document {
  paths: Record<
    string,
    { post: { responses: Record<number, { description: string; content?: Record<string, object> }> } }
  >;
}

test.serial(
  'a stranger who is refused too often is answered 429, and notices pay all the same',
  async (t) => {
    const limited = await startApi({ LIMITS_ENABLED: 'true', LIMIT_REFUSED_CALLBACKS: '5' });
    for (const type of types) {
      const payment = await place(type);
      const [headers, body] = [{ 'Content-Type': 'application/json' }, '{"id":"x"}'];
      const answers: NoticeAnswer[] = [];
      for (let times = 0; times < 8; times++)
        answers.push(...(await send(type, { headers, body }, 1, limited.url)));
      t.false(answers.some((answer) => isYes(type, answer)));
      t.true(answers.some(({ status }) => status === 429));
      t.true(isYes(type, (await send(type, noticeOf(type, payment), 1, limited.url))[0] as NoticeAnswer));
      t.is((await trace(payment)).payment.status, 'paid');
    }
  },
);

test.serial('only what is stored is a yes while the API stops', async (t) => {
  const api = await startApi();
  const placed: [Type, Placed][] = [];
  for (const type of types) for (let count = 0; count < 10; count++) placed.push([type, await place(type)]);
  const answers = placed.map(async ([type, payment]) => {
    const answer = await send(type, noticeOf(type, payment), 1, api.url).catch(() => []);
    return { payment, isYes: answer.some((one) => isYes(type, one)) };
  });
  await answers[0];
  const code = api.stop();
  const late = await Promise.all(
    placed.map(async ([type, payment]) =>
      send(type, noticeOf(type, payment), 1, api.url)
        .then((answer) => ({ payment, isYes: answer.some((one) => isYes(type, one)) }))
        .catch(() => ({ payment, isYes: false })),
    ),
  );
  t.is(await code, 0);
  const all = [...(await Promise.all(answers)), ...late];
  t.true(all.some((answer) => answer.isYes));
  for (const answer of all) {
    if (!answer.isYes) continue;
    const rows = await select('SELECT id FROM payment_callbacks WHERE payment_no = ? AND state <> ?', [
      answer.payment.payment_no,
      'refused',
    ]);
    t.true(rows.length > 0);
  }
  const answersYet = await send('wechat', { headers: {}, body: '{}' }, 1, api.url).then(
    () => true,
    () => false,
  );
  t.false(answersYet);
});

test.serial('a refusal of earlier releases, which has its fields alone, is replayed', async (t) => {
  const payment = await place('alipay');
  const { headers, body } = noticeOf('alipay', payment);
  const forged = { headers, body: body.replace('sign=', 'sign=A') };
  t.is((await send('alipay', forged))[0]?.slug, 'payment_sign_invalid');
  const fields = Object.fromEntries(new URLSearchParams(body));
  await change('UPDATE payment_callbacks SET sealed = ? WHERE payment_no = ?', [
    seal(JSON.stringify(fields)),
    payment.payment_no,
  ]);
  const { data } = await service.admin.get(`/payments/${payment.payment_no}`);
  const path = `/payments/${payment.payment_no}/callbacks/${data.callbacks[0].id}/replay`;
  t.is((await service.admin.post(path)).data.outcome, 'paid');
});
