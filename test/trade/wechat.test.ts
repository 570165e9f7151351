// Placing with WeChat Pay: the request, which answers are trusted, and the handling of all others.
import '../support/environment.js';
import '../support/local-gateways.js';
import { createPublicKey, verify } from 'node:crypto';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { outcome } from '../support/client.js';
import { callBack, makeMethod, makeOrder, unique } from '../support/factories.js';
import { newRsaKeys } from '../support/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';
import { WechatPlatform, type WechatMood } from '../support/wechat-platform.js';

const service = serviceTest();
let platform: WechatPlatform;
let methodId: number;

test.before(async () => {
  platform = await WechatPlatform.start();
  methodId = await newMethod();
});

test.beforeEach(() => {
  platform.mood = 'well';
});

test.after.always(() => platform.stop());

async function newMethod(more: Record<string, string> = {}): Promise<number> {
  const config = { ...platform.config, ...more };
  const { data, text } = await service.admin.post('/payment-methods', { type: 'wechat', config });
  if (!data) throw new Error(text);
  return data.id;
}

async function place(id = methodId, price: string | number = '12.30', more: object = {}) {
  const { order_no } = await makeOrder(service.admin, price, more);
  const body = { order_no, payment_method_id: id, initiate: true };
  const answer = await service.admin.post('/payments', body, { 'Accept-Language': 'en-US' });
  const [payment] = await select<{ payment_no: string; status: string; fail_reason: string | null }>(
    'SELECT payment_no, status, fail_reason FROM payments WHERE order_no = ?',
    [order_no],
  );
  return { answer, order_no, payment: payment as NonNullable<typeof payment> };
}

const last = () => platform.transactions.at(-1) as WechatPlatform['transactions'][number];

test.serial('Native sends the exact amount in cents', async (t) => {
  const { answer, order_no, payment } = await place();
  t.is(last().path, '/v3/pay/transactions/native');
  const number = `PAY${payment.payment_no.slice(11)}`;
  t.deepEqual(last().content, {
    appid: 'wx8888888888888888',
    mchid: platform.mchId,
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
    t.is((await place(methodId, price)).answer.status, 200);
    t.is(last().content.amount.total, total);
  }
});

test.serial('the expiry of the order is sent in Beijing time', async (t) => {
  const { order_no } = await place(methodId, '1', { expire_in_seconds: 600 });
  const [order] = await select<{ expire_at: Date }>('SELECT expire_at FROM orders WHERE order_no = ?', [
    order_no,
  ]);
  const sent = last().content.time_expire ?? '';
  t.true(sent.endsWith('+08:00'));
  t.is(Date.parse(sent), Math.floor((order?.expire_at.getTime() ?? 0) / 1000) * 1000);
});

test.serial('a method with an openid places JSAPI', async (t) => {
  const { answer } = await place(await newMethod({ openid: 'o-somebody' }));
  t.is(last().path, '/v3/pay/transactions/jsapi');
  t.deepEqual(last().content.payer, { openid: 'o-somebody' });
  const { prepay_id, jsapi } = answer.data.gateway;
  t.like(jsapi, { appId: 'wx8888888888888888', package: `prepay_id=${prepay_id}`, signType: 'RSA' });
  const signed = `${jsapi.appId}\n${jsapi.timeStamp}\n${jsapi.nonceStr}\n${jsapi.package}\n`;
  const key = createPublicKey(platform.merchant.publicPem);
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
    platform.mood = mood;
    const { answer, payment } = await place();
    t.deepEqual(outcome(answer), [502, 50005, 'third_party_error']);
    t.is(payment.status, 'pending');
    t.regex(payment.fail_reason ?? '', reason);
    t.is(answer.message, `A third-party service failed: ${payment.fail_reason?.split(' / ').at(-1)}`);
  });
}

for (const mood of ['refusing', 'silent'] as const) {
  test.serial(`a platform that is ${mood} is asked once for a request under a key`, async (t) => {
    platform.mood = mood;
    const { order_no } = await makeOrder(service.admin);
    const body = { order_no, payment_method_id: methodId, initiate: true };
    const asked = platform.transactions.length;
    const headers = { 'Idempotency-Key': unique('key-') };
    const answer = await service.admin.post('/payments', body, headers);
    t.deepEqual([answer.status, answer.errorCode], [502, 'third_party_error']);
    t.is(platform.transactions.length, asked + 1);
    platform.mood = 'well';
    const again = await service.admin.post('/payments', body, headers);
    t.is(again.status, 200);
    t.truthy(again.data.gateway.code_url);
    t.is((await service.admin.get(`/payments?order_no=${order_no}`)).data.total, 1);
  });
}

