// Refunds of WeChat Pay: one number refunds once, a word is believed when it is signed, and accepted is not done.
import '../support/environment.js';
import '../support/local-gateways.js';
import test from 'ava';
import type { RefundAnswer, RefundOrder } from '../../src/lib/channels/channel.js';
import { wechat } from '../../src/lib/channels/wechat.js';
import { Money } from '../../src/lib/values/money.js';
import { newOrderNumber, newPaymentNumber, newRefundNumber } from '../../src/lib/values/numbers.js';
import { failsWith } from '../support/channel-failure.js';
import type { ResultMood } from '../support/result-dials.js';
import { refusal } from '../support/wechat-ledger.js';
import { WechatPlatform } from '../support/wechat-platform.js';

let platform: WechatPlatform;

test.before(async () => {
  platform = await WechatPlatform.start();
});

test.afterEach.always(() => {
  platform.results.reset();
  Object.assign(platform.refunds, { outcome: 'SUCCESS', funds: Infinity });
});

test.after.always(() => platform.stop());

const signal = () => AbortSignal.timeout(1500);

/** A refund of a payment that was placed and paid. */
async function order(refund = '2.30'): Promise<RefundOrder> {
  const orderNo = newOrderNumber(new Date());
  const paymentNo = newPaymentNumber(new Date());
  const payment = { paymentNo, amount: Money.from('12.30'), config: platform.config };
  const notifyUrl = 'https://back-office.test/api/payment/notify/wechat';
  await wechat.place?.({ ...payment, orderNo, expireAt: null, notifyUrl, showsSignature: false }, signal());
  const thirdPartyNo = platform.ledger.pay(paymentNo);
  const refundNo = newRefundNumber(new Date());
  return { ...payment, thirdPartyNo, refundNo, refund: Money.from(refund), reason: '多付了' };
}

const send = (one: RefundOrder) => wechat.refunds?.send(one, signal()) as Promise<RefundAnswer>;
const query = (one: RefundOrder) => wechat.refunds?.query(one, signal()) as Promise<RefundAnswer>;

test.serial('a refund is accepted, and done when the query says so', async (t) => {
  const one = await order();
  platform.refunds.outcome = 'PROCESSING';
  const { channelNo, ...accepted } = await send(one);
  const amount = Money.from('2.30');
  t.deepEqual(accepted, { state: 'processing', code: 'PROCESSING', amount });
  t.regex(channelNo ?? '', /^5030/);
  t.deepEqual(await query(one), { channelNo, ...accepted });
  const at = new Date('2026-11-28T00:30:01Z');
  platform.refunds.settle(one.refundNo, 'SUCCESS', at);
  const done = { state: 'succeeded', code: 'SUCCESS', channelNo, amount, at } as const;
  t.deepEqual(await query(one), done);
  t.deepEqual(await send(one), done);
  t.like(
    platform.results.requests.find(({ number }) => number === one.refundNo),
    {
      operation: 'refund',
      content: {
        transaction_id: one.thirdPartyNo,
        out_refund_no: one.refundNo,
        reason: '多付了',
        amount: { refund: 230, total: 1230, currency: 'CNY' },
      },
    },
  );
  t.is((await wechat.results?.query(one, signal()))?.state, 'paid', 'the money did arrive');
});

for (const [status, state] of [
  ['CLOSED', 'failed'],
  ['ABNORMAL', 'stuck'],
] as const) {
  test.serial(`${status} is ${state}`, async (t) => {
    const one = await order();
    platform.refunds.outcome = status;
    t.is((await send(one)).state, 'processing');
    const { channelNo: _, ...answer } = await query(one);
    t.deepEqual(answer, { state, code: status, amount: Money.from('2.30') });
  });
}

test.serial('one number refunds once, however often it is sent', async (t) => {
  const one = await order();
  for (let round = 0; round < 3; round++) await send(one);
  t.is(platform.refunds.refundedOf(one.paymentNo), 230);
  const other = await send({ ...one, refund: Money.from('2.31') });
  t.deepEqual(other, { state: 'failed', code: 'INVALID_REQUEST' });
  t.is(platform.refunds.refundedOf(one.paymentNo), 230);
});

test.serial('more than was paid is not refunded', async (t) => {
  const one = await order('12.00');
  await send(one);
  const answer = await send({ ...one, refundNo: newRefundNumber(new Date()), refund: Money.from('0.31') });
  t.deepEqual(answer, { state: 'failed', code: 'INVALID_REQUEST' });
  await send({ ...one, refundNo: newRefundNumber(new Date()), refund: Money.from('0.30') });
  t.is(platform.refunds.refundedOf(one.paymentNo), 1230);
});

