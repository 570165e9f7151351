// /payment-methods: types, what each must be configured with, and secrets that nobody sees again.
import '../support/environment.js';
import test from 'ava';
import { select } from '../../src/lib/db.js';
import { makeMethod, makeOrder, makePayment, mockCallback, unique } from '../support/factories.js';
import { startService, type Service } from '../support/service.js';

let service: Service;

test.before(async () => {
  service = await startService();
});

test.after.always(() => service.stop());

const wechat = {
  app_id: 'wx123',
  mch_id: '1900000001',
  api_v3_key: 'canary-api-v3-key-canary-api-v3-k',
  cert_serial_no: '5157F09EFDC096DE',
  private_key: '-----BEGIN PRIVATE KEY-----\ncanary-private-key\n-----END PRIVATE KEY-----',
};

const stored = async (id: number) => {
  const [row] = await select<{ config: string; secrets: string }>(
    'SELECT config, secrets FROM payment_methods WHERE id = ?',
    [id],
  );
  return row as { config: string; secrets: string };
};

const paysWith = async (id: number, secret: string) => {
  const payment = await makePayment(service.admin, id);
  return (await service.anonymous.post('//api/payment/notify/mock', mockCallback(payment, secret))).status;
};

test('a method gets a name and a code by itself', async (t) => {
  const { data, status } = await service.admin.post('/payment-methods', { type: 'mock' });
  t.is(status, 200);
  t.like(data, {
    name: 'mock',
    type: 'mock',
    config: {},
    has_shared_secret: false,
    is_active: true,
    sort: 0,
    description: null,
  });
  t.regex(data.code, /^mock_[\w-]{8}$/);
  t.deepEqual((await service.admin.get(`/payment-methods/${data.id}`)).data, data);
});

test('each type demands its own configuration and keeps no other key', async (t) => {
  const { admin } = service;
  const post = (type: string, config?: object) => admin.post('/payment-methods', { type, config });
  for (const missing of Object.keys(wechat)) {
    const answer = await post('wechat', { ...wechat, [missing]: undefined });
    t.deepEqual(
      [answer.status, answer.code, Object.keys(answer.errors ?? {})],
      [400, 30001, [`config.${missing}`]],
    );
  }
  t.deepEqual(Object.keys((await post('alipay')).errors ?? {}), ['config.app_id', 'config.private_key']);
  const made = await post('wechat', { ...wechat, openid: 'o1', shared_secret: 'x', unknown: 'y' });
  t.deepEqual(Object.keys(made.data.config).sort(), [...Object.keys(wechat), 'openid'].sort());
  const changed = await admin.put(`/payment-methods/${made.data.id}`, {
    config: { unknown: 'y', openid: 'o2' },
    shared_secret: 'x',
  });
  t.deepEqual(Object.keys(changed.data.config).sort(), [...Object.keys(wechat), 'openid'].sort());
  t.false(changed.data.has_shared_secret);
  const cleared = await admin.put(`/payment-methods/${made.data.id}`, {
    config: { api_v3_key: '', openid: '' },
  });
  t.deepEqual([cleared.status, Object.keys(cleared.errors ?? {})], [400, ['config.api_v3_key']]);
  t.is((await admin.get(`/payment-methods/${made.data.id}`)).data.config.openid, 'o2');
  const alipay = {
    app_id: '2021',
    private_key: 'key',
    alipay_public_key: 'public',
    gateway: 'https://openapi.test/gateway.do',
  };
  t.is((await post('alipay', alipay)).status, 200);
  const wrong = await post('alipay', { ...alipay, gateway: 'ftp://x', notify_url: 'nowhere' });
  t.deepEqual(
    [wrong.status, Object.keys(wrong.errors ?? {})],
    [422, ['config.gateway', 'config.notify_url']],
  );
});

test('unknown types, duplicate codes and mistyped fields are refused', async (t) => {
  const { admin } = service;
  const code = unique('code_');
  const made = await makeMethod(admin, undefined, { code });
  const other = await makeMethod(admin);
  const refused: [Promise<any>, number, number, string][] = [
    [admin.post('/payment-methods', { type: 'paypal' }), 422, 30001, 'payment_gateway_unknown'],
    [admin.post('/payment-methods', {}), 400, 30001, 'validation_failed'],
    [admin.post('/payment-methods', { type: ['mock'] }), 400, 30001, 'validation_failed'],
    [admin.post('/payment-methods', { type: 'mock', code }), 422, 30002, 'payment_method_code_exists'],
    [admin.put(`/payment-methods/${other.id}`, { code }), 422, 30002, 'payment_method_code_exists'],
    [
      admin.post('/payment-methods', { type: 'mock', code: 'white space' }),
      422,
      30001,
      'value_not_acceptable',
    ],
    [admin.post('/payment-methods', { type: 'mock', name: '' }), 422, 30001, 'value_not_acceptable'],
    [admin.post('/payment-methods', { type: 'mock', is_active: 1 }), 400, 30001, 'validation_failed'],
    [admin.post('/payment-methods', { type: 'mock', config: [] }), 400, 30001, 'validation_failed'],
    [
      admin.post('/payment-methods', { type: 'mock', config: { notify_url: 5 } }),
      400,
      30001,
      'validation_failed',
    ],
    [
      admin.post('/payment-methods', { type: 'mock', shared_secret: 'x'.repeat(201) }),
      422,
      30001,
      'value_not_acceptable',
    ],
    [admin.get('/payment-methods/999999999'), 404, 20002, 'payment_method_not_found'],
    [admin.put('/payment-methods/999999999', {}), 404, 20002, 'payment_method_not_found'],
    [admin.delete('/payment-methods/999999999'), 404, 20002, 'payment_method_not_found'],
  ];
  for (const [answer, ...expected] of refused) {
    const { status, code: businessCode, errorCode } = await answer;
    t.deepEqual([status, businessCode, errorCode], expected);
  }
  t.is((await admin.put(`/payment-methods/${made.id}`, { code, type: 'wechat' })).data.type, 'mock');
});

