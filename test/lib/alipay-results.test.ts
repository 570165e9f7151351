// What Alipay says of trades and refunds: believed when the raw text is signed and about ours, else nothing was learned. The raw
// text is that of a member of its JSON.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import test from 'ava';
import { alipay } from '../../src/lib/channels/alipay.js';
import { rawMembers } from '../../src/lib/channels/json-object.js';
import { Money } from '../../src/lib/values/money.js';
import { newRefundNumber } from '../../src/lib/values/numbers.js';
import { refusal } from '../support/companies/alipay-ledger.js';
import { AlipayPlatform } from '../support/companies/alipay-platform.js';
import {
  failsWith,
  resultsContract,
  said,
  strangeNumber,
  type PlacedPayment,
} from '../support/companies/results-contract.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';

const amount = Money.from('2.30');
const done = { state: 'succeeded', code: 'fund_change=Y', amount } as const;
const found = { state: 'succeeded', code: 'REFUND_SUCCESS', amount } as const;
const received = { state: 'processing', code: 'fund_change=N' } as const;
const absent = { state: 'absent', code: 'no refund_status' } as const;

const payUrl = ({ gateway }: PlacedPayment): string => String(gateway.pay_url);

let platform: AlipayPlatform;

const { place, open, order, query, close, send, queryRefund } = resultsContract({
  channel: alipay,
  start: async () => (platform = await AlipayPlatform.start()),
  config: () => platform.resultConfig,
  open: (payment) => platform.open(payUrl(payment)),
  failures: [
    ['failing', /^HTTP 502$/],
    ['busy', /^isv.app-call-limited: 应用调用次数超限$/],
    ['unsure', /^isp.unknow-error: 系统繁忙$/],
    ['refusing', /^isv.insufficient-isv-permissions: ISV权限不足$/],
    ['unsigned', /no valid signature$/],
    ['forging', /no valid signature$/],
    ['garbled', /cannot be read$/],
    ['newWord', /cannot be read$/],
    ['silent', /did not answer in time$/],
    ['cut', /cannot be reached/],
    ['resetting', /cannot be reached \(ECONNRESET\)/],
    ['otherPayment', /渠道应答与这笔支付不符 \/ .* about another payment or merchant$/],
  ],
  silences: ['failing', 'unsigned', 'forging', 'garbled', 'silent', 'cut', 'resetting'],
  lost: ['unsure', 'unsigned', 'forging', 'garbled', 'silent', 'cut', 'resetting', 'otherPayment'],
  forged: ['unsigned', 'forging'],
  unsigned: {
    payment: /no valid signature \(ACQ.TRADE_NOT_EXIST: 交易不存在\)$/,
    sent: /no valid signature \(ACQ.TRADE_NOT_EXIST: 交易不存在\)$/,
    asked: /no valid signature$/,
  },
  codes: {
    ...{ paid: 'TRADE_SUCCESS', refunded: 'REFUND_SUCCESS', tooMuch: 'ACQ.REASON_TRADE_REFUND_FEE_ERR' },
    repeatedOtherwise: 'ACQ.DISCORDANT_REPEAT_REQUEST',
  },
  accepted: done,
  repeated: received,
  sum: (yuan) => yuan,
  fund: (yuan) => (platform.refunds.funds = Money.from(yuan)),
  noFunds: /^ACQ.SELLER_BALANCE_NOT_ENOUGH: 卖家余额不足$/,
  finals: [
    ...['REASON_TRADE_REFUND_FEE_ERR', 'REFUND_AMT_NOT_EQUAL_TOTAL', 'TRADE_HAS_FINISHED', 'TRADE_HAS_CLOSE'],
    ...['TRADE_STATUS_ERROR', 'TRADE_NOT_ALLOW_REFUND', 'NOT_ALLOW_PARTIAL_REFUND', 'BUYER_NOT_EXIST'],
    ...['BUYER_ENABLE_STATUS_FORBID', 'INVALID_PARAMETER', 'DISCORDANT_REPEAT_REQUEST'],
  ].map((code) => [`ACQ.${code}`, refusal(code, '不')]),
  undecided: [
    ['ACQ.SYSTEM_ERROR', refusal('SYSTEM_ERROR', '不')],
    ['ACQ.SELLER_BALANCE_NOT_ENOUGH', refusal('SELLER_BALANCE_NOT_ENOUGH', '不')],
    ['ACQ.NEW_WORD', refusal('NEW_WORD', '不')],
    // What the final ones say under another code decides nothing either.
    ['ACQ.TRADE_HAS_CLOSE', { ...refusal('TRADE_HAS_CLOSE', '不'), code: '20000' }],
    ['ACQ.TRADE_HAS_CLOSE', { ...refusal('TRADE_HAS_CLOSE', '不'), code: '40006' }],
  ],
});

