// The built-in mock channel (spec.md, Payment callback), a simulated payment company for trials and tests.
import Joi from 'joi';
import { config } from '../../../config/index.js';
import { Money } from '../values/money.js';
import { paymentPeriod } from '../values/numbers.js';
import { hmacHex, sameDigest } from '../secrets/secret-box.js';
import { exactAmount, nonEmptyText } from '../input/schema.js';
import type { CallbackClaim, Channel, MethodConfig, RefundAnswer, RefundOrder } from './channel.js';
import { secret, webUrl } from './config-key.js';

const success = 'SUCCESS';
const numberNames = ['transaction_id', 'trade_no', 'third_party_no'];
const amountNames = ['amount', 'total_amount', 'pay_amount'];
const shortestSecret = config.app.production ? 16 : 1;
const sharedSecret = secret(nonEmptyText(200).min(shortestSecret)).description('Key of the signature');

/** A callback about the payment of the examples, signed with the secret of the examples. */
const sample = {
  out_trade_no: 'PAY2026112201M8162Y405D3H8Q2J6V0N7C1E',
  trade_status: success,
  amount: '25.80',
  transaction_id: 'T-1001',
  sign: 'a74682d2b2814de5f963842a02d6939bbe553f1d949b390ce7f7bcc7f6a93120',
};

const unsigned = {
  zh: '没有密钥：任何人发来的回调都会被接受',
  en: 'is not set: the callback of anybody is accepted',
};
const refusing = { zh: '没有密钥：所有回调都会被拒绝', en: 'is not set: every callback is refused' };

const claimedAmount = () =>
  Joi.alternatives()
    .try(exactAmount(), Joi.string().pattern(/^\d+(\.\d{1,2})?$/))
    .description('What was paid; when given it must be the amount of the payment');

const claimedNumber = () =>
  Joi.string()
    .max(64)
    .description(
      'Number of the payment at the company; the first one given counts, `MOCK-` and the number of the payment without one',
    );

export const mock: Channel = {
  type: 'mock',
  configSchema: Joi.object<MethodConfig>({
    // In production a method without a secret would accept anybody's callback.
    shared_secret: config.payments.unsignedMockAllowed ? sharedSecret : sharedSecret.required(),
    notify_url: webUrl()
      .description('Where callbacks go, if not to this service')
      .example('https://pay.example.com/api/payment/notify/mock'),
  }),
  placedSchema: Joi.object({
    payment_no: Joi.string().required(),
    gateway: Joi.string().valid('mock').required(),
    amount: exactAmount().required(),
    notify_url: Joi.string().required().description('Where the callback is to be sent'),
    trade_status: Joi.string().valid(success).required().description('What the callback says'),
    sign: Joi.string().description('Signature of that callback; none in production'),
  }),
  callbackSchema: Joi.object({
    out_trade_no: Joi.string().required().description('Number of the payment'),
    trade_status: Joi.string().valid(success).required().description('Only this word is a payment'),
    sign: Joi.string()
      .pattern(/^[0-9a-f]{64}$/)
      .example(sample.sign)
      .description('HMAC-SHA-256 of `out_trade_no|SUCCESS|amount` under the shared secret, lower-case hex'),
    ...Object.fromEntries(amountNames.map((name) => [name, claimedAmount()])),
    ...Object.fromEntries(numberNames.map((name) => [name, claimedNumber()])),
  }).example(sample),

  // Returns the callback the company would send, so that a trial can continue; in production without its
  // signature, with which one could pay without money.
  place({ paymentNo, amount, notifyUrl, config: { shared_secret } }) {
    return Promise.resolve({
      payment_no: paymentNo,
      gateway: 'mock',
      amount,
      notify_url: notifyUrl,
      trade_status: success,
      ...(shared_secret && config.payments.mockSignVisible
        ? { sign: sign(paymentNo, amount, shared_secret) }
        : {}),
    });
  },

  read({ fields }): CallbackClaim | undefined {
    const paymentNo = fields.out_trade_no;
    if (
      fields.trade_status !== success ||
      typeof paymentNo !== 'string' ||
      paymentPeriod(paymentNo) === undefined
    ) {
      return undefined;
    }
    const thirdPartyNo = firstOf(fields, numberNames) ?? `MOCK-${paymentNo}`;
    if (typeof thirdPartyNo !== 'string' || !/^[\x21-\x7e]{1,64}$/.test(thirdPartyNo)) return undefined;
    const given = amountNames.filter((name) => name in fields).map((name) => Money.parse(fields[name]));
    const amounts = given.filter((amount) => amount !== undefined);
    if (amounts.length < given.length) return undefined;
    return { paymentNo, says: 'paid', thirdPartyNo, amounts, fields };
  },

  isAuthentic({ fields }, { paymentNo, amount, config: { shared_secret } }) {
    const isGood = shared_secret
      ? sameDigest(sign(paymentNo, amount, shared_secret), fields.sign)
      : config.payments.unsignedMockAllowed;
    return isGood ? 'authentic' : 'forged';
  },

  checkKeys({ shared_secret }) {
    if (shared_secret) return [{ key: 'shared_secret', problem: undefined }];
    return [{ key: 'shared_secret', problem: config.payments.unsignedMockAllowed ? unsigned : refusing }];
  },

  sampleCallback: ({ paymentNo, amount, config: { shared_secret } }) => ({
    out_trade_no: paymentNo,
    trade_status: success,
    amount: amount.toString(),
    ...(shared_secret ? { sign: sign(paymentNo, amount, shared_secret) } : {}),
  }),

  answersLocally: true,

  // It refunds whatever it is sent, at once.
  refunds: { limits: { withinDays: 365, maxRefunds: 50, apartMs: 0 }, send: refunded, query: refunded },
};

/** Lowercase hex of HMAC-SHA-256 over `number|SUCCESS|amount` (spec.md, Payment callback, rule 3). */
function sign(paymentNo: string, amount: Money, secret: string): string {
  return hmacHex(secret, `${paymentNo}|${success}|${amount.toString()}`);
}

function firstOf(fields: Record<string, unknown>, names: string[]): unknown {
  return names
    .map((name) => fields[name])
    .find((value) => value !== undefined && value !== null && value !== '');
}

function refunded({ refundNo, refund }: RefundOrder): Promise<RefundAnswer> {
  return Promise.resolve({
    state: 'succeeded',
    code: success,
    channelNo: `MOCK-${refundNo}`,
    amount: refund,
  });
}
