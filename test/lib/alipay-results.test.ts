// What Alipay says of trades: believed when the raw text is signed and about ours, else nothing was learned.
import '../support/environment.js';
import '../support/local-gateways.js';
import test from 'ava';
import { alipay } from '../../src/lib/channels/alipay.js';
import type { ChannelPayment, TradeAnswer } from '../../src/lib/channels/channel.js';
import { Money } from '../../src/lib/values/money.js';
import { newOrderNumber, newPaymentNumber } from '../../src/lib/values/numbers.js';
import { AlipayPlatform } from '../support/alipay-platform.js';
import { failsWith } from '../support/channel-failure.js';
import type { ResultMood } from '../support/result-dials.js';
import { newRsaKeys } from '../support/rsa-keys.js';

let platform: AlipayPlatform;

test.before(async () => {
  platform = await AlipayPlatform.start();
});

test.afterEach.always(() => platform.results.reset());

test.after.always(() => platform.stop());

const signal = () => AbortSignal.timeout(1500);

/** A payment that was placed, and the address that its customer is sent to. */
async function place(expireAt: Date | null = null): Promise<ChannelPayment & { payUrl: string }> {
  const orderNo = newOrderNumber(new Date());
  const paymentNo = newPaymentNumber(new Date());
  const payment = { paymentNo, amount: Money.from('12.30'), config: platform.resultConfig };
  const placement = { ...payment, orderNo, expireAt, notifyUrl: 'https://back-office.test/' };
  const placed = await alipay.place?.({ ...placement, showsSignature: false }, signal());
  return { ...payment, payUrl: String(placed?.pay_url) };
}

const query = (payment: ChannelPayment) => alipay.results?.query(payment, signal()) as Promise<TradeAnswer>;
const close = (payment: ChannelPayment) => alipay.results?.close(payment, signal()) as Promise<string>;

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
  platform.open(payment.payUrl);
  const { fields, ...answer } = await query(payment);
  t.deepEqual(answer, { state: 'waiting', code: 'WAIT_BUYER_PAY' });
  t.like(fields, { out_trade_no: payment.paymentNo, store_name: '总店/线上 "}{\\' });
});

test.serial('what was paid is returned with number, amount and time', async (t) => {
  const at = new Date('2026-11-25T00:30:01Z');
  for (const status of ['TRADE_SUCCESS', 'TRADE_FINISHED'] as const) {
    const payment = await place();
    const thirdPartyNo = platform.pay(payment.payUrl, at);
    platform.ledger.set(payment.paymentNo, status);
    const { fields, ...answer } = await query(payment);
    const amount = Money.from('12.30');
    t.deepEqual(answer, { state: 'paid', code: status, thirdPartyNo, amount, paidAt: at });
    t.is(fields.send_pay_date, '2026-11-25 08:30:01');
  }
});

test.serial('a closed trade was paid when it has a time of payment', async (t) => {
  const refunded = await place();
  const thirdPartyNo = platform.pay(refunded.payUrl);
  platform.ledger.close(refunded.paymentNo);
  const code = 'TRADE_CLOSED';
  t.like(await query(refunded), { state: 'paid', code, thirdPartyNo, amount: Money.from('12.30') });
  const unpaid = await place();
  platform.open(unpaid.payUrl);
  platform.ledger.close(unpaid.paymentNo);
  const { fields: _, ...answer } = await query(unpaid);
  t.deepEqual(answer, { state: 'closed', code });
});

test.serial('a paid one without number is returned as incomplete, and another amount as it is', async (t) => {
  const payment = await place();
  platform.pay(payment.payUrl);
  platform.results.mood = 'incomplete';
  const { fields: _, ...answer } = await query(payment);
  t.deepEqual(answer, { state: 'paid', code: 'TRADE_SUCCESS' });
  platform.results.mood = 'otherAmount';
  t.deepEqual((await query(payment)).amount, Money.from('12.31'));
});

