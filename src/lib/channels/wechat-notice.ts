// The content of WeChat Pay notices: which payment they name, and what they claim.
import { decodeTime } from 'ulid';
import { paymentPeriod } from '../values/numbers.js';
import type { CallbackClaim, MethodConfig, RawCallback, RefundClaim } from './channel.js';
import { parseObject } from './json-object.js';
import { openResource } from './wechat-seal.js';
import { paidTrade, type Transaction } from './wechat-trade.js';

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
export const isProbe = ({ headers }: RawCallback): boolean =>
  headers['wechatpay-signature']?.startsWith('WECHATPAY/SIGNTEST/') ?? false;

/** Undefined when it does not open under that key. */
export const contentOf = (resource: unknown, key: string): Transaction | undefined =>
  parseObject(openResource(resource, key) ?? '');

// Out of a refund that is ABNORMAL money goes back once a person has chosen another way.
export function refundOf({ refund_status, out_refund_no }: Transaction): { refund?: RefundClaim } {
  if (refund_status === undefined) return {};
  return { refund: { refundNo: String(out_refund_no), hasFailed: refund_status === 'CLOSED' } };
}

const isPaid = ({ trade_state }: Transaction): boolean => trade_state === 'SUCCESS';

/** Undefined when it names no payment of ours. */
export function claimOf(content: Transaction, fields: Record<string, unknown>): CallbackClaim | undefined {
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
export function isOwn(
  { mchid, appid, amount, ...rest }: Transaction,
  { mch_id, app_id }: MethodConfig,
): boolean {
  if (mchid !== mch_id) return false;
  if (!isPaid(rest)) return appid === undefined || appid === app_id;
  return appid === app_id && amount?.currency === 'CNY';
}