test.serial('what was paid while its platform was asked is not handed out', async (t) => {
  const { order_no } = await makeOrder(service.admin);
  const mock = await makeMethod(service.admin);
  const { data: other } = await service.admin.post('/payments', { order_no, payment_method_id: mock.id });
  platform.mood = 'slow';
  const asked = platform.transactions.length;
  const placing = service.admin.post('/payments', { order_no, payment_method_id: methodId, initiate: true });
  await until(() => platform.transactions.length > asked);
  t.is((await callBack(service.anonymous, other)).data.status, 'paid');
  const { status, errorCode } = await placing;
  t.deepEqual([status, errorCode], [400, 'order_not_payable']);
});

test.serial('a slow answer within the timeout is accepted', async (t) => {
  platform.mood = 'slow';
  t.is((await place()).answer.status, 200);
});

test.serial('an unreachable platform is reported as unreachable', async (t) => {
  const gone = await WechatPlatform.start();
  const gateway = gone.url;
  gone.stop();
  const { payment } = await place(await newMethod({ gateway }));
  t.regex(payment.fail_reason ?? '', /cannot be reached \(ECONNREFUSED\)/);
});

test.serial('the error text of the platform is stored', async (t) => {
  const { payment } = await place(await newMethod({ openid: 'o-unknown' }));
  t.is(payment.fail_reason, 'PARAM_ERROR: 无效的openid');
  const other = await place(await newMethod({ cert_serial_no: '00FF00FF' }));
  t.is(other.payment.fail_reason, 'SIGN_ERROR: who is that');
});

test.serial('the platform certificates are downloaded only for a new serial number', async (t) => {
  const own = await WechatPlatform.start();
  t.teardown(() => own.stop());
  const id = await newMethod({ ...own.config });
  for (let round = 0; round < 3; round++) t.is((await place(id)).answer.status, 200);
  t.is(own.downloads, 1);
  const wrongKey = await WechatPlatform.start();
  t.teardown(() => wrongKey.stop());
  const { payment } = await place(await newMethod({ ...wrongKey.config, api_v3_key: 'x'.repeat(32) }));
  t.regex(payment.fail_reason ?? '', /check api_v3_key/);
  const forged = await WechatPlatform.start();
  t.teardown(() => forged.stop());
  forged.listKeys = newRsaKeys();
  t.regex((await place(await newMethod(forged.config))).payment.fail_reason ?? '', /no valid signature/);
  const expired = await WechatPlatform.start();
  t.teardown(() => expired.stop());
  expired.renew(new Date(Date.now() - 1000));
  t.regex((await place(await newMethod(expired.config))).payment.fail_reason ?? '', /no valid signature/);
  expired.renew();
  t.is((await place(await newMethod(expired.config))).answer.status, 200);
});

test.serial('a configured platform public key replaces the certificates', async (t) => {
  const own = await WechatPlatform.start();
  t.teardown(() => own.stop());
  const publicKeyId = `PUB_KEY_ID_${unique('0').toUpperCase()}`;
  own.publicKeyId = publicKeyId;
  const key = { platform_public_key: own.keys.publicPem, platform_public_key_id: publicKeyId };
  const id = await newMethod({ ...own.config, ...key });
  t.is((await place(id)).answer.status, 200);
  t.is(own.transactions.at(-1)?.headers['wechatpay-serial'], publicKeyId);
  t.is(own.downloads, 0);
  own.keys = newRsaKeys();
  t.regex((await place(id)).payment.fail_reason ?? '', /no valid signature/);
});

test.serial('placing again under the same key asks for the same payment', async (t) => {
  const { order_no } = await makeOrder(service.admin);
  const body = { order_no, payment_method_id: methodId, initiate: true };
  const headers = { 'Idempotency-Key': unique('key-') };
  const first = await service.admin.post('/payments', body, headers);
  const before = platform.transactions.length;
  const second = await service.admin.post('/payments', body, headers);
  t.deepEqual(second.data, first.data);
  const [one, other] = platform.transactions.slice(before - 1).map(({ content }) => content);
  t.deepEqual(one, other);
  await service.admin.put(`/orders/${order_no}`, { status: 'cancelled' });
  const late = await service.admin.post('/payments', body, headers);
  t.like(late.data, { payment_no: first.data.payment_no, status: 'cancelled' });
  t.false('gateway' in late.data);
  t.is(platform.transactions.length, before + 1);
});
