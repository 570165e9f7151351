// Every channel keeps the channel contract. Placing with Alipay: an address that its gateway accepts and that nobody can alter.
// Placing with WeChat Pay: the request, which answers are trusted, and the handling of all others.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import { createPublicKey, verify } from 'node:crypto';
import test from 'ava';
import { allChannels } from '../../src/lib/channels/index.js';
import { select } from '../../src/lib/database/db.js';
import { AlipayPlatform } from '../support/companies/alipay-platform.js';
import { trace, untouched } from '../support/callbacks.js';
import { outcome } from '../support/client.js';
import {
  callBack,
  makeCompanyMethod,
  makeOrder,
  makePayment,
  mockCallback,
  placePayment,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';
import { ownWechat, WechatPlatform, type WechatMood } from '../support/companies/wechat-platform.js';

const service = serviceTest();
let wechat: WechatPlatform;
let alipay: AlipayPlatform;
/** A method of WeChat Pay. */
let wechatId: number;

test.before(async () => {
  [wechat, alipay] = await Promise.all([WechatPlatform.start(), AlipayPlatform.start()]);
  wechatId = await newWechat();
});

test.beforeEach(() => {
  wechat.mood = 'well';
});

test.after.always(() => {
  wechat.stop();
  alipay.stop();
});

/** One channel's part in the contract. */
interface ChannelSample {
  type: string;
  /** A complete configuration; read when the tests run. */
  config: () => Record<string, string>;
  required: string[];
  secret: string[];
  /** Keys of `gateway` in the answer to a placed payment. */
  placed: string[];
  /** Where the company is to call back for that payment. */
  notifyUrl: (gateway: Record<string, string>) => string | undefined;
  /** Body of a success callback, for a channel that reads them. */
  callback?: (payment: MadePayment) => object;
  /** Makes the company fail until the returned function is called. */
  breakDown?: () => () => void;
}

const samples: ChannelSample[] = [
  {
    type: 'mock',
    config: () => ({ shared_secret: 'canary shared secret' }),
    required: [],
    secret: ['shared_secret'],
    placed: ['payment_no', 'gateway', 'amount', 'notify_url', 'trade_status', 'sign'],
    notifyUrl: (gateway) => gateway.notify_url,
    callback: (payment) => mockCallback(payment, 'canary shared secret'),
  },
  {
    type: 'wechat',
    config: () => wechat.config,
    required: ['app_id', 'mch_id', 'api_v3_key', 'cert_serial_no', 'private_key'],
    secret: ['api_v3_key', 'private_key'],
    placed: ['payment_no', 'code_url'],
    notifyUrl: ({ code_url = '' }) => {
      const placed = wechat.transactions.find(({ content }) => code_url.endsWith(content.out_trade_no));
      return placed?.content.notify_url;
    },
    breakDown: () => {
      wechat.mood = 'refusing';
      return () => (wechat.mood = 'well');
    },
  },
  {
    type: 'alipay',
    config: () => alipay.config,
    required: ['app_id', 'private_key'],
    secret: ['private_key'],
    placed: ['payment_no', 'pay_url'],
    notifyUrl: ({ pay_url = '' }) => new URL(pay_url).searchParams.get('notify_url') ?? '',
  },
];

// In sequence, because these make its company fail in between.
for (const sample of samples) {
  const { type, required, secret } = sample;

  const newMethod = (more: Record<string, string> = {}) =>
    makeCompanyMethod(service.admin, type, { ...sample.config(), ...more });
  const place = async (methodId: number) =>
    placePayment(service.admin, await makeOrder(service.admin), methodId);

  test.serial(`${type}: a method accepts only its own keys`, async (t) => {
    const { admin } = service;
    const config = sample.config();
    for (const name of required) {
      const refused = await admin.post('/payment-methods', { type, config: { ...config, [name]: '' } });
      t.deepEqual([refused.status, refused.fields], [400, [`config.${name}`]]);
    }
    const unknown = await admin.post('/payment-methods', { type, config: { ...config, typo: 'x' } });
    t.deepEqual([unknown.status, unknown.fields], [422, ['config.typo']]);
    const made = await newMethod();
    for (const [name, value] of Object.entries(config)) {
      t.is(made.config[name], secret.includes(name) ? '***' : value, name);
    }
    const row = await selectRow<{ config: string; secrets: string }>(
      'SELECT config, secrets FROM payment_methods WHERE id = ?',
      [made.id],
    );
    t.deepEqual(Object.keys(JSON.parse(row.secrets)).sort(), secret.filter((name) => config[name]).sort());
    for (const name of secret) t.false(JSON.stringify(row).includes(config[name] ?? '-'), name);
  });

  test.serial(`${type}: placing returns how the client continues`, async (t) => {
    const { id } = await newMethod();
    const { status, data } = await place(id);
    t.is(status, 200);
    t.deepEqual(Object.keys(data.gateway).sort(), ['type', ...sample.placed].sort());
    t.is(data.gateway.payment_no, data.payment_no);
    t.deepEqual(await trace(service.admin, data), { ...untouched, verdicts: [] });
  });

  test.serial(`${type}: placing sends the configured notify URL`, async (t) => {
    const [byDefault, own] = [await newMethod(), await newMethod({ notify_url: 'https://shop.test/n' })];
    const first = await place(byDefault.id);
    t.is(sample.notifyUrl(first.data.gateway), `https://back-office.test/api/payment/notify/${type}`);
    t.is(sample.notifyUrl((await place(own.id)).data.gateway), 'https://shop.test/n');
  });

  test.serial(`${type}: a callback pays or is stored with a 501`, async (t) => {
    const { data } = await place((await newMethod()).id);
    const path = `//api/payment/notify/${type}`;
    const body = sample.callback?.(data) ?? { out_trade_no: data.payment_no, trade_status: 'SUCCESS' };
    const answer = await service.anonymous.post(path, body);
    const query = await service.admin.post(`/payments/${data.payment_no}/query`);
    const { payment, verdicts } = await trace(service.admin, data);
    const expected = sample.callback
      ? [200, 200, 'paid', 'paid']
      : [501, 501, 'pending', 'payment_gateway_not_implemented'];
    t.deepEqual([answer.status, query.status, payment.status, ...verdicts], expected);
  });

  const { breakDown } = sample;
  if (!breakDown) continue;
  test.serial(`${type}: a payment the channel refused can be placed again`, async (t) => {
    const { id } = await newMethod();
    const order = await makeOrder(service.admin);
    const headers = { 'Idempotency-Key': unique('key-') };
    const repair = breakDown();
    const failed = await placePayment(service.admin, order, id, headers);
    t.deepEqual(outcome(failed), [502, 50005, 'third_party_error']);
    // The entry committed with the payment; the outcome of the request is stored afterwards.
    const traceId = failed.headers.get('X-Trace-Id') as string;
    const end = `SELECT status FROM operation_logs WHERE trace_id = ? AND status <> 200`;
    const { status } = await until(async () => (await select<{ status: number }>(end, [traceId]))[0]);
    t.is(status, 502);
    const { payment_no, ...row } = await selectRow<MadePayment & { fail_reason: string; status: string }>(
      'SELECT payment_no, status, fail_reason FROM payments WHERE order_no = ?',
      [order.order_no],
    );
    t.is(row.status, 'pending');
    // Stored in both languages; answered in that of the request.
    const answered = /^第三方服务异常：(.+)$/.exec(failed.message)?.[1] ?? failed.message;
    t.true(row.fail_reason.split(' / ').includes(answered), row.fail_reason);
    repair();
    const again = await placePayment(service.admin, order, id, headers);
    t.is(again.data.payment_no, payment_no, 'the same payment under the same key');
    t.like(again.data, { fail_reason: null, gateway: { payment_no } });
    const other = await placePayment(service.admin, order, id);
    t.is(other.status, 200, 'or a new one');
    t.not(other.data.payment_no, payment_no);
  });
}

test('every channel keeps the contract', (t) => {
  t.deepEqual(samples.map(({ type }) => type).sort(), allChannels.map(({ type }) => type).sort());
});

async function placeAlipay(more: Record<string, string> = {}, price = '12.30', order: object = {}) {
  const config = { ...alipay.config, ...more };
  const { id } = await makeCompanyMethod(service.admin, 'alipay', config);
  return placePayment(service.admin, await makeOrder(service.admin, price, order), id);
}

// What the customer's browser meets: the cashier, or what is wrong.
async function opened(address: string): Promise<string> {
  const response = await fetch(address, { redirect: 'manual' });
  return response.headers.get('location') ?? (await response.text());
}

test('the payment address leads to the cashier with the exact amount', async (t) => {
  const { data } = await placeAlipay({ return_url: 'https://shop.test/thanks?a=b&c=支付' }, '0.10');
  const address = new URL(data.gateway.pay_url);
  t.is(await opened(address.href), '/cashier');
  const { biz_content, ...rest } = Object.fromEntries(address.searchParams);
  t.deepEqual(JSON.parse(biz_content ?? ''), {
    out_trade_no: data.payment_no,
    product_code: 'FAST_INSTANT_TRADE_PAY',
    total_amount: '0.10',
    subject: `订单 ${data.order_no}`,
  });
  t.like(rest, {
    notify_url: 'https://back-office.test/api/payment/notify/alipay',
    return_url: 'https://shop.test/thanks?a=b&c=支付',
  });
  for (const [name, value] of [
    ['biz_content', (biz_content ?? '').replace('0.10', '0.01')],
    ['notify_url', 'https://thief.test/'],
    ['app_id', '1'],
  ] as const) {
    const changed = new URL(address);
    changed.searchParams.set(name, value);
    t.is(await opened(changed.href), '<html>isv.invalid-signature</html>', name);
  }
});

test('keys are accepted in every form Alipay issues them', async (t) => {
  const { privateKey } = alipay.merchant;
  for (const type of ['pkcs8', 'pkcs1'] as const) {
    const pem = privateKey.export({ type, format: 'pem' }) as string;
    const bare = privateKey.export({ type, format: 'der' }).toString('base64');
    for (const private_key of [pem, bare]) {
      t.is(await opened((await placeAlipay({ private_key })).data.gateway.pay_url), '/cashier', type);
    }
  }
  const stranger = await placeAlipay({ private_key: newRsaKeys().privatePem });
  t.is(await opened(stranger.data.gateway.pay_url), '<html>isv.invalid-signature</html>');
});

test('the expiry of the order is sent in Beijing time', async (t) => {
  const { data } = await placeAlipay({}, '1', { expire_in_seconds: 600 });
  const trade = JSON.parse(new URL(data.gateway.pay_url).searchParams.get('biz_content') ?? '');
  const { expire_at } = (await service.admin.get(`/orders/${data.order_no}`)).data;
  const sent = Date.parse(`${trade.time_expire.replace(' ', 'T')}+08:00`);
  t.is(sent, Math.floor(Date.parse(expire_at) / 1000) * 1000);
});

test('a payment Alipay would refuse is not placed', async (t) => {
  for (const amount of ['0', '100000000.01']) {
    const answer = await placeAlipay({}, amount, { remark: 'refused' });
    t.deepEqual(outcome(answer), [400, 40001, 'payment_beyond_channel']);
    t.regex(answer.message, /0\.01.*100000000\.00/);
  }
  const soon = await placeAlipay({}, '1', { expire_in_seconds: 50, remark: 'refused' });
  t.deepEqual([soon.status, soon.errorCode], [400, 'order_expires_too_soon']);
  const placed =
    "SELECT p.id FROM payments p JOIN orders o ON o.order_no = p.order_no WHERE o.remark = 'refused'";
  t.deepEqual(await select(placed), []);
  const far = await placeAlipay({}, '2', { expire_in_seconds: 30_000_000 });
  t.notRegex(new URL(far.data.gateway.pay_url).searchParams.get('biz_content') ?? '', /time_expire/);
  const near = await placeAlipay({}, '2', { expire_in_seconds: 600 });
  t.regex(new URL(near.data.gateway.pay_url).searchParams.get('biz_content') ?? '', /time_expire/);
});

test('the default gateway is that of Alipay', async (t) => {
  const { data } = await placeAlipay({ gateway: '' });
  t.is(new URL(data.gateway.pay_url).origin, 'https://openapi.alipay.com');
});

const newWechat = async (more: Record<string, string> = {}): Promise<number> =>
  (await makeCompanyMethod(service.admin, 'wechat', { ...wechat.config, ...more })).id;

async function placeWechat(id = wechatId, price: string | number = '12.30', more: object = {}) {
  const order = await makeOrder(service.admin, price, more);
  const { order_no } = order;
  const answer = await placePayment(service.admin, order, id, { 'Accept-Language': 'en-US' });
  const payment = await selectRow<{ payment_no: string; status: string; fail_reason: string | null }>(
    'SELECT payment_no, status, fail_reason FROM payments WHERE order_no = ?',
    [order_no],
  );
  return { answer, order_no, payment };
}

const last = () => wechat.transactions.at(-1) as WechatPlatform['transactions'][number];

test.serial('Native sends the exact amount in cents', async (t) => {
  const { answer, order_no, payment } = await placeWechat();
  t.is(last().path, '/v3/pay/transactions/native');
  const number = `PAY${payment.payment_no.slice(11)}`;
  t.deepEqual(last().content, {
    appid: 'wx8888888888888888',
    mchid: wechat.mchId,
    description: `订单 ${order_no}`,
    out_trade_no: number,
    notify_url: 'https://back-office.test/api/payment/notify/wechat',
    amount: { total: 1230, currency: 'CNY' },
  });
  t.deepEqual(answer.data.gateway, {
    type: 'wechat',
    payment_no: payment.payment_no,
    code_url: `weixin://wxpay/bizpayurl?pr=${number}`,
  });
});

test.serial('amounts floating point cannot hold arrive exactly', async (t) => {
  for (const [price, total] of [
    ['0.01', 1],
    ['0.29', 29],
    ['4.35', 435],
    ['1.15', 115],
    ['70368744177.67', 7_036_874_417_767],
    ['9999999999999.99', 999_999_999_999_999],
  ] as const) {
    t.is((await placeWechat(wechatId, price)).answer.status, 200);
    t.is(last().content.amount.total, total);
  }
});

test.serial('WeChat Pay gets the expiry of the order in Beijing time', async (t) => {
  const { order_no } = await placeWechat(wechatId, '1', { expire_in_seconds: 600 });
  const { expire_at } = (await service.admin.get(`/orders/${order_no}`)).data;
  const sent = last().content.time_expire ?? '';
  t.true(sent.endsWith('+08:00'));
  t.is(Date.parse(sent), Math.floor(Date.parse(expire_at) / 1000) * 1000);
});

test.serial('a method with an openid places JSAPI', async (t) => {
  const { answer } = await placeWechat(await newWechat({ openid: 'o-somebody' }));
  t.is(last().path, '/v3/pay/transactions/jsapi');
  t.deepEqual(last().content.payer, { openid: 'o-somebody' });
  const { prepay_id, jsapi } = answer.data.gateway;
  t.like(jsapi, { appId: 'wx8888888888888888', package: `prepay_id=${prepay_id}`, signType: 'RSA' });
  const signed = `${jsapi.appId}\n${jsapi.timeStamp}\n${jsapi.nonceStr}\n${jsapi.package}\n`;
  const key = createPublicKey(wechat.merchant.publicPem);
  t.true(verify('sha256', Buffer.from(signed), key, Buffer.from(jsapi.paySign, 'base64')));
});

const failures: [WechatMood, RegExp][] = [
  ['refusing', /^NO_AUTH: 商户号 未开通 此产品权限$/],
  ['garbled', /cannot be read/],
  ['empty', /lacks what was asked for/],
  ['forging', /no valid signature/],
  ['unsigned', /no valid signature/],
  ['replaying', /no valid signature/],
  ['silent', /did not answer in time/],
  ['dripping', /did not answer in time/],
  ['resetting', /cannot be reached \(ECONNRESET\)/],
  ['redirecting', /^HTTP 307$/],
  ['switching', /cannot be read/],
  ['flooding', /too large/],
];

for (const [mood, reason] of failures) {
  test.serial(`a platform that is ${mood} fails the placing, not the payment`, async (t) => {
    wechat.mood = mood;
    const { answer, payment } = await placeWechat();
    t.deepEqual(outcome(answer), [502, 50005, 'third_party_error']);
    t.is(payment.status, 'pending');
    t.regex(payment.fail_reason ?? '', reason);
    t.is(answer.message, `A third-party service failed: ${payment.fail_reason?.split(' / ').at(-1)}`);
  });
}

for (const mood of ['refusing', 'silent'] as const) {
  test.serial(`a platform that is ${mood} is asked once for a request under a key`, async (t) => {
    wechat.mood = mood;
    const order = await makeOrder(service.admin);
    const asked = wechat.transactions.length;
    const headers = { 'Idempotency-Key': unique('key-') };
    const answer = await placePayment(service.admin, order, wechatId, headers);
    t.deepEqual([answer.status, answer.errorCode], [502, 'third_party_error']);
    t.is(wechat.transactions.length, asked + 1);
    wechat.mood = 'well';
    const again = await placePayment(service.admin, order, wechatId, headers);
    t.is(again.status, 200);
    t.truthy(again.data.gateway.code_url);
    t.is((await service.admin.get(`/payments?order_no=${order.order_no}`)).data.total, 1);
  });
}

test.serial('what was paid while its platform was asked is not handed out', async (t) => {
  const other = await makePayment(service.admin);
  wechat.mood = 'slow';
  const asked = wechat.transactions.length;
  const placing = placePayment(service.admin, other, wechatId);
  await until(() => wechat.transactions.length > asked);
  t.is((await callBack(service.anonymous, other)).data.status, 'paid');
  const { status, errorCode } = await placing;
  t.deepEqual([status, errorCode], [400, 'order_not_payable']);
});

test.serial('a slow answer within the timeout is accepted', async (t) => {
  wechat.mood = 'slow';
  t.is((await placeWechat()).answer.status, 200);
});

test.serial('an unreachable platform is reported as unreachable', async (t) => {
  const gone = await WechatPlatform.start();
  const gateway = gone.url;
  gone.stop();
  const { payment } = await placeWechat(await newWechat({ gateway }));
  t.regex(payment.fail_reason ?? '', /cannot be reached \(ECONNREFUSED\)/);
});

test.serial('the error text of the platform is stored', async (t) => {
  const { payment } = await placeWechat(await newWechat({ openid: 'o-unknown' }));
  t.is(payment.fail_reason, 'PARAM_ERROR: 无效的openid');
  const other = await placeWechat(await newWechat({ cert_serial_no: '00FF00FF' }));
  t.is(other.payment.fail_reason, 'SIGN_ERROR: who is that');
});

test.serial('the platform certificates are downloaded only for a new serial number', async (t) => {
  const own = await ownWechat(t);
  const id = await newWechat(own.config);
  for (let round = 0; round < 3; round++) t.is((await placeWechat(id)).answer.status, 200);
  t.is(own.downloads, 1);
  const wrongKey = await ownWechat(t);
  const { payment } = await placeWechat(await newWechat({ ...wrongKey.config, api_v3_key: 'x'.repeat(32) }));
  t.regex(payment.fail_reason ?? '', /check api_v3_key/);
  const forged = await ownWechat(t);
  forged.listKeys = newRsaKeys();
  t.regex(
    (await placeWechat(await newWechat(forged.config))).payment.fail_reason ?? '',
    /no valid signature/,
  );
  const expired = await ownWechat(t);
  expired.renew(new Date(Date.now() - 1000));
  t.regex(
    (await placeWechat(await newWechat(expired.config))).payment.fail_reason ?? '',
    /no valid signature/,
  );
  expired.renew();
  t.is((await placeWechat(await newWechat(expired.config))).answer.status, 200);
});

test.serial('a configured platform public key replaces the certificates', async (t) => {
  const own = await ownWechat(t);
  const publicKeyId = `PUB_KEY_ID_${unique('0').toUpperCase()}`;
  own.publicKeyId = publicKeyId;
  const key = { platform_public_key: own.keys.publicPem, platform_public_key_id: publicKeyId };
  const id = await newWechat({ ...own.config, ...key });
  t.is((await placeWechat(id)).answer.status, 200);
  t.is(own.transactions.at(-1)?.headers['wechatpay-serial'], publicKeyId);
  t.is(own.downloads, 0);
  own.keys = newRsaKeys();
  t.regex((await placeWechat(id)).payment.fail_reason ?? '', /no valid signature/);
});

test.serial('placing again under the same key asks for the same payment', async (t) => {
  const order = await makeOrder(service.admin);
  const headers = { 'Idempotency-Key': unique('key-') };
  const place = () => placePayment(service.admin, order, wechatId, headers);
  const first = await place();
  const before = wechat.transactions.length;
  const second = await place();
  t.deepEqual(second.data, first.data);
  const [one, other] = wechat.transactions.slice(before - 1).map(({ content }) => content);
  t.deepEqual(one, other);
  await service.admin.put(`/orders/${order.order_no}`, { status: 'cancelled' });
  const late = await place();
  t.like(late.data, { payment_no: first.data.payment_no, status: 'cancelled' });
  t.false('gateway' in late.data);
  t.is(wechat.transactions.length, before + 1);
});
