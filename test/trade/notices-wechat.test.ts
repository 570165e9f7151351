// Notices of WeChat Pay while PAYMENT_CHANNEL_RESULTS opens them: only notices signed, sealed and meant for this merchant pay. And
// their keys: certificates that cannot be downloaded again, and one APIv3 key among many methods.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test, { type ExecutionContext } from 'ava';
import { setClock } from '../../src/lib/values/clock.js';
import { change, select } from '../../src/lib/database/db.js';
import { untouched } from '../support/callbacks.js';
import { companiesTest, type Placed } from '../support/companies.js';
import { deliver, flagged, refused, yes, type Notice, type NoticeAnswer } from '../support/notices.js';
import { newRsaKeys } from '../support/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import { WechatPlatform } from '../support/wechat-platform.js';

const service = serviceTest();
const companies = companiesTest(service);
const { trace } = companies;

test.afterEach.always(() => setClock());

/** Nobody asks the company about it, which has tests of its own (asking.test.ts). */
const place = (methodId?: number): Promise<Placed> =>
  companies.place('wechat', { methodId, isFollowed: false });

const send = (notice: Notice, repeat: number): Promise<NoticeAnswer[]> =>
  deliver(`${service.url}/api/payment/notify/wechat`, notice, repeat);

const sendOne = (notice: Notice): Promise<NoticeAnswer> => companies.send('wechat', notice);

/** One of its own, for tests of its keys. */
async function newPlatform(t: ExecutionContext): Promise<WechatPlatform> {
  const platform = await WechatPlatform.start();
  t.teardown(() => platform.stop());
  return platform;
}

test.serial('V2: only the bytes that were signed pay', async (t) => {
  const payment = await place();
  const inside = companies.wechat.paid(payment.payment_no);
  const rewritten = companies.wechat.notice(inside, {
    mutate: ({ headers, body }) => ({ headers, body: JSON.stringify(JSON.parse(body)) }),
  });
  t.like(await sendOne(rewritten), refused('payment_sign_invalid'));
  t.deepEqual(await sendOne(companies.wechat.notice(inside)), yes.wechat);
  const { payment: paid, order, verdicts } = await trace(payment);
  t.like(paid, { status: 'paid', third_party_no: inside.transaction_id, needs_attention: false });
  t.is(order?.status, 'paid');
  t.deepEqual(verdicts, ['paid', 'payment_sign_invalid']);
});

test.serial('a stored notice shows what was sealed and no signature', async (t) => {
  const payment = await place();
  const notice = companies.wechat.notice(companies.wechat.paid(payment.payment_no));
  const forged = { ...notice, headers: { ...notice.headers, 'Wechatpay-Nonce': 'another' } };
  await sendOne(forged);
  await sendOne(notice);
  const { data, text } = await service.admin.get(`/payments/${payment.payment_no}`);
  t.is(data.callbacks[0].body.resource.trade_state, 'SUCCESS');
  const rows = await select<object>('SELECT * FROM payment_callbacks WHERE payment_no = ?', [
    payment.payment_no,
  ]);
  for (const shown of [text, JSON.stringify(rows)])
    t.false(shown.includes(notice.headers['Wechatpay-Signature'] ?? ''));
});

