// Notices while PAYMENT_CHANNEL_RESULTS opens them. Of WeChat Pay: only notices signed, sealed and meant for this merchant pay. And
// their keys: certificates that cannot be downloaded again, and one APIv3 key among many methods. Of Alipay: every field is signed,
// and meant for this application.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/open-results.js';
import test from 'ava';
import { alipay } from '../../src/lib/channels/alipay.js';
import { change, select } from '../../src/lib/database/db.js';
import { fieldsOf } from '../../src/lib/input/body-fields.js';
import { setClock } from '../../src/lib/values/clock.js';
import { Money } from '../../src/lib/values/money.js';
import type { NoticeDials, NoticeForm } from '../support/companies/alipay-platform.js';
import { untouched } from '../support/callbacks.js';
import { outcome } from '../support/client.js';
import { companiesTest, type Placed } from '../support/companies/companies.js';
import { makeOrder, placePayment } from '../support/factories.js';
import {
  deliver,
  flagged,
  refused,
  unverifiable,
  yes,
  type Notice,
  type NoticeAnswer,
} from '../support/companies/notices.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import { ownWechat, type WechatPlatform } from '../support/companies/wechat-platform.js';

const service = serviceTest();
const companies = companiesTest(service);
const { trace } = companies;

test.afterEach.always(() => setClock());

/** Nobody asks the company about it. */
const place = (methodId?: number): Promise<Placed> =>
  companies.place('wechat', { methodId, isFollowed: false });

const send = (notice: Notice, repeat: number): Promise<NoticeAnswer[]> =>
  deliver(`${service.url}/api/payment/notify/wechat`, notice, repeat);

const sendOne = (notice: Notice): Promise<NoticeAnswer> => companies.send('wechat', notice);

