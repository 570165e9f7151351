// While PAYMENT_CHANNEL_RESULTS is empty, wechat and alipay answer as they did before there was such a setting: the answers
// below were recorded then.
import '../support/environment.js';
import '../support/local-gateways.js';
import test from 'ava';
import { trace as traceOf } from '../support/callbacks.js';
import { companiesTest, types } from '../support/companies.js';
import type { MadePayment } from '../support/factories.js';
import { deliver } from '../support/notices.js';
import { startApi } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest();
const companies = companiesTest(service);

/** The whole answer but for its trace id. */
async function answerOf(path: string, init: RequestInit): Promise<[number, string | null, string]> {
  const response = await fetch(`${service.url}${path}`, { method: 'POST', ...init });
  const text = (await response.text()).replace(/"trace_id":"\w+"/, '"trace_id":"…"');
  return [response.status, response.headers.get('Content-Type'), text];
}

const recorded = {
  'zh-CN':
    '{"code":501,"message":"支付网关尚未实现该操作","data":null,"error_code":"payment_gateway_not_implemented","trace_id":"…"}',
  'en-US':
    '{"code":501,"message":"The payment gateway does not implement this operation","data":null,"error_code":"payment_gateway_not_implemented","trace_id":"…"}',
};

const trace = (payment: MadePayment) => traceOf(service.admin, payment);

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
    t.is(order?.status, 'pending');
    t.deepEqual([...new Set(verdicts)], ['payment_gateway_not_implemented']);
    const { data } = await service.admin.get(`/payments/${payment.payment_no}`);
    const [callback] = data.callbacks;
    t.is(callback.third_party_no, null, 'only its number is read');
    t.true('resource' in callback.body ? 'ciphertext' in callback.body.resource : true);
  });
}

test('a notice of a disabled type is refused, and flags the open payment too', async (t) => {
  const payment = await companies.place('alipay');
  const limited = await startApi({ PAYMENT_GATEWAYS_ENABLED: 'mock' });
  const notice = companies.noticeOf('alipay', payment);
  const [answer] = await deliver(`${limited.url}/api/payment/notify/alipay`, notice);
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
  const open = await startApi({ PAYMENT_CHANNEL_RESULTS: 'alipay' });
  t.is((await service.admin.at(open.url).post(path)).data.outcome, 'paid');
});
