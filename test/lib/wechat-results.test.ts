// What WeChat Pay says of payments and refunds: trusted when it is signed and about ours, else nothing was learned. And data
// sealed with the APIv3 key: opened completely or not at all.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import { createCipheriv } from 'node:crypto';
import test from 'ava';
import type { TradeAnswer } from '../../src/lib/channels/channel.js';
import { openSealed } from '../../src/lib/channels/wechat-seal.js';
import { wechat } from '../../src/lib/channels/wechat.js';
import { Money } from '../../src/lib/values/money.js';
import { newPaymentNumber } from '../../src/lib/values/numbers.js';
import { failsWith, resultsContract, strangeNumber } from '../support/companies/results-contract.js';
import { newRsaKeys } from '../support/companies/rsa-keys.js';
import { refusal, shortNumber, type WechatState } from '../support/companies/wechat-ledger.js';
import { WechatPlatform } from '../support/companies/wechat-platform.js';

const amount = Money.from('2.30');
const fen = (yuan: string): number => Number(Money.from(yuan).cents);

let platform: WechatPlatform;

const { place, order, query, close, send, queryRefund } = resultsContract({
  channel: wechat,
  start: async () => (platform = await WechatPlatform.start()),
  config: () => platform.config,
  failures: [
    ['failing', /^SYSTEM_ERROR: 系统错误$/],
    ['busy', /^FREQUENCY_LIMITED: /],
    ['unsure', /^SYSTEM_ERROR: 系统错误$/],
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
  ],
  silences: ['failing', 'busy', 'unsigned', 'forging', 'replaying', 'silent', 'resetting'],
  lost: [
    ...(['unsure', 'unsigned', 'forging', 'replaying', 'garbled', 'newWord', 'silent', 'cut'] as const),
    ...(['resetting', 'otherPayment', 'otherCurrency'] as const),
  ],
  forged: ['unsigned', 'forging', 'replaying'],
  unsigned: {
    payment: /no valid signature \(ORDER_NOT_EXIST: 订单不存在\)$/,
    sent: /no valid signature \(RESOURCE_NOT_EXISTS: 订单不存在\)$/,
    asked: /no valid signature \(RESOURCE_NOT_EXISTS: 退款单不存在\)$/,
  },
  codes: {
    ...{ paid: 'SUCCESS', refunded: 'SUCCESS' },
    ...{ repeatedOtherwise: 'INVALID_REQUEST', tooMuch: 'INVALID_REQUEST' },
  },
  accepted: { state: 'processing', code: 'PROCESSING', amount },
  repeated: { state: 'succeeded', code: 'SUCCESS', amount },
  sum: fen,
  fund: (yuan) => (platform.refunds.funds = fen(yuan)),
  noFunds: /^NOT_ENOUGH: 基本账户余额不足/,
  finals: [
    ['USER_ACCOUNT_ABNORMAL', refusal(403, 'USER_ACCOUNT_ABNORMAL', '不')],
    ['INVALID_REQUEST', refusal(400, 'INVALID_REQUEST', '不')],
  ],
  undecided: (
    [
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
    ] as const
  ).map(([status, code]) => [code, refusal(status, code, '不')]),
});

