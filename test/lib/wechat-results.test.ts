// What WeChat Pay says of payments: believed when it is signed and about ours, else nothing was learned.
import '../support/environment.js';
import '../support/local-gateways.js';
import test from 'ava';
import type { ChannelPayment, TradeAnswer } from '../../src/lib/channels/channel.js';
import { wechat } from '../../src/lib/channels/wechat.js';
import { Money } from '../../src/lib/values/money.js';
import { newOrderNumber, newPaymentNumber } from '../../src/lib/values/numbers.js';
import { failsWith } from '../support/channel-failure.js';
import type { ResultMood } from '../support/result-dials.js';
import { newRsaKeys } from '../support/rsa-keys.js';
import { shortNumber, type WechatState } from '../support/wechat-ledger.js';
import { WechatPlatform } from '../support/wechat-platform.js';

let platform: WechatPlatform;

test.before(async () => {
  platform = await WechatPlatform.start();
});

test.afterEach.always(() => platform.results.reset());

test.after.always(() => platform.stop());

const signal = () => AbortSignal.timeout(1500);

/** A payment that was placed. */
async function place(config = platform.config): Promise<ChannelPayment> {
  const orderNo = newOrderNumber(new Date());
  const payment = { paymentNo: newPaymentNumber(new Date()), amount: Money.from('12.30'), config };
  const notifyUrl = 'https://back-office.test/api/payment/notify/wechat';
  await wechat.place?.({ ...payment, orderNo, expireAt: null, notifyUrl, showsSignature: false }, signal());
  return payment;
}

const query = (payment: ChannelPayment) => wechat.results?.query(payment, signal()) as Promise<TradeAnswer>;
const close = (payment: ChannelPayment) => wechat.results?.close(payment, signal()) as Promise<string>;

test.serial('what was paid is returned with number, amount and time', async (t) => {
  const payment = await place();
  const at = new Date('2026-11-25T00:30:01Z');
  const thirdPartyNo = platform.ledger.pay(payment.paymentNo, { at });
  const { fields, ...answer } = await query(payment);
  t.deepEqual(answer, {
    state: 'paid',
    code: 'SUCCESS',
    thirdPartyNo,
    amount: Money.from('12.30'),
    paidAt: at,
  });
  t.like(fields, { trade_state: 'SUCCESS', trade_state_desc: '支付成功', transaction_id: thirdPartyNo });
});

test.serial('coupons do not lower what was paid', async (t) => {
  const payment = await place();
  platform.ledger.pay(payment.paymentNo, { coupon: 230 });
  t.deepEqual((await query(payment)).amount, Money.from('12.30'));
});

test.serial('what was paid and then refunded was paid', async (t) => {
  const payment = await place();
  const thirdPartyNo = platform.ledger.pay(payment.paymentNo);
  platform.ledger.set(payment.paymentNo, 'REFUND');
  t.like(await query(payment), { state: 'paid', code: 'REFUND', thirdPartyNo });
});

const states: [WechatState, TradeAnswer['state']][] = [
  ['NOTPAY', 'waiting'],
  ['USERPAYING', 'waiting'],
  ['ACCEPT', 'waiting'],
  ['CLOSED', 'closed'],
  ['REVOKED', 'closed'],
  ['PAYERROR', 'failed'],
];

for (const [code, state] of states) {
  test.serial(`${code} is ${state}`, async (t) => {
    const payment = await place();
    platform.ledger.set(payment.paymentNo, code);
    const { fields, ...answer } = await query(payment);
    t.deepEqual(answer, { state, code });
    t.is(fields.out_trade_no, shortNumber(payment.paymentNo));
  });
}

test.serial('what was never placed is absent', async (t) => {
  const placed = await place();
  const answer = await query({ ...placed, paymentNo: newPaymentNumber(new Date()) });
  const fields = { code: 'ORDER_NOT_EXIST', message: '订单不存在' };
  t.deepEqual(answer, { state: 'absent', code: 'ORDER_NOT_EXIST', fields });
});

test.serial('a paid one without number or amount is returned as incomplete', async (t) => {
  const payment = await place();
  platform.ledger.pay(payment.paymentNo);
  platform.results.mood = 'incomplete';
  const { fields: _, ...answer } = await query(payment);
  t.deepEqual(answer, { state: 'paid', code: 'SUCCESS' });
});

test.serial('another amount is returned as it is', async (t) => {
  const payment = await place();
  platform.ledger.pay(payment.paymentNo);
  platform.results.mood = 'otherAmount';
  t.deepEqual((await query(payment)).amount, Money.from('12.31'));
});

