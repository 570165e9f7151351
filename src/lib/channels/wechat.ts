// WeChat Pay, API v3: Native (a code to scan) or, with an openid, JSAPI (inside WeChat). Its callback and query answer
// 501 unless PAYMENT_CHANNEL_RESULTS opens them (spec.md, Payment callback, rule 4).
import { randomUUID } from 'node:crypto';
import Joi from 'joi';
import { decodeTime } from 'ulid';
import { now } from '../values/clock.js';
import { Money } from '../values/money.js';
import { paymentPeriod } from '../values/numbers.js';
import { randomToken } from '../secrets/random-id.js';
import { signRsa } from '../secrets/rsa.js';
import { beijingTime } from '../values/time.js';
import {
  ChannelFailure,
  type CallbackClaim,
  type Channel,
  type MethodConfig,
  type Placement,
  type RawCallback,
  type RefundClaim,
} from './channel.js';
import { gatewayUrl, identifier, privateKey, publicKey, secret, webUrl } from './config-key.js';
import { parseObject } from './json-object.js';
import { checkPrivateKey, checkPublicKey } from './key-checks.js';
import { callWechat, isSignedNotice } from './wechat-api.js';
import { queryRefund, refundLimits, sendRefund } from './wechat-refund.js';
import { lines } from './wechat-request.js';
import { openResource, sealResource } from './wechat-seal.js';
import { closeTrade, paidTrade, queryTrade, tradeNumber, type Transaction } from './wechat-trade.js';

/** Anybody may send what opens under none of them. */
const maxKeys = 100;

// With an id alone WeChat would sign with a key that is not here.
const idOfNoKey = Joi.custom((_, { error, state }) =>
  error('any.required', {}, state.localize?.([...(state.path ?? []).slice(0, -1), 'platform_public_key'])),
);

