// /payment-methods: types, their required configuration, and secrets that are never shown. And a callback that is refused because
// of our configuration pays after the correction, exactly once.
import '../support/settings/shared-environment.js';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { paymentKey, paymentPeriod } from '../../src/lib/values/numbers.js';
import { expireOrder } from '../../src/models/trade/order.js';
import { recordVerified } from '../../src/models/trade/callback-intake.js';
import { trace as traceOf, untouched } from '../support/callbacks.js';
import { outcome, type Answer } from '../support/client.js';
import {
  callBack,
  makeMethod,
  makeOrder,
  makePayment,
  mockSign,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { alipayConfig, privateLine, wechatConfig } from '../support/companies/merchant.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { selectRow } from '../support/rows.js';
import { service } from '../support/shared-service.js';

const publicKey = createPublicKey(alipayConfig.private_key).export({ type: 'spki', format: 'pem' });

const stored = (id: number) =>
  selectRow<{ config: string; secrets: string }>('SELECT config, secrets FROM payment_methods WHERE id = ?', [
    id,
  ]);

const paysWith = async (id: number, secret: string) => {
  const payment = await makePayment(service.admin, id);
  return (await callBack(service.anonymous, payment, {}, secret)).status;
};

test('a method gets a default name and code', async (t) => {
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

test('a hidden secret of another method, or one with unseen characters, is no secret', async (t) => {
  const bodies = [
    { shared_secret: '***' },
    { config: { shared_secret: '***' } },
    { config: { shared_secret: 'se\u0000cret' } },
    { shared_secret: 'se\u202ecret' },
  ];
  for (const body of bodies) {
    const { status, fields } = await service.admin.post('/payment-methods', { type: 'mock', ...body });
    t.is(status, 422, JSON.stringify(body));
    t.regex(fields.join(), /shared_secret$/);
  }
});

test('each type accepts only its own configuration keys', async (t) => {
  const { admin } = service;
  const post = (type: string, config?: object) => admin.post('/payment-methods', { type, config });
  const wrongKeys = ({ status, code, fields }: Answer) => [status, code, fields];
  t.deepEqual(wrongKeys(await post('alipay')), [400, 30001, ['config.app_id', 'config.private_key']]);
  const made = await post('wechat', { ...wechatConfig, openid: 'o1' });
  const path = `/payment-methods/${made.data.id}`;
  for (const [config, ...expected] of [
    [{ typo: 'y', openid: 'o2' }, 422, 30001, ['config.typo']],
    [{ __proto__x: 'y', 'Ünknown key': 'y' }, 422, 30001, ['config.__proto__x', 'config.Ünknown key']],
    [{ api_v3_key: '', openid: '' }, 400, 30001, ['config.api_v3_key']],
    [{ api_v3_key: 'short' }, 422, 30001, ['config.api_v3_key']],
    [
      { platform_public_key_id: 'PUB_KEY_ID_1', platform_public_key: 'x' },
      422,
      30004,
      ['config.platform_public_key'],
    ],
    [{ platform_public_key: publicKey }, 400, 30001, ['config.platform_public_key_id']],
    [{ platform_public_key_id: 'PUB_KEY_ID_1' }, 400, 30001, ['config.platform_public_key']],
    [
      { mch_id: 'white space', cert_serial_no: 'not hex' },
      422,
      30001,
      ['config.mch_id', 'config.cert_serial_no'],
    ],
  ] as const) {
    t.deepEqual(wrongKeys(await admin.put(path, { config })), expected as never, JSON.stringify(config));
  }
  t.deepEqual(wrongKeys(await admin.put(path, { shared_secret: 'x' })), [
    422,
    30001,
    ['config.shared_secret'],
  ]);
  t.is((await admin.put(path, { shared_secret: '', name: 'Shop' })).data.name, 'Shop');
  t.deepEqual((await admin.get(path)).data.config, {
    ...wechatConfig,
    ...{ openid: 'o1', api_v3_key: '***', private_key: '***' },
  });
});

test('a method requires RSA keys of 2048 bits', async (t) => {
  const { admin } = service;
  const refusal = async (config: object, language = 'en-US') => {
    const answer = await admin.post(
      '/payment-methods',
      { type: 'alipay', config: { ...alipayConfig, ...config } },
      { 'Accept-Language': language },
    );
    return answer.status === 200 ? 'taken' : answer.errors;
  };
  const small = newRsaKeys(1024).privatePem;
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const elliptic = ec.privateKey.export({ type: 'pkcs8', format: 'pem' });
  const cut = alipayConfig.private_key.slice(0, 200);
  for (const private_key of ['key', small, elliptic, cut, publicKey]) {
    const text = 'must be an RSA private key (PEM) of 2048 bits or more';
    t.deepEqual(await refusal({ private_key }), { 'config.private_key': [text] });
  }
  t.deepEqual(await refusal({ private_key: 'key' }, 'zh-CN'), {
    'config.private_key': ['必须是至少 2048 位的 RSA 私钥（PEM）'],
  });
  for (const alipay_public_key of ['public', alipayConfig.private_key]) {
    t.deepEqual(Object.keys((await refusal({ alipay_public_key })) ?? {}), ['config.alipay_public_key']);
  }
  t.is(await refusal({ alipay_public_key: publicKey, gateway: 'https://openapi.test/gateway.do' }), 'taken');
  for (const gateway of [
    'http://openapi.test/',
    'https://127.0.0.1/',
    'https://169.254.169.254/',
    'ftp://x',
  ]) {
    t.deepEqual(await refusal({ gateway }), { 'config.gateway': ['must be a public https address'] });
  }
  const urls = { notify_url: 'nowhere', return_url: 'javascript:alert(1)' };
  t.deepEqual(Object.keys((await refusal(urls)) ?? {}), ['config.return_url', 'config.notify_url']);
  for (const notify_url of [
    'https://user:pw@shop.test/',
    'https://user@shop.test/',
    'https://shop.test/\r\nX: y',
    'https://shop.test/\u0000',
    ' https://shop.test/',
  ])
    t.deepEqual(await refusal({ notify_url }), { 'config.notify_url': ['must be a URL'] }, notify_url);
});

test('unknown types, duplicate codes and mistyped fields are refused', async (t) => {
  const { admin } = service;
  const post = (body: object) => admin.post('/payment-methods', body);
  const code = unique('code_');
  const made = await makeMethod(admin, undefined, { code });
  const other = await makeMethod(admin);
  const tooMany = Array.from({ length: 31 }, (_, index) => [`key${index}`, 'x']);
  const refused: [Promise<Answer>, number, number, string][] = [
    [post({ type: 'mock', config: Object.fromEntries(tooMany) }), 422, 30001, 'value_not_acceptable'],
    [post({ type: 'paypal' }), 422, 30001, 'payment_gateway_unknown'],
    [post({}), 400, 30001, 'validation_failed'],
    [post({ type: ['mock'] }), 400, 30001, 'validation_failed'],
    [post({ type: 'mock', code }), 422, 30002, 'payment_method_code_exists'],
    [admin.put(`/payment-methods/${other.id}`, { code }), 422, 30002, 'payment_method_code_exists'],
    [post({ type: 'mock', code: 'white space' }), 422, 30001, 'value_not_acceptable'],
    [post({ type: 'mock', name: '' }), 422, 30001, 'value_not_acceptable'],
    [post({ type: 'mock', is_active: 1 }), 400, 30001, 'validation_failed'],
    [post({ type: 'mock', config: [] }), 400, 30001, 'validation_failed'],
    [post({ type: 'mock', config: { notify_url: 5 } }), 400, 30001, 'validation_failed'],
    [post({ type: 'mock', shared_secret: 'x'.repeat(201) }), 422, 30001, 'value_not_acceptable'],
    [admin.get('/payment-methods/999999999'), 404, 20002, 'payment_method_not_found'],
    [admin.put('/payment-methods/999999999', {}), 404, 20002, 'payment_method_not_found'],
    [admin.delete('/payment-methods/999999999'), 404, 20002, 'payment_method_not_found'],
  ];
  for (const [answer, ...expected] of refused) t.deepEqual(outcome(await answer), expected);
  t.is((await admin.put(`/payment-methods/${made.id}`, { code, type: 'wechat' })).data.type, 'mock');
});

test('secrets are stored encrypted and never returned', async (t) => {
  const { admin } = service;
  const secret = unique('canary-');
  const made = await admin.post('/payment-methods', { type: 'mock', config: { shared_secret: secret } });
  const company = await admin.post('/payment-methods', { type: 'wechat', config: wechatConfig });
  t.true(made.data.has_shared_secret);
  t.deepEqual(made.data.config, { shared_secret: '***' });
  t.like(company.data.config, { app_id: 'wx123', api_v3_key: '***', private_key: '***' });
  const answers = [made, company, await admin.get('/payment-methods?page_size=100')];
  answers.push(
    await admin.get(`/payment-methods/${made.data.id}`),
    await admin.put(`/payment-methods/${made.data.id}`, { name: 'Trial' }),
  );
  for (const { text } of answers) t.false(text.includes('canary') || text.includes(privateLine));
  for (const { data } of [made, company]) {
    const row = await stored(data.id);
    t.notRegex(JSON.stringify(row), /canary/);
    t.false(JSON.stringify(row).includes(privateLine));
    t.regex(row.secrets, /"v1:[\w-]+:[\w-]+:[\w-]+"/);
  }
  const twin = await makeMethod(admin, secret);
  t.not((await stored(twin.id)).secrets, (await stored(made.data.id)).secrets);
});

test('a masked secret sent back keeps the stored one', async (t) => {
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
});

test('a method in use cannot be deleted', async (t) => {
  const { admin } = service;
  const [used, unused] = [await makeMethod(admin), await makeMethod(admin)];
  const payment = await makePayment(admin, used.id);
  for (const [{ id }, isUsed] of [
    [used, true],
    [unused, false],
  ] as const)
    t.is((await admin.get(`/payment-methods/${id}`)).data.in_use, isUsed);
  const refused = await admin.delete(`/payment-methods/${used.id}`);
  t.deepEqual(outcome(refused), [400, 40002, 'payment_method_in_use']);
  t.is((await admin.put(`/payment-methods/${used.id}`, { is_active: false })).data.is_active, false);
  const late = await callBack(service.anonymous, payment);
  t.is(late.status, 200, 'a payment placed before is still called back');
  t.is((await admin.delete(`/payment-methods/${unused.id}`)).status, 200);
  t.is((await admin.get(`/payment-methods/${unused.id}`)).status, 404);
});

test('a method cannot be deleted and used concurrently', async (t) => {
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

test('methods are filtered by name, code, type and status', async (t) => {
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

const trace = (payment: MadePayment) => traceOf(service.admin, payment);

const send = (payment: MadePayment, secret: string, more: object = {}) =>
  callBack(service.anonymous, payment, more, secret);

const attempts = async ({ payment_no }: MadePayment): Promise<{ id: number; verdict: string }[]> =>
  (await service.admin.get(`/payments/${payment_no}`)).data.callbacks;

const replay = (payment: { payment_no: string }, id: number, client = service.admin) =>
  client.post(`/payments/${payment.payment_no}/callbacks/${id}/replay`, {});

/** A payment whose callback was refused, because its method had another secret than the company. */
async function refusedPayment(): Promise<{
  payment: MadePayment;
  callback: number;
  repair: () => Promise<unknown>;
}> {
  const method = await makeMethod(service.admin, 'mistyped');
  const payment = await makePayment(service.admin, method.id);
  const { errorCode } = await send(payment, 'the real one', { transaction_id: unique('BANK-') });
  if (errorCode !== 'payment_sign_invalid') throw new Error(errorCode);
  const [callback] = await attempts(payment);
  const repair = () => service.admin.put(`/payment-methods/${method.id}`, { shared_secret: 'the real one' });
  return { payment, callback: callback?.id as number, repair };
}

test('a replay pays once the secret is right', async (t) => {
  const { payment, callback, repair } = await refusedPayment();
  t.deepEqual(outcome(await replay(payment, callback)), [400, 40001, 'payment_sign_invalid']);
  t.like(await trace(payment), { ...untouched, verdicts: ['payment_sign_invalid'] });
  await repair();
  const { status, data } = await replay(payment, callback);
  t.is(status, 200);
  t.deepEqual(data, { payment_no: payment.payment_no, outcome: 'paid' });
  const after = await trace(payment);
  t.like(after, { payment: { status: 'paid', needs_attention: false }, order: { status: 'paid' } });
  t.deepEqual(after.verdicts, ['paid', 'payment_sign_invalid'], 'what was refused stays in the inbox');
  t.deepEqual((await replay(payment, callback)).data.outcome, 'already_paid');
  t.deepEqual(await trace(payment), after, 'once more changes nothing');
});

test('concurrent replays pay once', async (t) => {
  const { payment, callback, repair } = await refusedPayment();
  await repair();
  const answers = await Promise.all(Array.from({ length: 8 }, () => replay(payment, callback)));
  t.true(
    answers.every(({ data }) => ['paid', 'already_paid'].includes(data?.outcome)),
    JSON.stringify(answers.map(({ text }) => text)),
  );
  const { payment: paid, verdicts } = await trace(payment);
  t.is(paid.status, 'paid');
  t.is(verdicts.filter((verdict: string) => verdict === 'paid').length, 1);
});

test('a replayed callback counts from its arrival', async (t) => {
  const { payment, callback, repair } = await refusedPayment();
  const late = await refusedPayment();
  for (const { payment_no, order_no } of [payment, late.payment]) {
    await change('UPDATE orders SET expire_at = NOW(3) - INTERVAL 1 SECOND WHERE order_no = ?', [order_no]);
    await expireOrder(order_no);
    t.is((await service.admin.get(`/payments/${payment_no}`)).data.status, 'cancelled');
  }
  // Of the other one the news came after its order had expired.
  const key = [late.callback, paymentPeriod(late.payment.payment_no) as number];
  await change(
    'UPDATE payment_callbacks SET created_at = NOW(3) + INTERVAL 1 SECOND WHERE id = ? AND period = ?',
    key,
  );
  await Promise.all([repair(), late.repair()]);
  t.is((await replay(payment, callback)).data.outcome, 'paid');
  t.like(await trace(payment), { payment: { status: 'paid' }, order: { status: 'paid' } });
  t.is((await replay(late.payment, late.callback)).data.outcome, 'paid_needs_attention');
  t.like(await trace(late.payment), {
    payment: { status: 'paid', needs_attention: true, fail_reason: 'order_not_payable' },
    order: { status: 'cancelled' },
  });
});

test('a replay settles a pending verified callback', async (t) => {
  const { id } = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, id);
  const waiting = await recordVerified({
    ...{ type: 'mock', ...paymentKey(payment.payment_no), third_party_no: unique('BANK-') },
    ...{ fields: {}, ip: '127.0.0.1', trace_id: 'test' },
  });
  t.true(['paid', 'already_paid'].includes((await replay(payment, waiting?.id as number)).data.outcome));
  t.like(await trace(payment), {
    payment: { status: 'paid' },
    order: { status: 'paid' },
    verdicts: ['paid'],
  });
  t.is((await replay(payment, waiting?.id as number)).data.outcome, 'already_paid');
  t.deepEqual((await trace(payment)).verdicts, ['paid']);
});

test('a replay reports why a callback is refused', async (t) => {
  const { payment, callback, repair } = await refusedPayment();
  const other = await refusedPayment();
  t.deepEqual(outcome(await replay(payment, 999_999_999)), [404, 20002, 'payment_callback_not_found']);
  t.deepEqual(outcome(await replay(other.payment, callback)), [404, 20002, 'payment_callback_not_found']);
  t.deepEqual(outcome(await replay({ payment_no: 'PAY1' }, 1)), [404, 20002, 'payment_record_not_found']);
  t.is((await service.admin.post(`/payments/${payment.payment_no}/callbacks/x/replay`, {})).status, 400);

  const method = await makeMethod(service.admin);
  const [first, second] = [
    await makePayment(service.admin, method.id),
    await makePayment(service.admin, method.id),
  ];
  await send(first, 'shared secret', { amount: '1.00' });
  const [wrongAmount] = await attempts(first);
  t.deepEqual(outcome(await replay(first, wrongAmount?.id as number)), [
    400,
    40001,
    'payment_amount_mismatch',
  ]);
  const used = unique('BANK-');
  await send(first, 'shared secret', { transaction_id: used });
  await send(second, 'shared secret', { transaction_id: used });
  const [refused] = await attempts(second);
  t.deepEqual(outcome(await replay(second, refused?.id as number)), [
    400,
    30002,
    'payment_third_party_no_used',
  ]);
  t.is((await trace(second)).payment.status, 'pending');

  await change('UPDATE payment_callbacks SET sealed = NULL WHERE id = ?', [callback]);
  await repair();
  t.deepEqual(outcome(await replay(payment, callback)), [400, 40001, 'payment_callback_not_whole']);
  t.like(await trace(payment), untouched);
});

test('a replay of a callback whose channel is gone is refused', async (t) => {
  const { payment, callback } = await refusedPayment();
  await change("UPDATE payment_callbacks SET type = 'paypal' WHERE id = ?", [callback]);
  t.deepEqual(outcome(await replay(payment, callback)), [400, 400, 'invalid_payment_type']);
  const statuses = 'SELECT status FROM payments WHERE payment_no = ?';
  t.deepEqual(await select(statuses, [payment.payment_no]), [{ status: 'pending' }]);
});

test('a used number is refused also when its callback was not kept whole', async (t) => {
  const { id } = await makeMethod(service.admin);
  const [first, second] = [await makePayment(service.admin, id), await makePayment(service.admin, id)];
  const transaction_id = unique('BANK-');
  for (const payment of [first, second]) await send(payment, 'shared secret', { transaction_id });
  const [refused] = await attempts(second);
  await change('UPDATE payment_callbacks SET sealed = NULL WHERE id = ?', [refused?.id as number]);
  t.deepEqual(outcome(await replay(second, refused?.id as number)), [
    400,
    30002,
    'payment_third_party_no_used',
  ]);
  t.is((await trace(second)).payment.status, 'pending');
});

test('the stored signature of a refused callback is sealed', async (t) => {
  const { payment, callback } = await refusedPayment();
  const sign = mockSign(payment.payment_no, '12.30', 'the real one');
  const row = await selectRow<{ sealed: string }>('SELECT * FROM payment_callbacks WHERE id = ?', [callback]);
  t.true(row.sealed.startsWith('v1:'));
  t.false(JSON.stringify(row).includes(sign));
  t.false((await service.admin.get(`/payments/${payment.payment_no}`)).text.includes('sealed'));
});
