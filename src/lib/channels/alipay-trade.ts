// Alipay: what became of a trade, and closing one (alipay.trade.query, alipay.trade.close).
import { Money } from '../values/money.js';
import { readTime } from '../values/time.js';
import { askAlipay, wordsOf } from './alipay-request.js';
import { foreign, unreadable } from './answer-reasons.js';
import { ChannelFailure, type ChannelPayment, type TradeAnswer } from './channel.js';

/**
 * Number, amount and time of a paid trade; undefined when it lacks number or amount.
 *
 * @param time wall-clock time in Beijing
 */
export function paidTrade(
  number: unknown,
  total: unknown,
  time: unknown,
): { thirdPartyNo: string; amount: Money; paidAt?: Date } | undefined {
  const amount = Money.parse(total);
  if (!amount || typeof number !== 'string' || !/^[\w-]{1,64}$/.test(number)) return undefined;
  const paidAt = instantOf(time);
  return { thirdPartyNo: number, amount, ...(paidAt ? { paidAt } : {}) };
}

/** The instant of a wall-clock time in Beijing: 2019-08-15 15:56:24. */
export const instantOf = (text: unknown): Date | undefined =>
  typeof text === 'string' ? readTime(text, 'Asia/Shanghai') : undefined;

/** @see ChannelResults.query */
export async function queryTrade(
  { paymentNo, config }: ChannelPayment,
  signal: AbortSignal,
): Promise<TradeAnswer> {
  const fields = await askAlipay(config, 'alipay.trade.query', { out_trade_no: paymentNo }, signal);
  // Also while the customer has neither scanned the code nor signed in.
  if (fields.code === '40004' && fields.sub_code === 'ACQ.TRADE_NOT_EXIST')
    return { state: 'absent', code: fields.sub_code, fields };
  if (fields.code !== '10000') throw new ChannelFailure(wordsOf(fields));
  if (fields.out_trade_no !== paymentNo) throw new ChannelFailure(foreign);
  const { trade_status, trade_no, total_amount, send_pay_date } = fields;
  const code = String(trade_status);
  const state = stateOf(code, Boolean(send_pay_date));
  if (!state) throw new ChannelFailure(unreadable);
  if (state !== 'paid') return { state, code, fields };
  const refund = code === 'TRADE_CLOSED' ? { isRefunded: true } : {};
  return { state, code, ...paidTrade(trade_no, total_amount, send_pay_date), ...refund, fields };
}

// A trade that was paid and refunded as a whole is closed, too.
function stateOf(status: string, wasPaid: boolean): TradeAnswer['state'] | undefined {
  if (status === 'WAIT_BUYER_PAY') return 'waiting';
  if (status === 'TRADE_SUCCESS' || status === 'TRADE_FINISHED') return 'paid';
  if (status === 'TRADE_CLOSED') return wasPaid ? 'paid' : 'closed';
  return undefined;
}

/** @see ChannelResults.close; alipay.trade.cancel would refund what was paid */
export async function closeTrade(
  { paymentNo, config }: ChannelPayment,
  signal: AbortSignal,
): Promise<'closed' | 'ask'> {
  const fields = await askAlipay(config, 'alipay.trade.close', { out_trade_no: paymentNo }, signal);
  return fields.code === '10000' && fields.out_trade_no === paymentNo ? 'closed' : 'ask';
}