export const wechat: Channel = {
  type: 'wechat',
  configSchema: Joi.object<MethodConfig>({
    app_id: identifier(32).required().description('APPID of the application'),
    mch_id: identifier(32).required().description('Number of the merchant'),
    api_v3_key: secret(
      Joi.string()
        .length(32)
        .pattern(/^[\x21-\x7e]+$/),
    )
      .required()
      .description('APIv3 key that callbacks are encrypted with'),
    cert_serial_no: Joi.string()
      .pattern(/^[0-9A-Fa-f]{8,64}$/)
      .required()
      .description('Serial number of the merchant certificate'),
    private_key: privateKey().required().description('RSA private key of the merchant, PEM'),
    platform_public_key: publicKey().description('RSA public key of WeChat Pay, PEM'),
    platform_public_key_id: identifier(64)
      .when('platform_public_key', { is: Joi.exist(), then: Joi.required(), otherwise: idOfNoKey })
      .description('Id of that key'),
    openid: identifier(128).description('The payer; with it payments are made inside WeChat (JSAPI)'),
    gateway: gatewayUrl().description('Address of WeChat Pay; https://api.mch.weixin.qq.com'),
    notify_url: webUrl().description('Where callbacks go, if not to this service'),
  }),
  accountKeys: ['app_id', 'mch_id', 'gateway'],
  signatureHeaders: ['timestamp', 'nonce', 'serial', 'signature', 'signature-type'].map(
    (name) => `wechatpay-${name}`,
  ),
  placedSchema: Joi.object({
    payment_no: Joi.string().required(),
    code_url: Joi.string().description('What the customer scans (Native)'),
    prepay_id: Joi.string().description('The prepared payment (JSAPI)'),
    jsapi: Joi.object({
      appId: Joi.string().required().description('APPID of the application'),
      timeStamp: Joi.string().required().description('Seconds since 1970'),
      nonceStr: Joi.string().required().description('Random text'),
      package: Joi.string().required().description('`prepay_id=` and the prepared payment'),
      signType: Joi.string().valid('RSA').required().description('Signature type'),
      paySign: Joi.string().required().description('Signature of the four fields'),
    }).description('What the page passes to WeChat (JSAPI)'),
  }),
  callbackSchema: Joi.object({
    id: Joi.string().required().description('Id of the callback'),
    create_time: Joi.string().description('When it was created'),
    event_type: Joi.string().description('`TRANSACTION.SUCCESS` for paid'),
    resource_type: Joi.string().description('`encrypt-resource`'),
    summary: Joi.string().description('Text for people'),
    resource: Joi.object({
      algorithm: Joi.string().valid('AEAD_AES_256_GCM').required().description('Encryption algorithm'),
      ciphertext: Joi.string().required().description('Ciphertext, Base64'),
      nonce: Joi.string().required().description('Nonce'),
      associated_data: Joi.string().allow('').description('Associated data'),
      original_type: Joi.string().description('`transaction`'),
    })
      .required()
      .description('The transaction, encrypted with the APIv3 key'),
  }),

  // Limits of pay.weixin.qq.com/doc/v3/merchant/4012791877: at least a cent, and an expiry at least a minute away.
  placingLimits: { minAmount: Money.from('0.01'), minMs: 60_000 },

  read(callback, configs) {
    const { fields } = callback;
    if (isProbe(callback)) return undefined;
    // Methods of one account share a key.
    const keys = new Set(configs.map(({ api_v3_key = '' }) => api_v3_key));
    for (const key of [...keys].slice(0, maxKeys)) {
      const content = contentOf(fields.resource, key);
      if (content) return claimOf(content, fields);
    }
    return undefined;
  },

  refundIn: ({ resource }) => refundOf(resource ?? {}).refund,

  // The merchant is compared last: without a valid signature it proves nothing.
  async isAuthentic(callback, { config }, signal) {
    if (!(await isSignedNotice(callback, config, signal))) return 'forged';
    const content = contentOf(callback.fields.resource, config.api_v3_key ?? '');
    return content && isOwn(content, config) ? 'authentic' : 'foreign';
  },

  accepted: { status: 204 },

  // What places also downloads the certificates; a public key of the platform may replace them.
  results: {
    requiredKeys: [],
    query: queryTrade,
    close: closeTrade,
  },

  refunds: { limits: refundLimits, send: sendRefund, query: queryRefund },

  async place(placement, signal) {
    const { config, paymentNo } = placement;
    const kind = config.openid ? 'jsapi' : 'native';
    const answer = await callWechat(config, `/v3/pay/transactions/${kind}`, transaction(placement), signal);
    if (kind === 'native') return { payment_no: paymentNo, code_url: textOf(answer.code_url) };
    const prepayId = textOf(answer.prepay_id);
    return { payment_no: paymentNo, prepay_id: prepayId, jsapi: jsapiParameters(config, prepayId) };
  },

  checkKeys(config) {
    const { api_v3_key = '', platform_public_key } = config;
    const opens = openResource(sealResource('{}', api_v3_key), api_v3_key) === '{}';
    return [
      { key: 'api_v3_key', problem: opens ? undefined : unusableKey },
      checkPrivateKey(config),
      ...(platform_public_key ? [checkPublicKey(config, 'platform_public_key')] : []),
    ];
  },

  sampleCallback: ({ paymentNo, amount, config: { app_id, mch_id, api_v3_key = '' } }) => ({
    id: randomUUID(),
    event_type: 'TRANSACTION.SUCCESS',
    resource_type: 'encrypt-resource',
    resource: sealResource(
      JSON.stringify({
        appid: app_id,
        mchid: mch_id,
        out_trade_no: tradeNumber(paymentNo),
        transaction_id: `TEST${paymentNo.slice(-26)}`,
        trade_state: 'SUCCESS',
        amount: { total: Number(amount.cents), currency: 'CNY' },
      }),
      api_v3_key,
    ),
  }),
};

const unusableKey = {
  zh: '无法用来加解密，请重新填写 32 位的 APIv3 密钥',
  en: 'neither seals nor opens; enter the APIv3 key of 32 characters again',
};