test.serial('a payment is absent until its customer has opened it, and waiting then', async (t) => {
  const payment = await place();
  t.deepEqual(await query(payment), {
    state: 'absent',
    code: 'ACQ.TRADE_NOT_EXIST',
    fields: {
      ...{ code: '40004', msg: 'Business Failed' },
      ...{ sub_code: 'ACQ.TRADE_NOT_EXIST', sub_msg: '交易不存在' },
    },
  });
  t.is(await close(payment), 'ask');
  platform.open(payUrl(payment));
  const { fields, ...answer } = await query(payment);
  t.deepEqual(answer, { state: 'waiting', code: 'WAIT_BUYER_PAY' });
  t.like(fields, { out_trade_no: payment.paymentNo, store_name: '总店/线上 "}{\\' });
});

test.serial('what was paid is returned with number, amount and time', async (t) => {
  const at = new Date('2026-11-25T00:30:01Z');
  for (const status of ['TRADE_SUCCESS', 'TRADE_FINISHED'] as const) {
    const { ledger } = platform;
    const payment = await open();
    const thirdPartyNo = ledger.pay(payment.paymentNo, at);
    ledger.set(payment.paymentNo, status);
    const { fields, ...answer } = await query(payment);
    t.deepEqual(answer, {
      ...{ state: 'paid', code: status, thirdPartyNo, amount: Money.from('12.30'), paidAt: at },
    });
    t.is(fields.send_pay_date, '2026-11-25 08:30:01');
  }
});

test.serial('a closed trade was paid when it has a time of payment', async (t) => {
  const { ledger } = platform;
  const refunded = await open();
  const thirdPartyNo = ledger.pay(refunded.paymentNo);
  ledger.close(refunded.paymentNo);
  const code = 'TRADE_CLOSED';
  t.like(await query(refunded), { state: 'paid', code, thirdPartyNo, amount: Money.from('12.30') });
  const unpaid = await open();
  ledger.close(unpaid.paymentNo);
  const { fields: _, ...answer } = await query(unpaid);
  t.deepEqual(answer, { state: 'closed', code });
});

test.serial('the signed text is the raw one, wherever the signature stands', async (t) => {
  const payment = await order();
  for (let round = 0; round < 4; round++) {
    platform.results.escapesLater = round > 1;
    const { state, fields } = await query(payment);
    t.deepEqual([state, fields.store_name], ['paid', '总店/线上 "}{\\']);
  }
});

test.serial('other refusals say nothing of the payment', async (t) => {
  const { results } = platform;
  const payment = await place();
  results.mood = 'refusing';
  const said = { code: '40004', msg: 'Business Failed', sub_code: 'ACQ.SYSTEM_ERROR', sub_msg: '系统错误' };
  results.refusal = said;
  await failsWith(t, query(payment), /^ACQ.SYSTEM_ERROR: 系统错误$/);
  results.refusal = { ...said, code: '20000', sub_code: 'ACQ.TRADE_NOT_EXIST' };
  await failsWith(t, query(payment), /^ACQ.TRADE_NOT_EXIST: 系统错误$/);
});

test.serial('a request of another key or application is refused', async (t) => {
  const payment = await place();
  const asking = (more: Record<string, string>) =>
    query({ ...payment, config: { ...payment.config, ...more } });
  await failsWith(t, asking({ private_key: newRsaKeys().privatePem }), /^isv.invalid-signature: 参数无效$/);
  await failsWith(t, asking({ app_id: '2021000000000002' }), /^isv.invalid-app-id: /);
  await failsWith(t, asking({ alipay_public_key: '' }), /has no public key of Alipay$/);
});

test.serial('closing is proven by a signed yes', async (t) => {
  const payment = await open();
  t.is(await close(payment), 'closed');
  t.is(platform.ledger.stateOf(payment.paymentNo), 'TRADE_CLOSED');
  t.throws(() => platform.open(payUrl(payment)), { message: 'ACQ.TRADE_HAS_CLOSE' });
  t.like(platform.results.requests.at(-1), {
    operation: 'close',
    number: payment.paymentNo,
    content: { out_trade_no: payment.paymentNo },
  });
  t.is(await close(payment), 'ask', 'it is closed already');
  t.is(platform.results.count('close', payment.paymentNo), 2);
});

test.serial('what cannot be closed is asked about', async (t) => {
  t.is(await close(await order()), 'ask', 'it is paid');
  const payment = await open();
  for (const mood of ['refusing', 'unsure', 'otherPayment'] as const) {
    platform.results.mood = mood;
    t.is(await close(payment), 'ask', mood);
  }
});

