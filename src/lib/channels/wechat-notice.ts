// The content of WeChat Pay notices: which payment they name, and what they claim.
import { decodeTime } from 'ulid';
import { Money } from '../values/money.js';
import { paymentPeriod } from '../values/numbers.js';
import type { CallbackClaim, MethodConfig, RawCallback } from './channel.js';
import { openResource } from './wechat-seal.js';

/**
 * The payment number for WeChat, which takes at most 32 characters
 * (pay.weixin.qq.com/doc/v3/merchant/4012525171): PAY and the ULID, without the date, which the ULID's
 * timestamp contains.
 */
export const tradeNumber = (paymentNo: string): string => `PAY${paymentNo.slice(-26)}`;

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

/** What a notice has inside: a transaction, or a refund, which has no trade_state. */
interface Content {
  appid?: unknown;
  mchid?: unknown;
  out_trade_no?: unknown;
  transaction_id?: unknown;
  trade_state?: unknown;
  success_time?: unknown;
  amount?: { total?: unknown; currency?: unknown };
}

/** Undefined when it does not open under that key. */
export function contentOf(resource: unknown, key: string): Content | undefined {
  try {
    const content: unknown = JSON.parse(openResource(resource, key) ?? '');
    return typeof content === 'object' && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

const isPaid = ({ trade_state }: Content): boolean => trade_state === 'SUCCESS';

/** Undefined when it names no payment of ours. */
export function claimOf(content: Content, fields: Record<string, unknown>): CallbackClaim | undefined {
  const paymentNo = readNumber(content.out_trade_no);
  if (paymentNo === undefined) return undefined;
  const claim = { paymentNo, fields: { ...fields, resource: content } };
  if (!isPaid(content)) return { ...claim, says: 'other', amounts: [] };
  const { transaction_id, success_time, amount } = content;
  const total = amount?.total;
  // Coupons lower what the payer pays; what the order is worth is the total, in fen.
  const isComplete =
    typeof transaction_id === 'string' && /^[\x21-\x7e]{1,64}$/.test(transaction_id) && isCents(total);
  if (!isComplete) return { ...claim, says: 'paid', amounts: [] };
  const at = typeof success_time === 'string' ? new Date(success_time) : undefined;
  return {
    ...claim,
    says: 'paid',
    thirdPartyNo: transaction_id,
    amounts: [new Money(BigInt(total))],
    ...(at && !Number.isNaN(at.getTime()) ? { paidAt: at } : {}),
  };
}

const isCents = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Whether it is for the merchant and application of the method. A refund names neither application nor currency. */
export function isOwn({ mchid, appid, amount, ...rest }: Content, { mch_id, app_id }: MethodConfig): boolean {
  if (mchid !== mch_id) return false;
  if (!isPaid(rest)) return appid === undefined || appid === app_id;
  return appid === app_id && amount?.currency === 'CNY';
}