test.serial('a number that was never sent is absent', async (t) => {
  t.deepEqual(await query(await order()), { state: 'absent', code: 'RESOURCE_NOT_EXISTS' });
});

test.serial('a refund of what nobody paid fails', async (t) => {
  const answer = await send({ ...(await order()), thirdPartyNo: '4200000000000000' });
  t.deepEqual(answer, { state: 'failed', code: 'RESOURCE_NOT_EXISTS' });
});

test.serial('without funds nothing is decided until the merchant has paid in', async (t) => {
  const one = await order();
  platform.refunds.funds = 229;
  await failsWith(t, send(one), /^NOT_ENOUGH: 基本账户余额不足/);
  t.is((await query(one)).state, 'absent');
  platform.refunds.topUp(1);
  t.is((await send(one)).state, 'processing');
  t.is((await query(one)).state, 'succeeded');
  t.is(platform.refunds.funds, 0);
});

for (const [status, code] of [
  [403, 'USER_ACCOUNT_ABNORMAL'],
  [400, 'INVALID_REQUEST'],
  [404, 'RESOURCE_NOT_EXISTS'],
] as const) {
  test.serial(`${code} is final`, async (t) => {
    platform.results.mood = 'refusing';
    platform.results.refusal = refusal(status, code, '不');
    t.deepEqual(await send(await order()), { state: 'failed', code });
  });
}

for (const [status, code] of [
  [403, 'NOT_ENOUGH'],
  [500, 'SYSTEM_ERROR'],
  [429, 'FREQUENCY_LIMITED'],
  [401, 'SIGN_ERROR'],
  [403, 'NO_AUTH'],
  [404, 'MCH_NOT_EXISTS'],
  [400, 'PARAM_ERROR'],
  [400, 'NEW_WORD'],
  // What the final ones say as a trouble of the company decides nothing either.
  [500, 'INVALID_REQUEST'],
] as const) {
  test.serial(`${status} ${code} decides nothing`, async (t) => {
    const one = await order();
    platform.results.mood = 'refusing';
    platform.results.refusal = refusal(status, code, '不');
    await failsWith(t, send(one), new RegExp(`^${code}: 不$`));
    await failsWith(t, query(one), new RegExp(`^${code}: 不$`));
  });
}

const failures: [ResultMood, RegExp][] = [
  ['unsure', /^SYSTEM_ERROR: 系统错误$/],
  ['unsigned', /no valid signature$/],
  ['forging', /no valid signature$/],
  ['replaying', /no valid signature$/],
  ['garbled', /cannot be read$/],
  ['newWord', /cannot be read$/],
  ['silent', /did not answer in time$/],
  ['cut', /cannot be reached/],
  ['resetting', /cannot be reached \(ECONNRESET\)/],
  ['otherPayment', /about another payment or merchant$/],
  ['otherCurrency', /about another payment or merchant$/],
];

for (const [mood, words] of failures) {
  test.serial(`a refund whose platform is ${mood} is done once, and found by its number`, async (t) => {
    const one = await order();
    platform.results.moods = { refund: mood, queryRefund: mood };
    await failsWith(t, send(one), words);
    await failsWith(t, query(one), words);
    platform.results.reset();
    t.is((await query(one)).state, 'succeeded');
    t.is((await send(one)).state, 'succeeded');
    t.is(platform.refunds.refundedOf(one.paymentNo), 230);
  });
}

test.serial('an unsigned refusal is not final, nor does it make a refund absent', async (t) => {
  const one = await order();
  const nothing = { ...one, thirdPartyNo: '4200000000000000' };
  platform.results.mood = 'unsigned';
  await failsWith(t, send(nothing), /no valid signature \(RESOURCE_NOT_EXISTS: 订单不存在\)$/);
  await failsWith(t, query(one), /no valid signature \(RESOURCE_NOT_EXISTS: 退款单不存在\)$/);
});

test.serial('another amount is returned as it is, and a missing one is not made up', async (t) => {
  const one = await order();
  await send(one);
  platform.results.mood = 'otherAmount';
  t.deepEqual((await query(one)).amount, Money.from('2.31'));
  platform.results.mood = 'incomplete';
  const { at: _, ...answer } = await query(one);
  t.deepEqual(answer, { state: 'succeeded', code: 'SUCCESS' });
});

test.serial('an answer about another payment is not about this refund', async (t) => {
  const one = await order();
  await send(one);
  await failsWith(t, query({ ...one, thirdPartyNo: '4200000000000000' }), /about another payment/);
  const { paymentNo } = await order();
  await failsWith(t, query({ ...one, paymentNo }), /about another payment/);
});
