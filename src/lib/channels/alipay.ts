// Alipay page pay (alipay.trade.page.pay, opendocs.alipay.com/open/028r8t): the customer's browser opens a signed
// URL, so no outbound request is made. Its callback and query answer 501 unless PAYMENT_CHANNEL_RESULTS opens them
// (docs/spec.md, Payment callback, rule 4).
import Joi from 'joi';
import { paymentPeriod } from '../values/numbers.js';
import { verifyRsa } from '../secrets/rsa.js';
import { Money } from '../values/money.js';
import { queryRefund, refundLimits, sendRefund } from './alipay-refund.js';
import { alipayKey, defaultGateway, signedUrl, wallClock } from './alipay-request.js';
import { closeTrade, paidTrade, queryTrade } from './alipay-trade.js';
import type { CallbackClaim, Channel, MethodConfig, Placement, RefundClaim } from './channel.js';
import { checkPrivateKey, checkPublicKey } from './key-checks.js';
import { gatewayUrl, identifier, privateKey, publicKey, webUrl } from './config-key.js';

export const alipay: Channel = {
  type: 'alipay',
  configSchema: Joi.object<MethodConfig>({
    app_id: identifier(32).required().description('APPID of the application'),
    private_key: privateKey().required().description('RSA private key of the application, PEM'),
    alipay_public_key: publicKey().description('RSA public key of Alipay, PEM'),
    seller_id: identifier(28).description('Id of the seller; a callback for another one is refused'),
    gateway: gatewayUrl().description(`Address of Alipay; ${defaultGateway}`),
    return_url: webUrl().description('Where the customer returns to after paying'),
    notify_url: webUrl().description('Where callbacks go, if not to this service'),
  }),
  accountKeys: ['app_id', 'gateway'],
  placedSchema: Joi.object({
    payment_no: Joi.string().required(),
    pay_url: Joi.string().required().description('The page to send the customer to'),
  }),
  // Every other field of the form is a text too.
  callbackSchema: Joi.object({
    out_trade_no: Joi.string().required().description('Number of the payment'),
    trade_no: Joi.string().description('Number of the payment at Alipay'),
    trade_status: Joi.string().description('`TRADE_SUCCESS` for paid'),
    total_amount: Joi.string().description('The amount paid'),
    sign: Joi.string().description('RSA2 signature'),
  }).pattern(Joi.any(), Joi.string()),

  // total_amount and time_expire in opendocs.alipay.com/open/028r8t.
  placingLimits: {
    minAmount: Money.from('0.01'),
    maxAmount: Money.from('100000000.00'),
    minMs: 60_000,
    maxMs: 15 * 86_400_000,
  },

  read: ({ fields }) => (isForm(fields) ? claimOf(fields) : undefined),

  refundIn: (fields) => (isForm(fields) ? refundOf(fields).refund : undefined),

  isAuthentic({ fields }, { config }) {
    const key = alipayKey(config);
    if (!isForm(fields) || !verifyRsa(signedText(fields), fields.sign ?? '', key)) return 'forged';
    const { app_id, seller_id } = config;
    const isOwn = fields.app_id === app_id && (seller_id === undefined || fields.seller_id === seller_id);
    return isOwn ? 'authentic' : 'foreign';
  },

  accepted: { status: 200, body: 'success' },

  results: {
    requiredKeys: ['alipay_public_key'],
    query: queryTrade,
    close: closeTrade,
  },

  refunds: { limits: refundLimits, send: sendRefund, query: queryRefund },

  place(placement) {
    const { config, paymentNo, notifyUrl } = placement;
    const { return_url } = config;
    const url = signedUrl(config, 'alipay.trade.page.pay', {
      biz_content: JSON.stringify(trade(placement)),
      notify_url: notifyUrl,
      ...(return_url ? { return_url } : {}),
    });
    return Promise.resolve({ payment_no: paymentNo, pay_url: url.href });
  },

  checkKeys: (config) => [
    checkPrivateKey(config),
    ...(config.alipay_public_key ? [checkPublicKey(config, 'alipay_public_key')] : []),
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

type Form = Record<string, string | undefined>;

/** A field that was sent twice has a list of values; which of them was signed is unknown. */
const isForm = (fields: Record<string, unknown>): fields is Form =>
  Object.values(fields).every((value) => typeof value === 'string');

// All received fields are signed, empty ones too, except these two (docs.open.alipay.com/270/105902).
const unsigned = new Set(['sign', 'sign_type']);

function signedText(fields: Form): string {
  return Object.keys(fields)
    .filter((name) => !unsigned.has(name))
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&');
}

// TRADE_FINISHED can no longer be refunded. After a refund a trade may be reported as TRADE_SUCCESS once
// more. The signed text does not distinguish a field from an `&` in the value before it, so what is read must
// have its exact form.
function claimOf(fields: Form): CallbackClaim | undefined {
  const { out_trade_no, trade_status = '', trade_no, gmt_payment } = fields;
  if (out_trade_no === undefined || paymentPeriod(out_trade_no) === undefined) return undefined;
  const claim = { paymentNo: out_trade_no, signed: signedText(fields), fields };
  const isPaid = /^TRADE_(SUCCESS|FINISHED)$/.test(trade_status) && !isRefund(fields);
  if (!isPaid) return { ...claim, says: 'other', amounts: [], ...refundOf(fields) };
  const paid = paidTrade(trade_no, fields.total_amount, gmt_payment);
  if (!paid?.paidAt) return { ...claim, says: 'paid', amounts: [] };
  const { amount, ...rest } = paid;
  return { ...claim, says: 'paid', ...rest, amounts: [amount] };
}

const isRefund = ({ gmt_refund, refund_fee }: Form): boolean =>
  Boolean(gmt_refund) || /[1-9]/.test(refund_fee ?? '');

// refund_fee is the sum of all refunds of the trade, out_biz_no the number of the one that was made now.
function refundOf(fields: Form): { refund?: RefundClaim } {
  if (!isRefund(fields)) return {};
  const { refund_fee, out_biz_no } = fields;
  const named = out_biz_no ? { refundNo: out_biz_no } : {};
  return { refund: { ...named, total: Money.parse(refund_fee) ?? aCent } };
}

const aCent = new Money(1n);

function trade({ paymentNo, orderNo, amount, expireAt }: Placement): object {
  return {
    out_trade_no: paymentNo,
    product_code: 'FAST_INSTANT_TRADE_PAY',
    total_amount: amount.toString(),
    subject: `订单 ${orderNo}`,
    ...(expireAt ? { time_expire: wallClock(expireAt) } : {}),
  };
}
