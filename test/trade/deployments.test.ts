// Deployments that differ by a setting: production, fewer gateways, results of companies closed, modules switched off, more
// times in the zone of the request.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { outcome, type Client } from '../support/client.js';
import { companiesTest, types } from '../support/companies/companies.js';
import {
  callBack,
  makeAdmin,
  makeCompanyMethod,
  makeMethod,
  makeOrder,
  makePayment,
  placePayment,
  unique,
} from '../support/factories.js';
import { portOf } from '../support/servers/free-port.js';
import { wechatConfig } from '../support/companies/merchant.js';
import { deliver } from '../support/companies/notices.js';
import { startApi } from '../support/processes.js';
import { paidPayment } from '../support/refunds.js';
import { newCertificate, newRsaKeys } from '../support/companies/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';
import { WechatPlatform } from '../support/companies/wechat-platform.js';

const service = serviceTest();
const companies = companiesTest(service);
const { trace } = companies;
// Settings that do not disturb each other are of one process.
let production: Client;
let withoutPayments: Client;
let withoutMock: Client;
/** Which one of them trusts. */
const keys = newRsaKeys();
const certificate = newCertificate(keys, undefined, 'localhost').pem;
const trusted = join(tmpdir(), `${unique('ca-')}.pem`);

test.before(async () => {
  // No production starts on the password that everybody knows.
  const own = { old_password: 'admin123', password: 'secret-9', password_confirmation: 'secret-9' };
  await service.admin.put('/password', own);
  await writeFile(trusted, certificate);
  const started = await Promise.all([
    startApi({
      ...{ NODE_ENV: 'production', HOST: '127.0.0.1', MODULE_ORDERS_ENABLED: 'false' },
      ...{ APP_URL: 'http://localhost:3000', PAYMENT_LOCAL_GATEWAYS_ALLOWED: 'false' },
    }),
    startApi({
      ...{ MODULE_PAYMENTS_ENABLED: 'false', PAYMENT_GATEWAYS_ENABLED: 'mock' },
      APP_RESPONSE_TIME_FIELDS: 'last_login_at, paid_at',
    }),
    startApi({
      ...{ PAYMENT_GATEWAYS_ENABLED: 'wechat , alipay', PAYMENT_CHANNEL_RESULTS: 'alipay' },
      ...{ APP_URL: service.url, NODE_EXTRA_CA_CERTS: trusted, PAYMENT_GATEWAY_TIMEOUT_MS: '10000' },
    }),
  ]);
  const clients = started.map(({ url }) => service.admin.at(url)) as [Client, Client, Client];
  [production, withoutPayments, withoutMock] = clients;
});

test.after.always(() => rm(trusted, { force: true }));

test('production accepts no mock method without a secret', async (t) => {
  const unsigned = await makeMethod(service.admin, '');
  const refused = await production.post('/payment-methods', { type: 'mock' });
  t.deepEqual([refused.status, refused.fields], [400, ['config.shared_secret']]);
  const short = await production.post('/payment-methods', { type: 'mock', shared_secret: 'x'.repeat(15) });
  t.deepEqual([short.status, short.fields], [422, ['config.shared_secret']]);
  const signed = await makeMethod(production, 'x'.repeat(16));
  t.is((await production.put(`/payment-methods/${signed.id}`, { shared_secret: '' })).status, 400);
  const payment = await makePayment(service.admin, unsigned.id);
  const callback = { out_trade_no: payment.payment_no, trade_status: 'SUCCESS' };
  const answer = await production.post('//api/payment/notify/mock', callback);
  t.deepEqual([answer.status, answer.errorCode], [400, 'payment_sign_invalid']);
  t.is((await service.anonymous.post('//api/payment/notify/mock', callback)).data.status, 'paid');
});

test('in production the mock channel does not reveal how to sign its callback', async (t) => {
  const { id } = await makeMethod(service.admin);
  const order = await makeOrder(service.admin);
  const place = (client: Client) => placePayment(client, order, id);
  t.is(typeof (await place(service.admin)).data.gateway.sign, 'string');
  const { status, data } = await place(production);
  t.is(status, 200);
  t.false('sign' in data.gateway);
});

/** The test of a method. @returns its answer, and the check of the address that callbacks go to */
async function testOf(id: number, client: Client) {
  const { data } = await client.post(`/payment-methods/${id}/test`, {}, { 'Accept-Language': 'en-US' });
  const address = data.checks.find(({ field }: { field: string }) => field === 'notify_url');
  return { data, address };
}

test('in production an address that is not public fails the test of a method', async (t) => {
  const { id } = await makeMethod(service.admin, 'shared secret of a shop');
  const { address } = await testOf(id, production);
  t.is(address.state, 'failed');
  t.regex(address.message, /APP_URL is not a public https address/);
});