test.serial('an address leads nowhere once its time is over', async (t) => {
  const payment = await place({ expireAt: new Date(Date.now() - 1000) });
  t.throws(() => platform.open(payUrl(payment)), { message: 'ACQ.TRADE_HAS_CLOSE' });
});

test.serial('a refund is done when funds have changed, each part with its own amount', async (t) => {
  const one = await order();
  t.deepEqual(said(await send(one)), done);
  const other = { ...one, refundNo: newRefundNumber(new Date()), refund: Money.from('10.00') };
  t.deepEqual(said(await send(other)), { ...done, amount: Money.from('10.00') }, 'refund_fee is the sum');
  const { at, ...answer } = await queryRefund(one);
  t.deepEqual(answer, found);
  t.true(Math.abs((at?.getTime() ?? 0) - Date.now()) < 10_000);
  t.is(platform.ledger.stateOf(one.paymentNo), 'TRADE_CLOSED');
  t.is((await query(one)).state, 'paid', 'the money did arrive');
  t.like(
    platform.results.requests.find(({ number }) => number === one.refundNo),
    {
      operation: 'refund',
      content: {
        trade_no: one.thirdPartyNo,
        refund_amount: '2.30',
        out_request_no: one.refundNo,
        refund_reason: '多付了',
      },
    },
  );
});

test.serial('a refund that was received only is asked about', async (t) => {
  const { refunds } = platform;
  const one = await order();
  refunds.isDelayed = true;
  t.deepEqual(await send(one), received);
  t.deepEqual(await queryRefund(one), absent);
  t.deepEqual(await send(one), received, 'once more under its number');
  const at = new Date('2026-11-25T00:30:01Z');
  refunds.finish(one.refundNo, at);
  t.deepEqual(await queryRefund(one), { ...found, at });
  t.is(refunds.refundedOf(one.paymentNo), '2.30');
});

test.serial('a refund that failed after it was received is sent again', async (t) => {
  const { refunds } = platform;
  const one = await order();
  refunds.isDelayed = true;
  await send(one);
  refunds.drop(one.refundNo);
  refunds.isDelayed = false;
  t.deepEqual(await queryRefund(one), absent);
  t.deepEqual(said(await send(one)), done);
});

test.serial('a trade that is finished is not refunded', async (t) => {
  const one = await order();
  platform.ledger.set(one.paymentNo, 'TRADE_FINISHED');
  t.deepEqual(await send(one), { state: 'failed', code: 'ACQ.TRADE_HAS_FINISHED' });
  t.deepEqual(await queryRefund(one), absent);
});

test.serial('a trade that is unknown has no refund and gets none', async (t) => {
  const one = { ...(await order()), thirdPartyNo: strangeNumber };
  t.deepEqual(await queryRefund(one), { state: 'absent', code: 'ACQ.TRADE_NOT_EXIST' });
  t.deepEqual(await send(one), { state: 'failed', code: 'ACQ.TRADE_NOT_EXIST' });
});

test.serial('an answer that names another refund makes this one neither absent nor done', async (t) => {
  const { results } = platform;
  const one = await order();
  results.mood = 'otherPayment';
  await failsWith(t, queryRefund(one), /about another payment or merchant$/);
  results.mood = 'well';
  await send(one);
  results.mood = 'otherRefund';
  await failsWith(t, queryRefund(one), /about another payment or merchant$/);
  results.mood = 'newWord';
  await failsWith(t, queryRefund(one), /cannot be read$/);
});

const members = (text: string) => {
  JSON.parse(text);
  const found = rawMembers(text);
  return found && Object.fromEntries(found);
};

test('members of JSON keep every character that they were written with', (t) => {
  for (const raw of [
    ...['{}', '[]', '""', '1.50', 'true', 'null', '{"a":{"b":[1,{"c":"}"}]}}', '[[],["]",","]]'],
    ...['"a\\"},{b"', '"\\\\"', '"\\/\\u4e2d"', '{"x" :\t1 ,\n"sign":"no"}', '"{[:,]}"', '{"a":"\\\\\\""}'],
  ]) {
    t.deepEqual(members(`{"sign":"x==","response":${raw}}`), { sign: '"x=="', response: raw });
    t.deepEqual(members(` { "response" : ${raw} , "sign":"x=="\n} `), { response: raw, sign: '"x=="' });
  }
});

test('names of members are read as JSON', (t) => {
  t.deepEqual(members('{"a\\u0062":1,"c\\"d":2}'), { ab: '1', 'c"d': '2' });
  t.deepEqual(members('{}'), {});
});

test('a name that comes twice, or no object, has no members', (t) => {
  t.is(members('{"a":1,"b":2,"\\u0061":3}'), undefined);
  for (const text of ['[]', '[{"a":1}]', '"{}"', '1', 'null']) t.is(members(text), undefined, text);
});