test.serial('a stored notice shows what was sealed and no signature', async (t) => {
  const payment = await place();
  const notice = companies.wechat.notice(companies.wechat.paid(payment.payment_no));
  await sendOne(unverifiable(notice));
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
  [
    'its body written otherwise',
    ({ headers, body }) => ({ headers, body: JSON.stringify(JSON.parse(body)) }),
  ],
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
  const other = await ownWechat(t);
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
  const own = await ownWechat(t);
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
    const own = await ownWechat(t);
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
  const own = await ownWechat(t);
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
  const own = await ownWechat(t);
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
    t.is(order.status, 'cancelled');
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
  const platform = await ownWechat(t);
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
  const platform = await ownWechat(t);
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
  const platform = await ownWechat(t);
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

/** The same at Alipay. */
const placeAlipay = (methodId?: number): Promise<Placed> =>
  companies.place('alipay', { methodId, isFollowed: false });

const alipayNotice = (payment: Placed, more?: NoticeForm, dials?: NoticeDials): Notice =>
  companies.alipay.notice(companies.alipay.paid(payment.gateway.pay_url, more), dials);

const sendAlipay = (notice: Notice): Promise<NoticeAnswer> => companies.send('alipay', notice);

const v3 =
  'app_id=2019073166072302&auth_app_id=2019073166072302&buyer_id=2088102534368455&buyer_logon_id=xud***@126.com&buyer_pay_amount=0.10&charset=utf-8&fund_bill_list=[{"amount":"0.10","fundChannel":"ALIPAYACCOUNT"}]&gmt_create=2019-08-15 15:56:22&gmt_payment=2019-08-15 15:56:24&invoice_amount=0.10&notify_id=2019081500222155624068450559358070&notify_time=2019-08-15 15:56:25&notify_type=trade_status_sync&out_trade_no=20190815155618536-564-57&point_amount=0.00&receipt_amount=0.10&seller_email=z97-yuquerevenue@service.aliyun.com&seller_id=2088531891668739&subject=语雀空间 500人规模&total_amount=0.10&trade_no=2019081522001468450512505578&trade_status=TRADE_SUCCESS&version=1.0';
const v3Key =
  'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAqObrdC7hrgAVM98tK0nv3hSQRGGKT4lBsQjHiGjeYZjOPIPHR5knm2jnnz/YGIXIofVHkA/tAlBAd5DrY7YpvI4tP5EONLtZKC2ghBMx7McI2wRD0xiqzxOQr1FuhZGJ8/AUokBzJrzY+aGX2xcOrxFYRlFilvVLTXg4LWjR1tdPkO6+i7wQZAIVMClPkwVRZEbaERRHlKqTzv2gGv5rDU8gRoe1LeaN+6BlbTqHWkQcNCUNrA8C6l17XAXGKDsm/9TFWwO8EPHHHCaQdjtV5/FdcWIt+L8SR1ss7EXTjYDFtxcKVv9rEoY1lX8T4mX+GbXfZHraG5NCF1+XioL5JwIDAQAB';
const v3Sign =
  'QfTb8tqE1BMhS5qAnXtvsF3/jBkEvu9q9en0pdbBUDDjvKycZhQb7h8GDs4FKfi049PynaNuatxSgLb/nLWZpXyyh0LEWdK2S6Ri7nPwrVgOs08zugLO20vOQz44y3ti2Ncm8/wZts1Fr2gZ7pShnVX3d1B50hbsXnObT1r/U8ONNQjWXd0HIul4TG+Q3fm3svmSvFEy0WnzuhcyHPX5Gm4ELNctL6Qd5YniGJFNcc7kopHYtI/XD9YCKCH6Ct02rzUs9i11C9CsadtZn+WhxF26Dqt9sGEFajkJ8cxUTLi8+VCpLHsgPE8P0y095uQcDdK0YjCh4x7wVSov+lrmOQ==';

test('V3: a notice of Alipay itself is authentic without its sign_type, and for its own application only', async (t) => {
  const sent = Object.fromEntries(v3.split('&').map((pair) => pair.split(/=(.*)/s, 2))) as NoticeForm;
  const judged = (more: NoticeForm, config: Record<string, string> = {}) => {
    const raw = new URLSearchParams({ ...sent, sign: v3Sign, sign_type: 'RSA2', ...more }).toString();
    const fields = fieldsOf(raw, 'application/x-www-form-urlencoded') as Record<string, unknown>;
    const callback = { raw, headers: {}, fields, receivedAt: new Date() };
    const own = { app_id: '2019073166072302', alipay_public_key: v3Key, ...config };
    const payment = { paymentNo: '', amount: Money.from('0.10'), config: own };
    return alipay.isAuthentic?.(callback, payment, AbortSignal.timeout(1000));
  };
  t.is(await judged({}), 'authentic');
  t.is(await judged({}, { seller_id: '2088531891668739' }), 'authentic');
  t.is(await judged({}, { app_id: '2019' }), 'foreign');
  t.is(await judged({}, { seller_id: '2088' }), 'foreign');
  t.is(await judged({ total_amount: '0.11' }), 'forged');
  t.is(await judged({ empty: '' }), 'forged', 'an empty field is a field');
  // Under its sign_type the text would be another one.
  t.is(await judged({ sign_type: 'RSA' }), 'authentic');
});

test('a notice with a changed, added or missing field changes no state', async (t) => {
  const payment = await placeAlipay();
  const good = companies.alipay.paid(payment.gateway.pay_url);
  const mutations: ((fields: NoticeForm) => NoticeForm)[] = [
    (fields) => ({ ...fields, total_amount: '12.31' }),
    (fields) => ({ ...fields, trade_no: `${fields.trade_no}0` }),
    (fields) => ({ ...fields, subject: `${fields.subject} ` }),
    (fields) => ({ ...fields, body: ' ' }),
    (fields) => ({ ...fields, passback_params: '' }),
    (fields) => ({ ...fields, 'a[b]': 'c' }),
    ({ body: _, ...fields }) => fields,
    ({ sign: _, ...fields }) => fields,
    (fields) => ({ ...fields, sign: '' }),
    ({ sign = '', ...fields }) => ({ ...fields, sign: (sign.startsWith('A') ? 'B' : 'A') + sign.slice(1) }),
  ];
  for (const mutate of mutations)
    t.like(
      await sendAlipay(companies.alipay.notice(good, { mutate })),
      refused('payment_sign_invalid'),
      mutate.toString(),
    );
  t.like(
    await sendAlipay(companies.alipay.notice(good, { keys: newRsaKeys() })),
    refused('payment_sign_invalid'),
  );
  t.like(await trace(payment), flagged('notice_unverified'));
  t.deepEqual(await sendAlipay(companies.alipay.notice(good)), yes.alipay);
  t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false, fail_reason: null });
});

test('a field that is repeated is refused whichever one was signed', async (t) => {
  const payment = await placeAlipay();
  const good = companies.alipay.paid(payment.gateway.pay_url);
  for (const more of [
    '&total_amount=12.30',
    '&total_amount=0.01',
    '&trade_status=TRADE_SUCCESS',
    '&sign=x',
    '&sign_type=RSA2',
  ])
    t.like(
      await sendAlipay(companies.alipay.notice(good, { more })),
      refused('payment_notify_invalid'),
      more,
    );
  const { verdicts, ...rest } = await trace(payment);
  t.deepEqual(rest, untouched);
  // Two of them name the payment twice.
  t.true(verdicts.length > 0);
});