test.serial('what was paid is returned with number, amount and time', async (t) => {
  const payment = await place();
  const at = new Date('2026-11-25T00:30:01Z');
  const thirdPartyNo = platform.ledger.pay(payment.paymentNo, { at });
  const { fields, ...answer } = await query(payment);
  t.deepEqual(answer, {
    ...{ state: 'paid', code: 'SUCCESS', thirdPartyNo, amount: Money.from('12.30'), paidAt: at },
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

test.serial('what was never placed is absent only when the answer is a 404', async (t) => {
  const unknown = { ...(await place()), paymentNo: newPaymentNumber(new Date()) };
  const fields = { code: 'ORDER_NOT_EXIST', message: '订单不存在' };
  t.deepEqual(await query(unknown), { state: 'absent', code: 'ORDER_NOT_EXIST', fields });
  const said = { status: 400, content: { code: 'ORDER_NOT_EXIST', message: '' } };
  Object.assign(platform.results, { mood: 'refusing', refusal: said });
  await failsWith(t, query(unknown), /^ORDER_NOT_EXIST$/);
});

test.serial('another merchant learns nothing of a payment', async (t) => {
  const payment = await place();
  const config = { ...payment.config, cert_serial_no: '00FF00FF' };
  await failsWith(t, query({ ...payment, config }), /^SIGN_ERROR: who is that$/);
  const application = { ...payment.config, app_id: 'wx0000000000000000' };
  await failsWith(t, query({ ...payment, config: application }), /about another payment/);
});

test.serial('the public key of the platform verifies as its certificates do', async (t) => {
  const own = await WechatPlatform.start();
  t.teardown(() => own.stop());
  own.publicKeyId = 'PUB_KEY_ID_0116';
  const key = { platform_public_key: own.keys.publicPem, platform_public_key_id: own.publicKeyId };
  const payment = await place({ config: { ...own.config, ...key } });
  t.is((await query(payment)).state, 'waiting');
  t.is(await close(payment), 'closed');
  own.keys = newRsaKeys();
  await failsWith(t, query(payment), /no valid signature$/);
});

test.serial('closing is proven by a signed 204', async (t) => {
  const { ledger, results, mchId } = platform;
  const payment = await place();
  t.is(await close(payment), 'closed');
  t.is(ledger.stateOf(payment.paymentNo), 'CLOSED');
  t.like(results.requests.at(-1), {
    operation: 'close',
    number: shortNumber(payment.paymentNo),
    content: { mchid: mchId },
  });
  t.is(results.count('close', payment.paymentNo), 1);
});

test.serial('what cannot be closed is asked about', async (t) => {
  const { ledger, results } = platform;
  const entering = await place();
  ledger.enter(entering.paymentNo);
  t.is(await close(entering), 'ask', '202 USER_PAYING');
  t.is(ledger.stateOf(entering.paymentNo), 'NOTPAY');
  const paid = await order();
  t.is(await close(paid), 'ask');
  const closed = await place();
  ledger.close(closed.paymentNo);
  t.is(await close(closed), 'ask', '400 ORDER_CLOSED');
  t.is(await close({ ...paid, paymentNo: newPaymentNumber(new Date()) }), 'ask');
  results.mood = 'refusing';
  t.is(await close(await place()), 'ask');
});

test.serial('a refund is accepted, and done when the query says so', async (t) => {
  const { refunds, results } = platform;
  const one = await order();
  refunds.outcome = 'PROCESSING';
  const { channelNo, ...accepted } = await send(one);
  t.deepEqual(accepted, { state: 'processing', code: 'PROCESSING', amount });
  t.regex(channelNo ?? '', /^5030/);
  t.deepEqual(await queryRefund(one), { channelNo, ...accepted });
  const at = new Date('2026-11-28T00:30:01Z');
  refunds.settle(one.refundNo, 'SUCCESS', at);
  const done = { state: 'succeeded', code: 'SUCCESS', channelNo, amount, at } as const;
  t.deepEqual(await queryRefund(one), done);
  t.deepEqual(await send(one), done);
  t.like(
    results.requests.find(({ number }) => number === one.refundNo),
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
  t.is((await query(one)).state, 'paid', 'the money did arrive');
});

for (const [status, state] of [
  ['CLOSED', 'failed'],
  ['ABNORMAL', 'stuck'],
] as const) {
  test.serial(`a refund that is ${status} is ${state}`, async (t) => {
    const one = await order();
    platform.refunds.outcome = status;
    t.is((await send(one)).state, 'processing');
    const { channelNo: _, ...answer } = await queryRefund(one);
    t.deepEqual(answer, { state, code: status, amount });
  });
}

test.serial('a number that was never sent is absent', async (t) => {
  t.deepEqual(await queryRefund(await order()), { state: 'absent', code: 'RESOURCE_NOT_EXISTS' });
});

test.serial('a refund of what nobody paid fails', async (t) => {
  const answer = await send({ ...(await order()), thirdPartyNo: strangeNumber });
  t.deepEqual(answer, { state: 'failed', code: 'RESOURCE_NOT_EXISTS' });
});

test.serial('an answer about another payment is not about this refund', async (t) => {
  const one = await order();
  await send(one);
  await failsWith(t, queryRefund({ ...one, thirdPartyNo: strangeNumber }), /about another payment/);
  const { paymentNo } = await order();
  await failsWith(t, queryRefund({ ...one, paymentNo }), /about another payment/);
});

const key = 'api-v3-key-of-32-characters-here';
const [nonce, associated_data] = ['0123456789ab', 'certificate'];

/** The sealed text and its tag. */
function sealed(text: string): Buffer {
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  cipher.setAAD(Buffer.from(associated_data));
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

const opened = (bytes: Buffer): string =>
  openSealed({ ciphertext: bytes.toString('base64'), nonce, associated_data }, key).toString();

test('V1: a sealed text opens as the SDKs open it, and under nothing else', (t) => {
  const v1 = {
    ciphertext: 'ulwSiIajGClcvcOYvOQ7+l+0PAbzzwI=',
    ...{ nonce: 'uluk4a9R25RW', associated_data: 'associatedData' },
  };
  const v1Key = 'a7cde1ZJB1kG2e7VfTs3jQzaWizur8Gb';
  t.is(openSealed(v1, v1Key).toString(), 'message');
  t.throws(() => openSealed(v1, key));
  t.throws(() => openSealed({ ...v1, associated_data: '' }, v1Key));
  // A tag of four bytes can be guessed.
  const ciphertext = Buffer.from(v1.ciphertext, 'base64').subarray(0, -12).toString('base64');
  t.throws(() => openSealed({ ...v1, ciphertext }, v1Key));
});

test('a part of a tag opens nothing', (t) => {
  // The tag of an empty text.
  const tag = sealed('');
  t.is(tag.length, 16);
  for (let bytes = 0; bytes <= 16; bytes++)
    t.throws(() => opened(tag.subarray(0, bytes)), { message: /too short/ }, `${bytes} bytes`);
  t.throws(() => opened(sealed('x').subarray(0, 16)), undefined, 'a text that lost its end');
});
