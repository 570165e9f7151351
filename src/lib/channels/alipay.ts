// Alipay page pay (alipay.trade.page.pay, opendocs.alipay.com/open/028r8t): the customer's browser opens a signed
// URL, so no outbound request is made. Its callback and query answer 501 (docs/spec.md, Payment callback, rule 4).
import Joi from 'joi';
import { now } from '../clock.js';
import { signRsa } from '../secrets/rsa.js';
import { beijingTime } from '../time.js';
import { Money } from '../money.js';
import type { Channel, MethodConfig, Placement } from './channel.js';
import { checkPrivateKey, checkPublicKey } from './key-checks.js';
import { gatewayUrl, identifier, privateKey, publicKey, webUrl } from './config-key.js';

const defaultGateway = 'https://openapi.alipay.com/gateway.do';

export const alipay: Channel = {
  type: 'alipay',
  configSchema: Joi.object<MethodConfig>({
    app_id: identifier(32).required().description('APPID of the application'),
    private_key: privateKey().required().description('RSA private key of the application, PEM'),
    alipay_public_key: publicKey().description('RSA public key of Alipay, PEM'),
    gateway: gatewayUrl().description(`Address of Alipay; ${defaultGateway}`),
    return_url: webUrl().description('Where the customer returns to after paying'),
    notify_url: webUrl().description('Where callbacks go, when not to the service itself'),
  }),
  placedSchema: Joi.object({
    payment_no: Joi.string().required(),
    pay_url: Joi.string().required().description('The page to send the customer to'),
  }),
  // Every other field of the form is a text too.
  callbackSchema: Joi.object({
    out_trade_no: Joi.string().required().description('Number of the payment'),
    trade_no: Joi.string().description('Number of the payment at Alipay'),
    trade_status: Joi.string().description('`TRADE_SUCCESS` for paid'),
    total_amount: Joi.string().description('What was paid'),
    sign: Joi.string().description('RSA2 signature'),
  }).pattern(Joi.any(), Joi.string()),

  // total_amount and time_expire in opendocs.alipay.com/open/028r8t.
  placingLimits: {
    least: Money.from('0.01'),
    most: Money.from('100000000.00'),
    minMs: 60_000,
    maxMs: 15 * 86_400_000,
  },

  place(placement) {
    const { config, paymentNo } = placement;
    const url = new URL(config.gateway ?? defaultGateway);
    for (const [name, value] of signedParameters(placement)) url.searchParams.set(name, value);
    return Promise.resolve({ payment_no: paymentNo, pay_url: url.href });
  },

  checkKeys: (config) => [
    checkPrivateKey(config, 'private_key'),
    ...(config.alipay_public_key ? [checkPublicKey(config, 'alipay_public_key', 'private_key')] : []),
  ],

  // Only Alipay has the signing key.
  sampleCallback: ({ paymentNo, amount, config }) => ({
    app_id: config.app_id,
    out_trade_no: paymentNo,
    trade_no: `TEST-${paymentNo}`,
    trade_status: 'TRADE_SUCCESS',
    total_amount: amount.toString(),
    sign_type: 'RSA2',
    sign: '',
  }),
};

// The parameters are signed in order of their names, without empty ones (opendocs.alipay.com/common/02kdnc).
function signedParameters(placement: Placement): [string, string][] {
  const { config, notifyUrl } = placement;
  const parameters: [string, string][] = Object.entries({
    app_id: config.app_id ?? '',
    biz_content: JSON.stringify(trade(placement)),
    charset: 'utf-8',
    format: 'JSON',
    method: 'alipay.trade.page.pay',
    notify_url: notifyUrl,
    ...(config.return_url ? { return_url: config.return_url } : {}),
    sign_type: 'RSA2',
    timestamp: wallClock(now()),
    version: '1.0',
  });
  const text = parameters.map(([name, value]) => `${name}=${value}`).join('&');
  return [...parameters, ['sign', signRsa(text, config.private_key ?? '')]];
}

function trade({ paymentNo, orderNo, amount, expireAt }: Placement): object {
  return {
    out_trade_no: paymentNo,
    product_code: 'FAST_INSTANT_TRADE_PAY',
    total_amount: amount.toString(),
    subject: `订单 ${orderNo}`,
    ...(expireAt ? { time_expire: wallClock(expireAt) } : {}),
  };
}

const wallClock = (at: Date): string => beijingTime(at).replace('T', ' ');