test('a field that is hidden in the value before it does not make a refund a payment', async (t) => {
  const payment = await placeAlipay();
  const refund = companies.alipay.paid(payment.gateway.pay_url, {
    gmt_refund: '2026-11-25 10:00:00.123',
    refund_fee: '1.00',
  });
  // The text that is signed stays the same.
  const mutate = ({ gmt_refund, refund_fee, ...fields }: NoticeForm): NoticeForm => ({
    ...fields,
    gmt_payment: `${fields.gmt_payment}&gmt_refund=${gmt_refund}`,
    receipt_amount: `${fields.receipt_amount}&refund_fee=${refund_fee}`,
  });
  t.like(await sendAlipay(companies.alipay.notice(refund, { mutate })), refused('payment_notify_invalid'));
  t.like(await trace(payment), flagged('notice_unverified'));
});

test('a method without a seller takes the money of any', async (t) => {
  const payment = await placeAlipay(await companies.newMethod('alipay', { seller_id: '' }));
  t.deepEqual(await sendAlipay(alipayNotice(payment, { seller_id: '2088000000000000' })), yes.alipay);
});

test('a refund of nothing is a payment', async (t) => {
  const payment = await placeAlipay();
  t.deepEqual(await sendAlipay(alipayNotice(payment, { refund_fee: '0.00' })), yes.alipay);
  t.is((await trace(payment)).payment.status, 'paid');
});

test('a notice that changes nothing is stored once a day, however it is written', async (t) => {
  const payment = await placeAlipay();
  const good = companies.alipay.paid(payment.gateway.pay_url);
  t.deepEqual(await sendAlipay(companies.alipay.notice(good)), yes.alipay);
  // What the browser of the customer brings back is signed, too, and says nothing of the status.
  const { trade_status, ...returned } = good;
  const disguises: ((form: NoticeForm) => NoticeForm)[] = [
    (form) => form,
    (form) => Object.fromEntries(Object.entries(form).reverse()),
    (form) => ({ ...form, sign_type: 'RSA' }),
    ({ sign = '', ...form }) => ({ ...form, sign: ` ${sign}` }),
    ({ notify_time = '', ...form }) => ({
      ...form,
      notify_id: `${form.notify_id}&notify_time=${notify_time}`,
    }),
  ];
  for (const form of [good, returned])
    for (const mutate of disguises) {
      const answers = await deliver(
        `${service.url}/api/payment/notify/alipay`,
        companies.alipay.notice(form, { mutate }),
        5,
      );
      for (const answer of answers) t.deepEqual(answer, yes.alipay);
    }
  const stored = await select<object>(
    'SELECT verdict, times, sealed FROM payment_callbacks WHERE payment_no = ? ORDER BY id',
    [payment.payment_no],
  );
  t.is(trade_status, 'TRADE_SUCCESS');
  t.deepEqual(stored, [
    { verdict: 'paid', times: 1, sealed: null },
    { verdict: 'already_paid', times: 25, sealed: null },
    { verdict: 'noted', times: 25, sealed: null },
  ]);
});

test('a method without the public key of Alipay places nothing, and what it placed before waits', async (t) => {
  const id = await companies.newMethod('alipay');
  const payment = await placeAlipay(id);
  await service.admin.put(`/payment-methods/${id}`, { config: { alipay_public_key: '' } });
  const order = await makeOrder(service.admin);
  const answer = await placePayment(service.admin, order, id, { 'Accept-Language': 'en-US' });
  t.deepEqual(outcome(answer), [400, 40004, 'payment_method_incomplete']);
  t.regex(answer.message, /alipay_public_key$/);
  t.is((await service.admin.get(`/payments?order_no=${order.order_no}`)).data.total, 0);
  const again = await service.admin.post(`/payments/${payment.payment_no}/place`);
  t.is(again.errorCode, 'payment_method_incomplete');
  const tested = await service.admin.post(`/payment-methods/${id}/test`);
  t.like(tested.data, { accepted: false, verdict: 'payment_method_incomplete' });
  const notice = alipayNotice(payment);
  t.like(await sendAlipay(notice), refused('payment_key_unavailable', 503));
  t.like(await trace(payment), flagged('notice_unverified'));
  await service.admin.put(`/payment-methods/${id}`, {
    config: { alipay_public_key: companies.alipay.keys.publicPem },
  });
  t.deepEqual(await sendAlipay(notice), yes.alipay);
  t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false });
});

test('of two methods of Alipay the one of the payment verifies, also when it is deactivated', async (t) => {
  const keys = newRsaKeys();
  const id = await companies.newMethod('alipay', { alipay_public_key: keys.publicPem });
  const payment = await placeAlipay(id);
  await service.admin.put(`/payment-methods/${id}`, { is_active: false });
  t.like(await sendAlipay(alipayNotice(payment)), refused('payment_sign_invalid'));
  t.deepEqual(await sendAlipay(alipayNotice(payment, {}, { keys })), yes.alipay);
});