const mutations: [string, (notice: Notice) => Notice, slug?: string][] = [
  ['another body', ({ headers, body }) => ({ headers, body: body.replace('支付成功', '支付失败') })],
  ['a blank behind its body', ({ headers, body }) => ({ headers, body: `${body} ` })],
  ['a byte order mark before its body', ({ headers, body }) => ({ headers, body: `\uFEFF${body}` })],
  ['another event', ({ headers, body }) => ({ headers, body: body.replace('TRANSACTION', 'REFUND') })],
  [
    'another sealed text',
    ({ headers, body }) => ({
      headers,
      body: body.replace(/"ciphertext":"(.)/, (_, one) => `"ciphertext":"${one === 'A' ? 'B' : 'A'}`),
    }),
    'payment_notify_invalid',
  ],
  ...['Timestamp', 'Nonce', 'Signature', 'Serial'].flatMap((name): [string, (notice: Notice) => Notice][] => [
    [
      `another Wechatpay-${name}`,
      ({ headers, body }) => ({
        headers: {
          ...headers,
          [`Wechatpay-${name}`]: `${headers[`Wechatpay-${name}`]}`.replace(/^./, (one) =>
            one === '1' ? '2' : '1',
          ),
        },
        body,
      }),
    ],
    [
      `no Wechatpay-${name}`,
      ({ headers, body }) => ({
        headers: Object.fromEntries(Object.entries(headers).filter(([key]) => key !== `Wechatpay-${name}`)),
        body,
      }),
    ],
  ]),
];

for (const [what, mutate, slug = 'payment_sign_invalid'] of mutations) {
  test.serial(`a notice with ${what} changes no state`, async (t) => {
    const payment = await place();
    const inside = companies.wechat.paid(payment.payment_no);
    // The certificates are known, so that a wrong serial number is compared with them.
    t.like(await sendOne(companies.wechat.notice(inside, { mutate })), refused(slug));
    const { verdicts, ...rest } = await trace(payment);
    t.deepEqual(rest, slug === 'payment_sign_invalid' ? flagged('notice_unverified') : untouched);
    t.deepEqual(verdicts, slug === 'payment_sign_invalid' ? [slug] : []);
    t.deepEqual(await sendOne(companies.wechat.notice(inside)), yes.wechat);
    t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false, fail_reason: null });
  });
}

test.serial('a notice signed more than five minutes away from its arrival is refused', async (t) => {
  const payment = await place();
  const inside = companies.wechat.paid(payment.payment_no);
  for (const seconds of [-310, 310, -86_400]) {
    const at = new Date(Date.now() + seconds * 1000);
    t.like(
      await sendOne(companies.wechat.notice(inside, { at })),
      refused('payment_sign_invalid'),
      `${seconds} s`,
    );
  }
  t.deepEqual(
    await sendOne(companies.wechat.notice(inside, { at: new Date(Date.now() - 280_000) })),
    yes.wechat,
  );
});

test.serial('a probe is refused without attention, and the notice after it pays', async (t) => {
  const payment = await place();
  const inside = companies.wechat.paid(payment.payment_no);
  t.like(
    await sendOne(companies.wechat.notice(inside, { signTest: true })),
    refused('payment_notify_invalid'),
  );
  t.deepEqual(await trace(payment), { ...untouched, verdicts: [] });
  t.deepEqual(await sendOne(companies.wechat.notice(inside)), yes.wechat);
  t.is((await trace(payment)).payment.status, 'paid');
});

test.serial('paid money without a number or a readable total is refused and flagged', async (t) => {
  for (const missing of [{ transaction_id: undefined }, { amount: { total: '12.30', currency: 'CNY' } }]) {
    const payment = await place();
    const inside = companies.wechat.paid(payment.payment_no, missing);
    t.like(await sendOne(companies.wechat.notice(inside)), refused('payment_notify_invalid'));
    t.like(await trace(payment), flagged('notice_unverified'));
  }
});

test.serial('of two methods the one of the payment verifies, also when it is deactivated', async (t) => {
  const other = await newPlatform(t);
  other.apiV3Key = 'another-api-v3-key-of-32-letters';
  const id = await companies.newMethod('wechat', other.config);
  const payment = await place(id);
  await service.admin.put(`/payment-methods/${id}`, { is_active: false });
  const inside = other.paid(payment.payment_no);
  // Sealed under the key of the first method, and signed for it.
  t.like(await sendOne(companies.wechat.notice(inside)), refused('payment_sign_invalid'));
  t.deepEqual(await sendOne(other.notice(inside)), yes.wechat);
  t.is((await trace(payment)).payment.status, 'paid');
});

test.serial('while the platform changes from certificates to a public key both are verified', async (t) => {
  const own = await newPlatform(t);
  const keys = newRsaKeys();
  const serial = 'PUB_KEY_ID_0119000000012024';
  const id = await companies.newMethod('wechat', {
    ...own.config,
    mch_id: own.mchId,
    platform_public_key: keys.publicPem,
    platform_public_key_id: serial,
  });
  const [first, second, third] = [await place(id), await place(id), await place(id)];
  t.deepEqual(await sendOne(own.notice(own.paid(first.payment_no))), yes.wechat, 'by certificate');
  t.deepEqual(await sendOne(own.notice(own.paid(second.payment_no), { by: { keys, serial } })), yes.wechat);
  // Neither name stands for the other's key.
  for (const by of [
    { keys: own.keys, serial },
    { keys, serial: own.certificate.serial },
  ])
    t.like(await sendOne(own.notice(own.paid(third.payment_no), { by })), refused('payment_sign_invalid'));
  const { downloads } = own;
  // The certificates could be asked for again.
  const at = new Date(Date.now() + 61_000);
  setClock(at);
  const unknown = { at, by: { keys, serial: 'PUB_KEY_ID_9' } };
  t.like(await sendOne(own.notice(own.paid(third.payment_no), unknown)), refused('payment_sign_invalid'));
  t.is(own.downloads, downloads, 'a public key is not downloaded');
  // A new certificate is fetched once it signs.
  own.renew();
  t.deepEqual(await sendOne(own.notice(own.paid(third.payment_no), { at })), yes.wechat);
  t.is(own.downloads, downloads + 1);
});

test.serial(
  'while the certificates are away a notice is answered 503, and pays when they are back',
  async (t) => {
    const own = await newPlatform(t);
    const id = await companies.newMethod('wechat', own.config);
    const payment = await place(id);
    // As in a process that has just started: none is known under the new name.
    own.renew();
    own.certificatesAway = true;
    setClock(new Date(Date.now() + 61_000));
    const at = new Date(Date.now() + 61_000);
    const notice = own.notice(own.paid(payment.payment_no), { at });
    const before = own.downloads;
    for (const answer of await send(notice, 20)) t.like(answer, refused('payment_key_unavailable', 503));
    t.is(own.downloads, before + 1, 'asked once a minute');
    t.like(await trace(payment), flagged('notice_unverified'));
    own.certificatesAway = false;
    setClock(new Date(Date.now() + 125_000));
    t.deepEqual(await sendOne(notice), yes.wechat);
    t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false });
  },
);

test.serial('certificates that were away are asked for again once the clock was set back', async (t) => {
  const own = await newPlatform(t);
  const payment = await place(await companies.newMethod('wechat', own.config));
  own.renew();
  own.certificatesAway = true;
  const noticeAt = (ms: number): Promise<NoticeAnswer> => {
    const at = new Date(Date.now() + ms);
    setClock(at);
    return sendOne(own.notice(own.paid(payment.payment_no), { at }));
  };
  t.like(await noticeAt(3_600_000), refused('payment_key_unavailable', 503));
  own.certificatesAway = false;
  t.deepEqual(await noticeAt(61_000), yes.wechat);
});

test.serial('what does not open under a key of ours causes no download', async (t) => {
  const own = await newPlatform(t);
  const payment = await place(await companies.newMethod('wechat', own.config));
  const before = own.downloads;
  setClock(new Date(Date.now() + 61_000));
  const at = new Date(Date.now() + 61_000);
  const by = { keys: own.keys, serial: '51AAAA' };
  const dials = { at, by, apiV3Key: 'x'.repeat(32) };
  t.like(await sendOne(own.notice(own.paid(payment.payment_no), dials)), refused('payment_notify_invalid'));
  t.is(own.downloads, before);
  for (const answer of await send(own.notice(own.paid(payment.payment_no), { at, by }), 10))
    t.like(answer, refused('payment_sign_invalid'));
  t.is(own.downloads, before + 1);
});

test.serial('the refund of another merchant is refused', async (t) => {
  const { payment_no } = await place();
  const notice = companies.wechat.refunded(payment_no, { mchid: '1900000002' });
  t.like(await sendOne(notice), refused('payment_merchant_mismatch'));
});

test.serial(
  'whether an order can still be paid depends on when this service learned of the money',
  async (t) => {
    const payment = await place();
    const inside = companies.wechat.paid(payment.payment_no, { success_time: '2026-01-02T03:04:05+08:00' });
    await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
    t.deepEqual(await sendOne(companies.wechat.notice(inside)), yes.wechat);
    const { payment: paid, order } = await trace(payment);
    t.like(paid, { status: 'paid', needs_attention: true, fail_reason: 'order_not_payable' });
    t.is(paid.pay_time, '2026-01-01T19:04:05.000Z');
    t.is(order?.status, 'cancelled');
  },
);

test.serial('money with a time that cannot be is dated by the arrival of its notice', async (t) => {
  for (const success_time of ['0001-01-01T00:00:00Z', '+020000-01-01T00:00:00+08:00']) {
    const payment = await place();
    const inside = companies.wechat.paid(payment.payment_no, { success_time });
    t.deepEqual(await sendOne(companies.wechat.notice(inside)), yes.wechat, success_time);
    const { payment: paid } = await trace(payment);
    t.true(Date.parse(paid.pay_time) >= Date.parse(payment.created_at), paid.pay_time);
  }
});

test.serial('a test of the method says that only the company signs', async (t) => {
  const { data } = await service.admin.post(
    `/payment-methods/${await companies.newMethod('wechat')}/test`,
    {},
    { 'Accept-Language': 'en-US' },
  );
  t.like(data, { accepted: false, verdict: 'payment_sign_invalid' });
  t.regex(data.message, /^The keys are complete/);
});

const hour = 3_600_000;

/** Moves the clocks of service and company. */
function later(platform: WechatPlatform, hours: number): Date {
  platform.aheadMs = hours * hour;
  const at = new Date(Date.now() + platform.aheadMs);
  setClock(at);
  return at;
}

test.serial('a known certificate is good until it expires while no other can be had', async (t) => {
  const platform = await newPlatform(t);
  platform.renew(new Date(Date.now() + 14 * hour));
  const id = await companies.newMethod('wechat', platform.config);
  const [first, second, third] = [await place(id), await place(id), await place(id)];
  platform.certificatesAway = true;
  const { downloads } = platform;
  const sendAt = (payment: Placed, hours: number): Promise<NoticeAnswer> => {
    const at = later(platform, hours);
    return sendOne(platform.notice(platform.paid(payment.payment_no), { at }));
  };
  t.is((await sendAt(first, 13)).status, 204);
  t.is((await sendAt(second, 13)).status, 204);
  t.is(platform.downloads, downloads + 1, 'asked once a minute');
  t.like(await sendAt(third, 14.1), { status: 503, slug: 'payment_key_unavailable' });
  t.is(platform.downloads, downloads + 2);
});

test.serial('a certificate that is no longer on the list counts no more', async (t) => {
  const platform = await newPlatform(t);
  const id = await companies.newMethod('wechat', platform.config);
  const payment = await place(id);
  const former = { keys: platform.keys, serial: platform.certificate.serial };
  platform.renew();
  const at = later(platform, 13);
  const inside = platform.paid(payment.payment_no);
  t.like(await sendOne(platform.notice(inside, { at, by: former })), {
    ...{ status: 400, slug: 'payment_sign_invalid' },
  });
  t.is((await sendOne(platform.notice(inside, { at }))).status, 204);
});

test.serial('an APIv3 key opens its notices however many methods there are', async (t) => {
  const platform = await newPlatform(t);
  const [other, key] = [
    await companies.newMethod('wechat', platform.config),
    'another-v3-key-of-32-characters-',
  ];
  platform.apiV3Key = key;
  const payment = await place(await companies.newMethod('wechat', platform.config));
  const copies = Array.from({ length: 100 }, (_, index) =>
    change(
      `INSERT INTO payment_methods (name, code, type, config, secrets, is_active, sort, created_at, updated_at)
       SELECT name, ?, type, config, secrets, is_active, sort, created_at, updated_at FROM payment_methods WHERE id = ?`,
      [`copy_${index}`, other],
    ),
  );
  await Promise.all(copies);
  t.is((await sendOne(platform.notice(platform.paid(payment.payment_no)))).status, 204);
});