test.serial('the signed text is the raw one, wherever the signature stands', async (t) => {
  const payment = await place();
  platform.pay(payment.payUrl);
  for (let round = 0; round < 4; round++) {
    platform.results.escapesLater = round > 1;
    const { state, fields } = await query(payment);
    t.deepEqual([state, fields.store_name], ['paid', '总店/线上 "}{\\']);
  }
});

const failures: [ResultMood, RegExp][] = [
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
];

for (const [mood, words] of failures) {
  test.serial(`from a gateway that is ${mood} nothing is learned`, async (t) => {
    const payment = await place();
    platform.pay(payment.payUrl);
    platform.results.mood = mood;
    await failsWith(t, query(payment), words);
    platform.results.mood = 'well';
    t.is((await query(payment)).state, 'paid');
  });
}

test.serial('a refusal without a valid signature does not make a payment absent', async (t) => {
  const payment = await place();
  for (const mood of ['unsigned', 'forging'] as const) {
    platform.results.mood = mood;
    await failsWith(t, query(payment), /no valid signature \(ACQ.TRADE_NOT_EXIST: 交易不存在\)$/);
  }
});

test.serial('other refusals say nothing of the payment', async (t) => {
  const payment = await place();
  platform.results.mood = 'refusing';
  const said = { code: '40004', msg: 'Business Failed', sub_code: 'ACQ.SYSTEM_ERROR', sub_msg: '系统错误' };
  platform.results.refusal = said;
  await failsWith(t, query(payment), /^ACQ.SYSTEM_ERROR: 系统错误$/);
  platform.results.refusal = { ...said, code: '20000', sub_code: 'ACQ.TRADE_NOT_EXIST' };
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

test.serial('a slow answer within the time counts', async (t) => {
  platform.results.mood = 'slow';
  t.is((await query(await place())).state, 'absent');
});

test.serial('closing is proven by a signed yes', async (t) => {
  const payment = await place();
  platform.open(payment.payUrl);
  t.is(await close(payment), 'closed');
  t.is(platform.ledger.stateOf(payment.paymentNo), 'TRADE_CLOSED');
  t.throws(() => platform.open(payment.payUrl), { message: 'ACQ.TRADE_HAS_CLOSE' });
  t.like(platform.results.requests.at(-1), {
    operation: 'close',
    number: payment.paymentNo,
    content: { out_trade_no: payment.paymentNo },
  });
  t.is(await close(payment), 'ask', 'it is closed already');
  t.is(platform.results.count('close', payment.paymentNo), 2);
});

test.serial('what cannot be closed is asked about', async (t) => {
  const paid = await place();
  platform.pay(paid.payUrl);
  t.is(await close(paid), 'ask');
  const open = await place();
  platform.open(open.payUrl);
  for (const mood of ['refusing', 'unsure', 'otherPayment'] as const) {
    platform.results.mood = mood;
    t.is(await close(open), 'ask', mood);
  }
});

test.serial('what is paid between query and close is not closed', async (t) => {
  const payment = await place();
  platform.open(payment.payUrl);
  platform.results.before = (operation) => operation === 'close' && platform.ledger.pay(payment.paymentNo);
  t.is((await query(payment)).state, 'waiting');
  t.is(await close(payment), 'ask');
  t.is((await query(payment)).state, 'paid');
});

const silences = new Set<ResultMood>([
  'failing',
  'unsigned',
  'forging',
  'garbled',
  'silent',
  'cut',
  'resetting',
]);

for (const [mood, words] of failures.filter(([mood]) => silences.has(mood))) {
  test.serial(`a gateway that is ${mood} proves no closing`, async (t) => {
    const payment = await place();
    platform.open(payment.payUrl);
    platform.results.moods.close = mood;
    await failsWith(t, close(payment), words);
    t.is((await query(payment)).state, mood === 'failing' ? 'waiting' : 'closed');
  });
}

test.serial('an address leads nowhere once its time is over', async (t) => {
  const { payUrl } = await place(new Date(Date.now() - 1000));
  t.throws(() => platform.open(payUrl), { message: 'ACQ.TRADE_HAS_CLOSE' });
});