function transaction({ config, paymentNo, orderNo, amount, expireAt, notifyUrl }: Placement): object {
  return {
    appid: config.app_id,
    mchid: config.mch_id,
    description: `订单 ${orderNo}`,
    out_trade_no: tradeNumber(paymentNo),
    notify_url: notifyUrl,
    ...(expireAt ? { time_expire: `${beijingTime(expireAt)}+08:00` } : {}),
    // Cents; the max amount is far below 2^53.
    amount: { total: Number(amount.cents), currency: 'CNY' },
    ...(config.openid ? { payer: { openid: config.openid } } : {}),
  };
}

// Passed unchanged to WeixinJSBridge or wx.requestPayment by the page.
function jsapiParameters({ app_id = '', private_key = '' }: MethodConfig, prepayId: string): object {
  const timeStamp = String(Math.floor(now().getTime() / 1000));
  const nonceStr = randomToken(16);
  const package_ = `prepay_id=${prepayId}`;
  const paySign = signRsa(lines(app_id, timeStamp, nonceStr, package_), private_key);
  return { appId: app_id, timeStamp, nonceStr, package: package_, signType: 'RSA', paySign };
}

function textOf(value: unknown): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new ChannelFailure({
    zh: '渠道应答缺少内容',
    en: 'the answer of the channel lacks what was asked for',
  });
}

/** The payment number of a `tradeNumber`. */
function readNumber(number: unknown): string | undefined {
  // A ULID begins with 7 at most.
  const tail =
    typeof number === 'string' ? /^PAY([0-7][0-9A-HJKMNP-TV-Z]{25})$/.exec(number)?.[1] : undefined;
  if (tail === undefined) return undefined;
  const day = new Date(decodeTime(tail)).toISOString().slice(0, 10).replaceAll('-', '');
  const paymentNo = `PAY${day}${tail}`;
  return paymentPeriod(paymentNo) === undefined ? undefined : paymentNo;
}

/** Whether it is a probe: WeChat signs some notices wrongly on purpose, and sends a good one afterwards. */
const isProbe = ({ headers }: RawCallback): boolean =>
  headers['wechatpay-signature']?.startsWith('WECHATPAY/SIGNTEST/') ?? false;

/** Undefined when it does not open under that key. */
const contentOf = (resource: unknown, key: string): Transaction | undefined =>
  parseObject(openResource(resource, key) ?? '');

// Out of a refund that is ABNORMAL money goes back once a person has chosen another way.
function refundOf({ refund_status, out_refund_no }: Transaction): { refund?: RefundClaim } {
  if (refund_status === undefined) return {};
  return { refund: { refundNo: String(out_refund_no), hasFailed: refund_status === 'CLOSED' } };
}

const isPaid = ({ trade_state }: Transaction): boolean => trade_state === 'SUCCESS';

/** Undefined when it names no payment of ours. */
function claimOf(content: Transaction, fields: Record<string, unknown>): CallbackClaim | undefined {
  const paymentNo = readNumber(content.out_trade_no);
  if (paymentNo === undefined) return undefined;
  const claim = { paymentNo, fields: { ...fields, resource: content } };
  if (!isPaid(content)) return { ...claim, says: 'other', amounts: [], ...refundOf(content) };
  const paid = paidTrade(content);
  if (!paid) return { ...claim, says: 'paid', amounts: [] };
  const { amount, ...rest } = paid;
  return { ...claim, says: 'paid', ...rest, amounts: [amount] };
}

/** Whether it is for the merchant and application of the method. A refund names neither application nor currency. */
function isOwn({ mchid, appid, amount, ...rest }: Transaction, { mch_id, app_id }: MethodConfig): boolean {
  if (mchid !== mch_id) return false;
  if (!isPaid(rest)) return appid === undefined || appid === app_id;
  return appid === app_id && amount?.currency === 'CNY';
}
