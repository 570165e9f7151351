// The built-in mock channel (spec.md, Payment callback): a scripted payment company for trials and tests.
import Joi from 'joi';
import { config } from '../../../config/index.js';
import { Money } from '../money.js';
import { paymentPeriod } from '../numbers.js';
import { hmacHex, sameDigest } from '../secret-box.js';
import type { Channel, MethodConfig, Notification } from './channel.js';
import { secret, webUrl } from './config-key.js';

const success = 'SUCCESS';
const amountNames = ['amount', 'total_amount', 'pay_amount'];
const shortestSecret = config.app.production ? 16 : 1;
const sharedSecret = secret(Joi.string().min(shortestSecret).max(200));

export const mock: Channel = {
  type: 'mock',
  configSchema: Joi.object<MethodConfig>({
    // In production a method without a secret would take anybody's word for a payment.
    shared_secret: config.payments.unsignedMockAllowed ? sharedSecret : sharedSecret.required(),
    notify_url: webUrl(),
  }),

  // Answers what the company would send back, signed if the method has a secret and the caller may see it, so
  // that a trial can go on by itself.
  place({ paymentNo, amount, notifyUrl, showsSignature, config: { shared_secret } }) {
    return Promise.resolve({
      payment_no: paymentNo,
      gateway: 'mock',
      amount,
      notify_url: notifyUrl,
      trade_status: success,
      ...(shared_secret && showsSignature ? { sign: sign(paymentNo, amount, shared_secret) } : {}),
    });
  },

  read(fields): Notification | undefined {
    const paymentNo = fields.out_trade_no;
    if (
      fields.trade_status !== success ||
      typeof paymentNo !== 'string' ||
      paymentPeriod(paymentNo) === undefined
    ) {
      return undefined;
    }
    const thirdPartyNo =
      firstOf(fields, ['transaction_id', 'trade_no', 'third_party_no']) ?? `MOCK-${paymentNo}`;
    if (typeof thirdPartyNo !== 'string' || !/^[\x21-\x7e]{1,64}$/.test(thirdPartyNo)) return undefined;
    const given = amountNames.filter((name) => name in fields).map((name) => Money.parse(fields[name]));
    const amounts = given.filter((amount) => amount !== undefined);
    return amounts.length < given.length ? undefined : { paymentNo, thirdPartyNo, amounts };
  },

  isAuthentic(fields, { paymentNo, amount, config: { shared_secret } }) {
    if (!shared_secret) return config.payments.unsignedMockAllowed;
    return sameDigest(sign(paymentNo, amount, shared_secret), fields.sign);
  },

  answersLocally: true,
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