const failures: [ResultMood, RegExp][] = [
  ['failing', /^SYSTEM_ERROR: 系统错误$/],
  ['busy', /^FREQUENCY_LIMITED: /],
  ['refusing', /^NO_AUTH: 商户号未开通此产品权限$/],
  ['unsigned', /no valid signature$/],
  ['forging', /no valid signature$/],
  ['replaying', /no valid signature$/],
  ['garbled', /cannot be read$/],
  ['newWord', /cannot be read$/],
  ['silent', /did not answer in time$/],
  ['cut', /cannot be reached/],
  ['resetting', /cannot be reached \(ECONNRESET\)/],
  ['otherPayment', /渠道应答与这笔支付不符 \/ .* about another payment or merchant$/],
  ['otherMerchant', /about another payment or merchant$/],
  ['otherApplication', /about another payment or merchant$/],
  ['otherCurrency', /about another payment or merchant$/],
];

for (const [mood, words] of failures) {
  test.serial(`from a platform that is ${mood} nothing is learned`, async (t) => {
    const payment = await place();
    platform.ledger.pay(payment.paymentNo);
    platform.results.mood = mood;
    await failsWith(t, query(payment), words);
    platform.results.mood = 'well';
    t.is((await query(payment)).state, 'paid');
  });
}

test.serial('a refusal without a valid signature does not make a payment absent', async (t) => {
  const placed = await place();
  const unknown = { ...placed, paymentNo: newPaymentNumber(new Date()) };
  for (const mood of ['unsigned', 'forging', 'replaying'] as const) {
    platform.results.mood = mood;
    await failsWith(t, query(unknown), /no valid signature \(ORDER_NOT_EXIST: 订单不存在\)$/);
  }
  platform.results.mood = 'refusing';
  platform.results.refusal = { status: 400, content: { code: 'ORDER_NOT_EXIST', message: '' } };
  await failsWith(t, query(unknown), /^ORDER_NOT_EXIST$/);
});

test.serial('a slow answer within the time counts', async (t) => {
  platform.results.mood = 'slow';
  t.is((await query(await place())).state, 'waiting');
});

test.serial('another merchant learns nothing of a payment', async (t) => {
  const payment = await place();
  const config = { ...platform.config, cert_serial_no: '00FF00FF' };
  await failsWith(t, query({ ...payment, config }), /^SIGN_ERROR: who is that$/);
  const application = { ...platform.config, app_id: 'wx0000000000000000' };
  await failsWith(t, query({ ...payment, config: application }), /about another payment/);
});

test.serial('the public key of the platform verifies as its certificates do', async (t) => {
  const own = await WechatPlatform.start();
  t.teardown(() => own.stop());
  own.publicKeyId = 'PUB_KEY_ID_0116';
  const key = { platform_public_key: own.keys.publicPem, platform_public_key_id: own.publicKeyId };
  const payment = await place({ ...own.config, ...key });
  t.is((await query(payment)).state, 'waiting');
  t.is(await close(payment), 'closed');
  own.keys = newRsaKeys();
  await failsWith(t, query(payment), /no valid signature$/);
});

test.serial('closing is proven by a signed 204', async (t) => {
  const payment = await place();
  t.is(await close(payment), 'closed');
  t.is(platform.ledger.stateOf(payment.paymentNo), 'CLOSED');
  t.like(platform.results.requests.at(-1), {
    operation: 'close',
    number: shortNumber(payment.paymentNo),
    content: { mchid: platform.mchId },
  });
  t.deepEqual([platform.results.count('close', payment.paymentNo)], [1]);
});

test.serial('what cannot be closed is asked about', async (t) => {
  const entering = await place();
  platform.ledger.enter(entering.paymentNo);
  t.is(await close(entering), 'ask', '202 USER_PAYING');
  t.is(platform.ledger.stateOf(entering.paymentNo), 'NOTPAY');
  const paid = await place();
  platform.ledger.pay(paid.paymentNo);
  t.is(await close(paid), 'ask');
  const closed = await place();
  platform.ledger.close(closed.paymentNo);
  t.is(await close(closed), 'ask', '400 ORDER_CLOSED');
  t.is(await close({ ...paid, paymentNo: newPaymentNumber(new Date()) }), 'ask');
  platform.results.mood = 'refusing';
  t.is(await close(await place()), 'ask');
});

test.serial('what is paid between query and close is not closed', async (t) => {
  const payment = await place();
  platform.results.before = (operation) => operation === 'close' && platform.ledger.pay(payment.paymentNo);
  t.is((await query(payment)).state, 'waiting');
  t.is(await close(payment), 'ask');
  t.is((await query(payment)).state, 'paid');
});

const silences = new Set<ResultMood>([
  'failing',
  'busy',
  'unsigned',
  'forging',
  'replaying',
  'silent',
  'resetting',
]);

for (const [mood, words] of failures.filter(([mood]) => silences.has(mood))) {
  test.serial(`a platform that is ${mood} proves no closing`, async (t) => {
    const payment = await place();
    platform.results.moods.close = mood;
    await failsWith(t, close(payment), words);
    t.is((await query(payment)).state, ['failing', 'busy'].includes(mood) ? 'waiting' : 'closed');
  });
}
