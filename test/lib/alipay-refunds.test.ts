// Refunds of Alipay: one number refunds once, and only `fund_change=Y` or the query says that money moved.
import '../support/environment.js';
import '../support/local-gateways.js';
import test from 'ava';
import { alipay } from '../../src/lib/channels/alipay.js';
import type { RefundAnswer, RefundOrder } from '../../src/lib/channels/channel.js';
import { Money } from '../../src/lib/values/money.js';
import { newOrderNumber, newPaymentNumber, newRefundNumber } from '../../src/lib/values/numbers.js';
import { refusal } from '../support/alipay-ledger.js';
import { AlipayPlatform } from '../support/alipay-platform.js';
import { failsWith } from '../support/channel-failure.js';
import type { ResultMood } from '../support/result-dials.js';

let platform: AlipayPlatform;

test.before(async () => {
  platform = await AlipayPlatform.start();
});

test.afterEach.always(() => {
  platform.results.reset();
  Object.assign(platform.refunds, { isDelayed: false, funds: undefined });
});

test.after.always(() => platform.stop());

const signal = () => AbortSignal.timeout(1500);

/** A refund of a payment that was placed and paid. */
async function order(refund = '2.30'): Promise<RefundOrder> {
  const orderNo = newOrderNumber(new Date());
  const paymentNo = newPaymentNumber(new Date());
  const payment = { paymentNo, amount: Money.from('12.30'), config: platform.resultConfig };
  const placement = { ...payment, orderNo, expireAt: null, notifyUrl: 'https://back-office.test/' };
  const placed = await alipay.place?.({ ...placement, showsSignature: false }, signal());
  const thirdPartyNo = platform.pay(String(placed?.pay_url));
  const refundNo = newRefundNumber(new Date());
  return { ...payment, thirdPartyNo, refundNo, refund: Money.from(refund), reason: '多付了' };
}

const send = (one: RefundOrder) => alipay.refunds?.send(one, signal()) as Promise<RefundAnswer>;
const query = (one: RefundOrder) => alipay.refunds?.query(one, signal()) as Promise<RefundAnswer>;

/** What an answer says, without the time. */
const said = ({ at: _, ...rest }: RefundAnswer): RefundAnswer => rest;

const amount = Money.from('2.30');
const done = { state: 'succeeded', code: 'fund_change=Y', amount } as const;
const found = { state: 'succeeded', code: 'REFUND_SUCCESS', amount } as const;
const received = { state: 'processing', code: 'fund_change=N' } as const;
const absent = { state: 'absent', code: 'no refund_status' } as const;

test.serial('a refund is done when funds have changed, each part with its own amount', async (t) => {
  const one = await order();
  t.deepEqual(said(await send(one)), done);
  const other = { ...one, refundNo: newRefundNumber(new Date()), refund: Money.from('10.00') };
  t.deepEqual(said(await send(other)), { ...done, amount: Money.from('10.00') }, 'refund_fee is the sum');
  const { at, ...answer } = await query(one);
  t.deepEqual(answer, found);
  t.true(Math.abs((at?.getTime() ?? 0) - Date.now()) < 10_000);
  t.is(platform.ledger.stateOf(one.paymentNo), 'TRADE_CLOSED');
  t.is((await alipay.results?.query(one, signal()))?.state, 'paid', 'the money did arrive');
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
  const one = await order();
  platform.refunds.isDelayed = true;
  t.deepEqual(await send(one), received);
  t.deepEqual(await query(one), absent);
  t.deepEqual(await send(one), received, 'once more under its number');
  const at = new Date('2026-11-25T00:30:01Z');
  platform.refunds.finish(one.refundNo, at);
  t.deepEqual(await query(one), { ...found, at });
  t.is(platform.refunds.refundedOf(one.paymentNo), '2.30');
});

test.serial('a refund that failed after it was received is sent again', async (t) => {
  const one = await order();
  platform.refunds.isDelayed = true;
  await send(one);
  platform.refunds.drop(one.refundNo);
  platform.refunds.isDelayed = false;
  t.deepEqual(await query(one), absent);
  t.deepEqual(said(await send(one)), done);
});

test.serial('one number refunds once, however often it is sent', async (t) => {
  const one = await order();
  await send(one);
  for (let round = 0; round < 3; round++) t.deepEqual(said(await send(one)), received);
  t.is(platform.refunds.refundedOf(one.paymentNo), '2.30');
  const other = await send({ ...one, refund: Money.from('2.31') });
  t.deepEqual(other, { state: 'failed', code: 'ACQ.DISCORDANT_REPEAT_REQUEST' });
});

test.serial('more than was paid is not refunded', async (t) => {
  const one = await order('12.00');
  await send(one);
  const answer = await send({ ...one, refundNo: newRefundNumber(new Date()), refund: Money.from('0.31') });
  t.deepEqual(answer, { state: 'failed', code: 'ACQ.REASON_TRADE_REFUND_FEE_ERR' });
  t.is(platform.refunds.refundedOf(one.paymentNo), '12.00');
});

test.serial('a trade that is finished is not refunded', async (t) => {
  const one = await order();
  platform.ledger.set(one.paymentNo, 'TRADE_FINISHED');
  t.deepEqual(await send(one), { state: 'failed', code: 'ACQ.TRADE_HAS_FINISHED' });
  t.deepEqual(await query(one), absent);
});