test('the test of a method reports a channel that the deployment has not enabled', async (t) => {
  const { id } = await makeMethod(service.admin);
  const { data, address } = await testOf(id, withoutMock);
  t.like(data, { accepted: false, verdict: 'payment_gateway_disabled' });
  t.is(address.state, 'failed', 'the service under that address has it enabled');
});

test('a disabled gateway can be neither created, placed, queried, called back nor refunded', async (t) => {
  const mock = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, mock.id);
  const { payment_no } = await paidPayment(service.admin, mock.id);
  const order = await makeOrder(service.admin);
  const admin = withoutMock;
  for (const answer of [
    await admin.post('/payment-methods', { type: 'mock' }),
    await admin.post('/payments', { order_no: order.order_no, payment_method_id: mock.id }),
    await placePayment(admin, order, mock.id),
    await admin.post(`/payments/${payment.payment_no}/query`),
    await callBack(admin, payment),
    await admin.post('/refunds', { payment_no, destination: 'channel', reason: 'sold out' }),
  ]) {
    t.deepEqual(outcome(answer), [400, 40001, 'payment_gateway_disabled']);
  }
  t.is((await admin.post('/payment-methods', { type: 'wechat', config: wechatConfig })).status, 200);
  t.deepEqual((await admin.get('/info')).data.config.payment_gateways, ['wechat', 'alipay']);
  t.deepEqual((await service.admin.get('/info')).data.config.payment_gateways, ['mock', 'wechat', 'alipay']);
  const { payment: after, verdicts } = await trace(payment);
  t.deepEqual([after.status, verdicts], ['pending', ['payment_gateway_disabled']]);
});

test('disabling payments closes their endpoints and menus', async (t) => {
  const payment = await makePayment(service.admin);
  const admin = withoutPayments;
  for (const [method, path] of [
    ['GET', '/payments'],
    ['POST', '/payments'],
    ['GET', `/payments/${payment.payment_no}`],
    ['POST', `/payments/${payment.payment_no}/query`],
    ['GET', '/payment-methods'],
    ['POST', '/payment-methods'],
    ['GET', '/payment-methods/1'],
    ['PUT', '/payment-methods/1'],
    ['DELETE', '/payment-methods/1'],
    ['GET', '/options?type=payment_method'],
  ] as const) {
    const answer = await admin.request(method, path, { body: method === 'GET' ? undefined : {} });
    t.deepEqual(outcome(answer), [403, 20003, 'module_payments_disabled'], path);
    t.is((await admin.with({ Authorization: '' }).request(method, path)).status, 401);
  }
  interface Menu {
    slug: string;
    children?: Menu[];
  }
  const slugs = (menus: Menu[]): string[] =>
    menus.flatMap(({ slug, children = [] }) => [slug, ...slugs(children)]);
  const [shown, hidden] = [(await service.admin.get('/info')).data, (await admin.get('/info')).data];
  t.true(
    ['payment', 'payments', 'refunds', 'payment-methods'].every((slug) => slugs(shown.menus).includes(slug)),
  );
  t.false(slugs(hidden.menus).some((slug) => /^payment|^refunds/.test(slug)));
  t.true(slugs(hidden.menus).includes('orders'));
  t.deepEqual([shown.config.payments_enabled, hidden.config.payments_enabled], [true, false]);
});

test('callbacks are settled while payments are disabled', async (t) => {
  const payment = await makePayment(service.admin);
  const answer = await callBack(withoutPayments, payment);
  t.is(answer.data.status, 'paid');
  t.is((await service.admin.get(`/payments/${payment.payment_no}`)).data.status, 'paid');
});

test('disabling orders closes their endpoints and menus', async (t) => {
  const admin = production;
  for (const answer of [
    await admin.get('/orders'),
    await admin.post('/orders'),
    await admin.delete('/orders/1'),
  ]) {
    t.deepEqual(outcome(answer), [403, 20003, 'module_orders_disabled']);
  }
  t.false((await admin.get('/info')).text.includes('"slug":"orders"'));
});

test('APP_RESPONSE_TIME_FIELDS adds fields to those converted', async (t) => {
  const account = await makeAdmin(service.admin);
  const { username } = account;
  await service.anonymous.signIn(account);
  const shown = async (client: Client) =>
    (await client.get(`/admins?username=${username}&timezone=Asia/Tokyo`)).data.list[0];
  t.regex((await shown(service.admin)).last_login_at, /Z$/);
  const { last_login_at, created_at } = await shown(withoutPayments);
  for (const time of [last_login_at, created_at]) t.regex(time, /\+09:00$/);
  t.regex((await withoutPayments.get(`/admins?username=${username}`)).data.list[0].last_login_at, /Z$/);
});

/** The whole answer but for its trace id. */
async function answerOf(path: string, init: RequestInit): Promise<[number, string | null, string]> {
  const response = await fetch(`${service.url}${path}`, { method: 'POST', ...init });
  const text = (await response.text()).replace(/"trace_id":"\w+"/, '"trace_id":"…"');
  return [response.status, response.headers.get('Content-Type'), text];
}

