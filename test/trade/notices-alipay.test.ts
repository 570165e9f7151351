// Notices of Alipay while PAYMENT_CHANNEL_RESULTS opens them: every field is signed, and meant for this application.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { alipay } from '../../src/lib/channels/alipay.js';
import { select } from '../../src/lib/database/db.js';
import { fieldsOf } from '../../src/lib/input/body-fields.js';
import { Money } from '../../src/lib/values/money.js';
import type { NoticeDials, NoticeForm } from '../support/alipay-platform.js';
import { outcome } from '../support/client.js';
import { untouched } from '../support/callbacks.js';
import { companiesTest, type Placed } from '../support/companies.js';
import { makeOrder } from '../support/factories.js';
import { deliver, flagged, refused, yes, type Notice, type NoticeAnswer } from '../support/notices.js';
import { newRsaKeys } from '../support/rsa-keys.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest();
const companies = companiesTest(service);
const { trace } = companies;

/** Nobody asks the company about it, which has tests of its own (asking.test.ts). */
const place = (methodId?: number): Promise<Placed> =>
  companies.place('alipay', { methodId, isFollowed: false });

const noticeOf = (payment: Placed, more?: NoticeForm, dials?: NoticeDials): Notice =>
  companies.alipay.notice(companies.alipay.paid(payment.gateway.pay_url, more), dials);

const send = (notice: Notice): Promise<NoticeAnswer> => companies.send('alipay', notice);

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
  const payment = await place();
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
      await send(companies.alipay.notice(good, { mutate })),
      refused('payment_sign_invalid'),
      mutate.toString(),
    );
  t.like(await send(companies.alipay.notice(good, { keys: newRsaKeys() })), refused('payment_sign_invalid'));
  t.like(await trace(payment), flagged('notice_unverified'));
  t.deepEqual(await send(companies.alipay.notice(good)), yes.alipay);
  t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false, fail_reason: null });
});

test('a field that is repeated is refused whichever one was signed', async (t) => {
  const payment = await place();
  const good = companies.alipay.paid(payment.gateway.pay_url);
  for (const more of [
    '&total_amount=12.30',
    '&total_amount=0.01',
    '&trade_status=TRADE_SUCCESS',
    '&sign=x',
    '&sign_type=RSA2',
  ])
    t.like(await send(companies.alipay.notice(good, { more })), refused('payment_notify_invalid'), more);
  const { verdicts, ...rest } = await trace(payment);
  t.deepEqual(rest, untouched);
  // Two of them name the payment twice.
  t.true(verdicts.length > 0);
});

test('a field that is hidden in the value before it does not make a refund a payment', async (t) => {
  const payment = await place();
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
  t.like(await send(companies.alipay.notice(refund, { mutate })), refused('payment_notify_invalid'));
  t.like(await trace(payment), flagged('notice_unverified'));
});

test('a method without a seller takes the money of any', async (t) => {
  const payment = await place(await companies.newMethod('alipay', { seller_id: '' }));
  t.deepEqual(await send(noticeOf(payment, { seller_id: '2088000000000000' })), yes.alipay);
});

test('a refund of nothing is a payment', async (t) => {
  const payment = await place();
  t.deepEqual(await send(noticeOf(payment, { refund_fee: '0.00' })), yes.alipay);
  t.is((await trace(payment)).payment.status, 'paid');
});

test('a notice that changes nothing is stored once a day, however it is written', async (t) => {
  const payment = await place();
  const good = companies.alipay.paid(payment.gateway.pay_url);
  t.deepEqual(await send(companies.alipay.notice(good)), yes.alipay);
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
  const payment = await place(id);
  await service.admin.put(`/payment-methods/${id}`, { config: { alipay_public_key: '' } });
  const { order_no } = await makeOrder(service.admin);
  const body = { order_no, payment_method_id: id, initiate: true };
  const answer = await service.admin.post('/payments', body, { 'Accept-Language': 'en-US' });
  t.deepEqual(outcome(answer), [400, 40004, 'payment_method_incomplete']);
  t.regex(answer.message, /alipay_public_key$/);
  t.is((await service.admin.get(`/payments?order_no=${order_no}`)).data.total, 0);
  const again = await service.admin.post(`/payments/${payment.payment_no}/place`);
  t.is(again.errorCode, 'payment_method_incomplete');
  const tested = await service.admin.post(`/payment-methods/${id}/test`);
  t.like(tested.data, { accepted: false, verdict: 'payment_method_incomplete' });
  const notice = noticeOf(payment);
  t.like(await send(notice), refused('payment_key_unavailable', 503));
  t.like(await trace(payment), flagged('notice_unverified'));
  await service.admin.put(`/payment-methods/${id}`, {
    config: { alipay_public_key: companies.alipay.keys.publicPem },
  });
  t.deepEqual(await send(notice), yes.alipay);
  t.like((await trace(payment)).payment, { status: 'paid', needs_attention: false });
});

test('of two methods the one of the payment verifies, also when it is deactivated', async (t) => {
  const keys = newRsaKeys();
  const id = await companies.newMethod('alipay', { alipay_public_key: keys.publicPem });
  const payment = await place(id);
  await service.admin.put(`/payment-methods/${id}`, { is_active: false });
  t.like(await send(noticeOf(payment)), refused('payment_sign_invalid'));
  t.deepEqual(await send(noticeOf(payment, {}, { keys })), yes.alipay);
});
