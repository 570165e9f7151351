// Deployments that differ by a setting: production, fewer gateways, modules switched off.
import '../support/environment.js';
import test from 'ava';
import { makeMethod, makeOrder, makePayment, mockCallback } from '../support/factories.js';
import { startApi } from '../support/processes.js';
import { wechatConfig } from '../support/merchant.js';
import { serviceTest } from '../support/service-test.js';
import type { Client } from '../support/client.js';

const service = serviceTest();
let production: Client;
let withoutPayments: Client;

test.before(async () => {
  // No production starts on the password that everybody knows.
  const own = { old_password: 'admin123', password: 'secret-9', password_confirmation: 'secret-9' };
  await service.admin.put('/password', own);
  const started = await Promise.all([
    startApi({ NODE_ENV: 'production', HOST: '127.0.0.1' }),
    startApi({ MODULE_PAYMENTS_ENABLED: 'false' }),
  ]);
  [production, withoutPayments] = started.map(({ url }) => service.admin.at(url)) as [Client, Client];
});

test('production accepts no mock method without a secret', async (t) => {
  const unsigned = await makeMethod(service.admin, '');
  const refused = await production.post('/payment-methods', { type: 'mock' });
  t.deepEqual([refused.status, Object.keys(refused.errors ?? {})], [400, ['config.shared_secret']]);
  const short = await production.post('/payment-methods', { type: 'mock', shared_secret: 'x'.repeat(15) });
  t.deepEqual([short.status, Object.keys(short.errors ?? {})], [422, ['config.shared_secret']]);
  const signed = await makeMethod(production, 'x'.repeat(16));
  t.is((await production.put(`/payment-methods/${signed.id}`, { shared_secret: '' })).status, 400);
  const payment = await makePayment(service.admin, unsigned.id);
  const callback = { out_trade_no: payment.payment_no, trade_status: 'SUCCESS' };
  const answer = await production.post('//api/payment/notify/mock', callback);
  t.deepEqual([answer.status, answer.errorCode], [400, 'payment_sign_invalid']);
  t.is((await service.anonymous.post('//api/payment/notify/mock', callback)).data.status, 'paid');
});

test('in production the mock channel does not reveal how to sign its callback', async (t) => {
  const { id: payment_method_id } = await makeMethod(service.admin);
  const { order_no } = await makePayment(service.admin, payment_method_id);
  const place = (client: Client) => client.post('/payments', { order_no, payment_method_id, initiate: true });
  t.is(typeof (await place(service.admin)).data.gateway.sign, 'string');
  const { status, data } = await place(production);
  t.is(status, 200);
  t.false('sign' in data.gateway);
});

test('a disabled gateway can be neither created, placed, queried nor called back', async (t) => {
  const mock = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, mock.id);
  const order = await makeOrder(service.admin);
  const limited = await startApi({ PAYMENT_GATEWAYS_ENABLED: 'wechat , alipay' });
  const admin = service.admin.at(limited.url);
  const body = { order_no: order.order_no, payment_method_id: mock.id };
  for (const answer of [
    await admin.post('/payment-methods', { type: 'mock' }),
    await admin.post('/payments', body),
    await admin.post('/payments', { ...body, initiate: true }),
    await admin.post(`/payments/${payment.payment_no}/query`),
    await admin.post('//api/payment/notify/mock', mockCallback(payment)),
  ]) {
    t.deepEqual([answer.status, answer.code, answer.errorCode], [400, 40001, 'payment_gateway_disabled']);
  }
  t.is((await admin.post('/payment-methods', { type: 'wechat', config: wechatConfig })).status, 200);
  t.deepEqual((await admin.get('/info')).data.config.payment_gateways, ['wechat', 'alipay']);
  t.deepEqual((await service.admin.get('/info')).data.config.payment_gateways, ['mock', 'wechat', 'alipay']);
  const { status, callbacks } = (await service.admin.get(`/payments/${payment.payment_no}`)).data;
  t.deepEqual(
    [status, callbacks.map(({ verdict }: { verdict: string }) => verdict)],
    ['pending', ['payment_gateway_disabled']],
  );
});

test('disabling payments closes their endpoints and menus', async (t) => {
  const payment = await makePayment(service.admin, (await makeMethod(service.admin)).id);
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
  ] as const) {
    const answer = await admin.request(method, path, { body: method === 'GET' ? undefined : {} });
    t.deepEqual(
      [answer.status, answer.code, answer.errorCode],
      [403, 20003, 'module_payments_disabled'],
      path,
    );
    t.is((await admin.with({ Authorization: '' }).request(method, path)).status, 401);
  }
  interface Menu {
    slug: string;
    children?: Menu[];
  }
  const slugs = (menus: Menu[]): string[] =>
    menus.flatMap(({ slug, children = [] }) => [slug, ...slugs(children)]);
  const [shown, hidden] = [(await service.admin.get('/info')).data, (await admin.get('/info')).data];
  t.true(slugs(shown.menus).includes('payments') && slugs(shown.menus).includes('payment-methods'));
  t.false(slugs(hidden.menus).some((slug) => slug.startsWith('payment')));
  t.true(slugs(hidden.menus).includes('orders'));
  t.deepEqual([shown.config.payments_enabled, hidden.config.payments_enabled], [true, false]);
});

test('callbacks are settled while payments are disabled', async (t) => {
  const payment = await makePayment(service.admin, (await makeMethod(service.admin)).id);
  const answer = await withoutPayments.post('//api/payment/notify/mock', mockCallback(payment));
  t.is(answer.data.status, 'paid');
  t.is((await service.admin.get(`/payments/${payment.payment_no}`)).data.status, 'paid');
});

test('disabling orders closes their endpoints and menus', async (t) => {
  const off = await startApi({ MODULE_ORDERS_ENABLED: 'false' });
  const admin = service.admin.at(off.url);
  for (const answer of [
    await admin.get('/orders'),
    await admin.post('/orders'),
    await admin.delete('/orders/1'),
  ]) {
    t.deepEqual([answer.status, answer.code, answer.errorCode], [403, 20003, 'module_orders_disabled']);
  }
  t.false((await admin.get('/info')).text.includes('"slug":"orders"'));
});