/** While PAYMENT_CHANNEL_RESULTS is empty, as it was before there was such a setting. */
const recorded = {
  'zh-CN':
    '{"code":501,"message":"支付网关尚未实现该操作","data":null,"error_code":"payment_gateway_not_implemented","trace_id":"…"}',
  'en-US':
    '{"code":501,"message":"The payment gateway does not implement this operation","data":null,"error_code":"payment_gateway_not_implemented","trace_id":"…"}',
};

for (const type of types) {
  test(`${type}: callback and query answer as recorded, and the open payment is flagged`, async (t) => {
    const payment = await companies.place(type);
    const notice = companies.noticeOf(type, payment);
    const json = { 'Content-Type': 'application/json' };
    const unreadable = [
      { headers: json, body: '{}' },
      { headers: json, body: '{"id":"1","resource":{"ciphertext":"AAAA","nonce":"x"}}' },
      {
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: 'a=1&a=2&b[c]=d&__proto__=e',
      },
      { headers: { 'Content-Type': 'text/plain' }, body: 'x' },
    ];
    const { payment_no } = await companies.place('wechat');
    const probe = companies.wechat.notice(companies.wechat.paid(payment_no), { signTest: true });
    for (const language of ['zh-CN', 'en-US'] as const) {
      for (const { headers, body } of [...unreadable, notice, probe]) {
        const init = { headers: { ...headers, 'Accept-Language': language }, body };
        t.deepEqual(await answerOf(`/api/payment/notify/${type}`, init), [
          501,
          'application/json; charset=utf-8',
          recorded[language],
        ]);
      }
      const authorized = { headers: { ...service.admin.headers, 'Accept-Language': language } };
      t.deepEqual(await answerOf(`/api/admin/payments/${payment.payment_no}/query`, authorized), [
        501,
        'application/json; charset=utf-8',
        recorded[language],
      ]);
    }
    const { payment: after, order, verdicts } = await trace(payment);
    t.deepEqual(after, {
      ...{ status: 'pending', third_party_no: null, pay_time: null },
      ...{ needs_attention: true, fail_reason: 'notice_unverified' },
    });
    t.is(order.status, 'pending');
    t.deepEqual([...new Set(verdicts)], ['payment_gateway_not_implemented']);
    const { data } = await service.admin.get(`/payments/${payment.payment_no}`);
    const [callback] = data.callbacks;
    t.is(callback.third_party_no, null, 'only its number is read');
    t.true('resource' in callback.body ? 'ciphertext' in callback.body.resource : true);
  });
}

test('a notice of a disabled type is refused, and flags the open payment too', async (t) => {
  const payment = await companies.place('alipay');
  const notice = companies.noticeOf('alipay', payment);
  const [answer] = await deliver(`${withoutPayments.url}/api/payment/notify/alipay`, notice);
  t.like(answer, { status: 400, slug: 'payment_gateway_disabled' });
  const { payment: after, verdicts } = await trace(payment);
  t.like(after, { status: 'pending', needs_attention: true, fail_reason: 'notice_unverified' });
  t.deepEqual(verdicts, ['payment_gateway_disabled']);
});

test('a notice that was stored while the switch was off can be replayed only when it is on', async (t) => {
  const payment = await companies.place('alipay');
  const { headers, body } = companies.noticeOf('alipay', payment);
  await answerOf('/api/payment/notify/alipay', { headers, body });
  const { data } = await service.admin.get(`/payments/${payment.payment_no}`);
  const path = `/payments/${payment.payment_no}/callbacks/${data.callbacks[0].id}/replay`;
  t.is((await service.admin.post(path)).errorCode, 'payment_gateway_not_implemented');
  t.is((await withoutMock.post(path)).data.outcome, 'paid');
});

test('the TLS certificate of a gateway is verified', async (t) => {
  const tls = await WechatPlatform.start({ key: keys.privatePem, cert: certificate });
  const mute = createServer().listen(0, '127.0.0.1');
  await once(mute, 'listening');
  t.teardown(() => {
    tls.stop();
    mute.close();
  });
  const place = async (client: Client, more: object = {}) => {
    const config = { ...tls.config, notify_url: 'https://shop.test/notify', ...more };
    const { id } = await makeCompanyMethod(service.admin, 'wechat', config);
    return placePayment(client, await makeOrder(service.admin), id, { 'Accept-Language': 'en-US' });
  };
  t.regex((await place(service.admin)).message, /cannot be reached \(\w*SELF_SIGNED\w*\)/);
  t.is((await place(withoutMock)).status, 200);
  const answer = await place(withoutMock, { gateway: `https://localhost:${portOf(mute)}` });
  t.is(answer.status, 502);
  // The connect timeout of 3 s has no error code; the gateway timeout of 10 s has another text.
  t.regex(answer.message, /cannot be reached$/);
});