test('secrets are stored encrypted and never answered', async (t) => {
  const { admin } = service;
  const secret = unique('canary-');
  const made = await admin.post('/payment-methods', { type: 'mock', config: { shared_secret: secret } });
  const company = await admin.post('/payment-methods', { type: 'wechat', config: wechat });
  t.true(made.data.has_shared_secret);
  t.deepEqual(made.data.config, { shared_secret: '***' });
  t.like(company.data.config, { app_id: 'wx123', api_v3_key: '***', private_key: '***' });
  const answers = [made, company, await admin.get('/payment-methods?page_size=100')];
  answers.push(
    await admin.get(`/payment-methods/${made.data.id}`),
    await admin.put(`/payment-methods/${made.data.id}`, { name: 'Trial' }),
  );
  for (const { text } of answers) t.notRegex(text, /canary/);
  for (const { data } of [made, company]) {
    const row = await stored(data.id);
    t.notRegex(JSON.stringify(row), /canary/);
    t.regex(row.secrets, /"v1:[\w-]+:[\w-]+:[\w-]+"/);
  }
  const [twin] = [await admin.post('/payment-methods', { type: 'mock', shared_secret: secret })];
  t.not((await stored(twin.data.id)).secrets, (await stored(made.data.id)).secrets);
});

test('a masked secret sent back stays, an empty one is cleared, another one replaces it', async (t) => {
  const { admin } = service;
  const { id } = await makeMethod(admin, 'first');
  const put = (body: object) => admin.put(`/payment-methods/${id}`, body);
  await put({ shared_secret: '***', description: 'kept' });
  await put({ config: { shared_secret: '***', notify_url: 'https://shop.test/notify' } });
  t.is(await paysWith(id, 'first'), 200);
  t.is((await put({ shared_secret: 'second' })).data.has_shared_secret, true);
  t.is(await paysWith(id, 'first'), 400);
  t.is(await paysWith(id, 'second'), 200);
  const cleared = await put({ shared_secret: '' });
  t.like(cleared.data, {
    has_shared_secret: false,
    config: { notify_url: 'https://shop.test/notify' },
    description: 'kept',
  });
  t.is((await stored(id)).secrets, '{}');
  t.is((await put({ shared_secret: 'third' })).data.has_shared_secret, true);
  t.is((await put({ shared_secret: null })).data.has_shared_secret, false);
  t.deepEqual((await put({ config: { notify_url: '' } })).data.config, {});
  const literal = await admin.post('/payment-methods', { type: 'mock', shared_secret: '***' });
  t.false(literal.data.has_shared_secret);
});

test('a method in use is switched off, not deleted; an unused one can be deleted', async (t) => {
  const { admin } = service;
  const [used, unused] = [await makeMethod(admin), await makeMethod(admin)];
  const payment = await makePayment(admin, used.id);
  const refused = await admin.delete(`/payment-methods/${used.id}`);
  t.deepEqual([refused.status, refused.code, refused.errorCode], [400, 40002, 'payment_method_in_use']);
  t.is((await admin.put(`/payment-methods/${used.id}`, { is_active: false })).data.is_active, false);
  const order = await makeOrder(admin);
  const off = await admin.post('/payments', { order_no: order.order_no, payment_method_id: used.id });
  t.deepEqual([off.status, off.code, off.errorCode], [400, 40001, 'payment_method_disabled']);
  const late = await service.anonymous.post('//api/payment/notify/mock', mockCallback(payment));
  t.is(late.status, 200, 'a payment placed before is still called back');
  t.is((await admin.delete(`/payment-methods/${unused.id}`)).status, 200);
  t.is((await admin.get(`/payment-methods/${unused.id}`)).status, 404);
});

test('a method is either deleted or used, also when both are tried at once', async (t) => {
  const { admin } = service;
  for (let round = 0; round < 8; round++) {
    const { id } = await makeMethod(admin);
    const { order_no } = await makeOrder(admin);
    const [paid, deleted] = await Promise.all([
      admin.post('/payments', { order_no, payment_method_id: id }),
      admin.delete(`/payment-methods/${id}`),
    ]);
    t.deepEqual([paid.status, deleted.status].sort(), paid.status === 200 ? [200, 400] : [200, 422]);
  }
});

test('methods are filtered by name, code, type and state', async (t) => {
  const { admin } = service;
  const name = unique('100%_');
  const first = await makeMethod(admin, undefined, { name, code: unique('c.1-'), sort: 2 });
  const second = await makeMethod(admin, undefined, { name: `${name} b`, is_active: false, sort: 1 });
  const found = async (query: string) => {
    const { data } = await admin.get(`/payment-methods?order_by=sort:asc&${query}`);
    return data.list.map(({ id }: { id: number }) => id);
  };
  const encoded = encodeURIComponent(name);
  t.deepEqual(await found(`name=${encoded}`), [second.id, first.id]);
  t.deepEqual(await found(`name=${encoded}&is_active=true`), [first.id]);
  t.deepEqual(await found(`name=${encoded}&is_active=0&type=mock`), [second.id]);
  t.deepEqual(await found(`name=${encoded}&type=wechat`), []);
  t.deepEqual(await found(`name=${encoded}&code=c.1-`), [first.id]);
});
