// WeChat Pay: what became of a transaction, and closing one (pay.weixin.qq.com/doc/v3/merchant/4012556352, 4012556398).
import { Money } from '../values/money.js';
import { readTime } from '../values/time.js';
import { foreign, unreadable } from './answer-reasons.js';
import { ChannelFailure, type ChannelPayment, type TradeAnswer } from './channel.js';
import { askWechat } from './wechat-api.js';
import { readJson, wordsOf } from './wechat-request.js';

/**
 * The payment number for WeChat, which takes at most 32 characters
 * (pay.weixin.qq.com/doc/v3/merchant/4012525171): PAY and the ULID, without the date, which the ULID's
 * timestamp contains.
 */
export const tradeNumber = (paymentNo: string): string => `PAY${paymentNo.slice(-26)}`;

/** A transaction as WeChat reports it; a refund, in a notice, has no trade_state. */
export interface Transaction {
  appid?: unknown;
  mchid?: unknown;
  out_trade_no?: unknown;
  transaction_id?: unknown;
  trade_state?: unknown;
  success_time?: unknown;
  amount?: { total?: unknown; currency?: unknown };
  out_refund_no?: unknown;
  refund_status?: unknown;
}

/** Number, amount and time of a paid one; undefined when it lacks number or amount. */
export function paidTrade({
  transaction_id,
  success_time,
  amount,
}: Transaction): { thirdPartyNo: string; amount: Money; paidAt?: Date } | undefined {
  // Coupons lower what the payer pays; what the order is worth is the total.
  const total = fen(amount?.total);
  if (!total || !isNumber(transaction_id)) return undefined;
  const paidAt = instantOf(success_time);
  return { thirdPartyNo: transaction_id, amount: total, ...(paidAt ? { paidAt } : {}) };
}

/** Undefined unless it is a number of fen. */
export const fen = (value: unknown): Money | undefined =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? new Money(BigInt(value as number)) : undefined;

/** Whether it can be one of WeChat's numbers. */
export const isNumber = (value: unknown): value is string =>
  typeof value === 'string' && /^[\x21-\x7e]{1,64}$/.test(value);

/** The instant of a time in RFC 3339. */
export const instantOf = (text: unknown): Date | undefined =>
  typeof text === 'string' ? readTime(text) : undefined;

// REFUND, also after a refund in part: the money did arrive. ACCEPT, USERPAYING, REVOKED and PAYERROR are for
// codes that a cashier scans, which this service does not offer.
const states = new Map<unknown, TradeAnswer['state']>([
  ['SUCCESS', 'paid'],
  ['REFUND', 'paid'],
  ['NOTPAY', 'waiting'],
  ['ACCEPT', 'waiting'],
  ['USERPAYING', 'waiting'],
  ['CLOSED', 'closed'],
  ['REVOKED', 'closed'],
  ['PAYERROR', 'failed'],
]);

/** @see ChannelResults.query */
export async function queryTrade(payment: ChannelPayment, signal: AbortSignal): Promise<TradeAnswer> {
  const { config } = payment;
  const path = `${pathOf(payment)}?mchid=${config.mch_id}`;
  const answer = await askWechat(config, path, undefined, signal);
  const fields = readJson(answer.body);
  if (answer.status === 404 && fields.code === 'ORDER_NOT_EXIST')
    return { state: 'absent', code: fields.code, fields };
  if (answer.status !== 200) throw new ChannelFailure(wordsOf(answer));
  const transaction: Transaction = fields;
  const code = String(transaction.trade_state);
  const state = states.get(code);
  if (!state) throw new ChannelFailure(unreadable);
  if (!isAbout(transaction, payment)) throw new ChannelFailure(foreign);
  if (state !== 'paid') return { state, code, fields };
  if (transaction.amount?.currency !== 'CNY') throw new ChannelFailure(foreign);
  const refund = code === 'REFUND' ? { isRefunded: true } : {};
  return { state, code, ...paidTrade(transaction), ...refund, fields };
}

/** @see ChannelResults.close */
export async function closeTrade(payment: ChannelPayment, signal: AbortSignal): Promise<'closed' | 'ask'> {
  const { config } = payment;
  const { status } = await askWechat(config, `${pathOf(payment)}/close`, { mchid: config.mch_id }, signal);
  // 202 is USER_PAYING: the customer is entering a password.
  return status === 204 ? 'closed' : 'ask';
}

const pathOf = ({ paymentNo }: ChannelPayment): string =>
  `/v3/pay/transactions/out-trade-no/${tradeNumber(paymentNo)}`;

const isAbout = (
  { out_trade_no, mchid, appid }: Transaction,
  { paymentNo, config }: ChannelPayment,
): boolean => out_trade_no === tradeNumber(paymentNo) && mchid === config.mch_id && appid === config.app_id;