test.serial('a trade that is unknown has no refund and gets none', async (t) => {
  const one = { ...(await order()), thirdPartyNo: '2019081500000000' };
  t.deepEqual(await query(one), { state: 'absent', code: 'ACQ.TRADE_NOT_EXIST' });
  t.deepEqual(await send(one), { state: 'failed', code: 'ACQ.TRADE_NOT_EXIST' });
});

test.serial('without funds nothing is decided until the merchant has paid in', async (t) => {
  const one = await order();
  platform.refunds.funds = Money.from('2.29');
  await failsWith(t, send(one), /^ACQ.SELLER_BALANCE_NOT_ENOUGH: 卖家余额不足$/);
  t.deepEqual(await query(one), absent);
  platform.refunds.topUp(Money.from('0.01'));
  t.deepEqual(said(await send(one)), done);
});

for (const code of [
  ...['REASON_TRADE_REFUND_FEE_ERR', 'REFUND_AMT_NOT_EQUAL_TOTAL', 'TRADE_HAS_FINISHED', 'TRADE_HAS_CLOSE'],
  ...['TRADE_STATUS_ERROR', 'TRADE_NOT_ALLOW_REFUND', 'NOT_ALLOW_PARTIAL_REFUND', 'BUYER_NOT_EXIST'],
  ...['BUYER_ENABLE_STATUS_FORBID', 'INVALID_PARAMETER', 'DISCORDANT_REPEAT_REQUEST'],
]) {
  test.serial(`${code} is final`, async (t) => {
    const one = await order();
    platform.results.mood = 'refusing';
    platform.results.refusal = refusal(code, '不');
    t.deepEqual(await send(one), { state: 'failed', code: `ACQ.${code}` });
    await failsWith(t, query(one), new RegExp(`^ACQ.${code}: 不$`));
  });
}

test.serial('other refusals decide nothing', async (t) => {
  const one = await order();
  platform.results.mood = 'refusing';
  for (const said of [
    refusal('SYSTEM_ERROR', '不'),
    refusal('SELLER_BALANCE_NOT_ENOUGH', '不'),
    refusal('NEW_WORD', '不'),
    { ...refusal('TRADE_HAS_CLOSE', '不'), code: '20000' },
    { ...refusal('TRADE_HAS_CLOSE', '不'), code: '40006' },
  ]) {
    platform.results.refusal = said;
    await failsWith(t, send(one), new RegExp(`^${said.sub_code}: 不$`));
    await failsWith(t, query(one), new RegExp(`^${said.sub_code}: 不$`));
  }
});

const failures: [ResultMood, RegExp][] = [
  ['unsure', /^isp.unknow-error: 系统繁忙$/],
  ['unsigned', /no valid signature$/],
  ['forging', /no valid signature$/],
  ['garbled', /cannot be read$/],
  ['silent', /did not answer in time$/],
  ['cut', /cannot be reached/],
  ['resetting', /cannot be reached \(ECONNRESET\)/],
  ['otherPayment', /about another payment or merchant$/],
];

for (const [mood, words] of failures) {
  test.serial(`a refund whose gateway is ${mood} is done once, and found by its number`, async (t) => {
    const one = await order();
    platform.results.moods = { refund: mood, queryRefund: mood };
    await failsWith(t, send(one), words);
    await failsWith(t, query(one), words);
    platform.results.reset();
    t.deepEqual(said(await query(one)), found);
    t.deepEqual(said(await send(one)), received);
    t.is(platform.refunds.refundedOf(one.paymentNo), '2.30');
  });
}

test.serial('for trouble of the moment nothing was done', async (t) => {
  const one = await order();
  for (const [mood, words] of [
    ['failing', /^HTTP 502$/],
    ['busy', /^isv.app-call-limited: /],
  ] as const) {
    platform.results.mood = mood;
    await failsWith(t, send(one), words);
    await failsWith(t, query(one), words);
  }
  t.is(platform.refunds.stateOf(one.refundNo), undefined);
});

test.serial('an unsigned refusal is not final, nor does it make a refund absent', async (t) => {
  const one = await order();
  platform.ledger.set(one.paymentNo, 'TRADE_FINISHED');
  platform.results.mood = 'unsigned';
  await failsWith(t, send(one), /no valid signature \(ACQ.TRADE_HAS_FINISHED: 交易已完结\)$/);
  await failsWith(t, query(one), /no valid signature$/);
});

test.serial('the query tells another amount as it is, and makes no missing one up', async (t) => {
  const one = await order();
  await send(one);
  platform.results.mood = 'otherAmount';
  t.deepEqual((await query(one)).amount, Money.from('2.31'));
  platform.results.mood = 'incomplete';
  t.deepEqual(said(await query(one)), { state: 'succeeded', code: 'REFUND_SUCCESS' });
  platform.results.mood = 'newWord';
  await failsWith(t, query(one), /cannot be read$/);
});

test.serial('an answer that names another refund does not make this one absent', async (t) => {
  const one = await order();
  platform.results.mood = 'otherPayment';
  await failsWith(t, query(one), /about another payment or merchant$/);
});
