// Alipay: refunds (alipay.trade.refund, alipay.trade.fastpay.refund.query).
import { Money } from '../values/money.js';
import { askAlipay, wordsOf, type AlipayAnswer } from './alipay-request.js';
import { instantOf } from './alipay-trade.js';
import { foreign, unreadable } from './answer-reasons.js';
import { ChannelFailure, type RefundAnswer, type RefundLimits, type RefundOrder } from './channel.js';

// 365 days are a guess: 3 to 12 months by contract. A later refund is refused as TRADE_HAS_FINISHED.
export const refundLimits: RefundLimits = { withinDays: 365, maxRefunds: 50, apartMs: 3000 };

// Sent again under the same number it fails again. All other refusals may pass: no funds, a limit, the set-up. A trade
// that was paid and does not exist is one of another account.
const final = new Set<unknown>(
  [
    ...['REASON_TRADE_REFUND_FEE_ERR', 'REFUND_AMT_NOT_EQUAL_TOTAL', 'TRADE_HAS_FINISHED', 'TRADE_HAS_CLOSE'],
    ...['TRADE_STATUS_ERROR', 'TRADE_NOT_ALLOW_REFUND', 'NOT_ALLOW_PARTIAL_REFUND', 'BUYER_NOT_EXIST'],
    ...['BUYER_ENABLE_STATUS_FORBID', 'INVALID_PARAMETER', 'DISCORDANT_REPEAT_REQUEST', 'TRADE_NOT_EXIST'],
  ].map((code) => `ACQ.${code}`),
);

/** @see ChannelRefunds.send */
export async function sendRefund(order: RefundOrder, signal: AbortSignal): Promise<RefundAnswer> {
  const { thirdPartyNo, refundNo, refund, reason, config } = order;
  const content = {
    trade_no: thirdPartyNo,
    refund_amount: refund.toString(),
    out_request_no: refundNo,
    refund_reason: reason,
  };
  const answer = await askAlipay(config, 'alipay.trade.refund', content, signal);
  if (answer.code === '40004' && final.has(answer.sub_code))
    return { state: 'failed', code: String(answer.sub_code) };
  if (answer.code !== '10000') throw new ChannelFailure(wordsOf(answer));
  if (answer.trade_no !== thirdPartyNo) throw new ChannelFailure(foreign);
  // N also if it was refunded before.
  if (answer.fund_change !== 'Y') return { state: 'processing', code: 'fund_change=N' };
  // refund_fee is the sum of all refunds of the trade; of this one Alipay takes no other amount under its number.
  return { state: 'succeeded', code: 'fund_change=Y', amount: refund, ...timeOf(answer) };
}

/** @see ChannelRefunds.query */
export async function queryRefund(order: RefundOrder, signal: AbortSignal): Promise<RefundAnswer> {
  const { thirdPartyNo, refundNo, config } = order;
  const content = { trade_no: thirdPartyNo, out_request_no: refundNo, query_options: ['gmt_refund_pay'] };
  const answer = await askAlipay(config, 'alipay.trade.fastpay.refund.query', content, signal);
  if (answer.code === '40004' && answer.sub_code === 'ACQ.TRADE_NOT_EXIST')
    return { state: 'absent', code: answer.sub_code };
  if (answer.code !== '10000') throw new ChannelFailure(wordsOf(answer));
  const { trade_no, out_request_no, refund_status = '' } = answer;
  if (refund_status === '') {
    // Never received, or failed: it may be sent again under its number. Such an answer need not name it.
    const namesAnother =
      (trade_no ?? thirdPartyNo) !== thirdPartyNo || (out_request_no ?? refundNo) !== refundNo;
    if (namesAnother) throw new ChannelFailure(foreign);
    return { state: 'absent', code: 'no refund_status' };
  }
  if (refund_status !== 'REFUND_SUCCESS') throw new ChannelFailure(unreadable);
  if (trade_no !== thirdPartyNo || out_request_no !== refundNo) throw new ChannelFailure(foreign);
  const amount = Money.parse(answer.refund_amount);
  return { state: 'succeeded', code: refund_status, ...(amount ? { amount } : {}), ...timeOf(answer) };
}

function timeOf({ gmt_refund_pay }: AlipayAnswer): { at?: Date } {
  const at = instantOf(gmt_refund_pay);
  return at ? { at } : {};
}
