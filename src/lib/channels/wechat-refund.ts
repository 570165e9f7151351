// WeChat Pay: refunds (pay.weixin.qq.com/doc/v3/merchant/4012556457, 4012556562).
import { foreign, unreadable } from './answer-reasons.js';
import { ChannelFailure, type RefundAnswer, type RefundLimits, type RefundOrder } from './channel.js';
import { askWechat } from './wechat-api.js';
import { readJson, wordsOf } from './wechat-request.js';
import { fen, instantOf, isNumber, tradeNumber } from './wechat-trade.js';

const path = '/v3/refund/domestic/refunds';

export const refundLimits: RefundLimits = { withinDays: 365, maxRefunds: 50, apartMs: 60_000 };

// Accepted is not finished: cards take up to three days. ABNORMAL: the card no longer works; a person chooses
// another way.
const states = new Map<unknown, RefundAnswer['state']>([
  ['SUCCESS', 'succeeded'],
  ['PROCESSING', 'processing'],
  ['CLOSED', 'failed'],
  ['ABNORMAL', 'stuck'],
]);

// Sent again under the same number it fails again. All other refusals may pass: no funds, a limit, the set-up.
const final = new Set<unknown>(['USER_ACCOUNT_ABNORMAL', 'INVALID_REQUEST', 'RESOURCE_NOT_EXISTS']);

/**
 * In UTF-8 (pay.weixin.qq.com/docs/merchant/products/refund/apilist.html); a longer reason would be refused
 * each time.
 */
const maxReasonBytes = 80;

/** As many whole characters as WeChat takes. */
function shortened(reason: string): string {
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(maxReasonBytes));
  return reason.slice(0, read);
}

/** @see ChannelRefunds.send */
export async function sendRefund(order: RefundOrder, signal: AbortSignal): Promise<RefundAnswer> {
  const { thirdPartyNo, refundNo, refund, amount, reason, config } = order;
  const content = {
    transaction_id: thirdPartyNo,
    out_refund_no: refundNo,
    reason: shortened(reason),
    amount: { refund: Number(refund.cents), total: Number(amount.cents), currency: 'CNY' },
  };
  const answer = await askWechat(config, path, content, signal);
  const body = readJson(answer.body);
  if (answer.status === 200) return refundOf(body, order);
  if (!final.has(body.code)) throw new ChannelFailure(wordsOf(answer));
  return { state: 'failed', code: String(body.code) };
}

/** @see ChannelRefunds.query */
export async function queryRefund(order: RefundOrder, signal: AbortSignal): Promise<RefundAnswer> {
  const answer = await askWechat(order.config, `${path}/${order.refundNo}`, undefined, signal);
  const body = readJson(answer.body);
  if (answer.status === 200) return refundOf(body, order);
  if (answer.status !== 404 || body.code !== 'RESOURCE_NOT_EXISTS') throw new ChannelFailure(wordsOf(answer));
  return { state: 'absent', code: body.code };
}

interface Refund {
  refund_id?: unknown;
  out_refund_no?: unknown;
  transaction_id?: unknown;
  out_trade_no?: unknown;
  status?: unknown;
  success_time?: unknown;
  amount?: { refund?: unknown; currency?: unknown };
}

// The answer names no merchant; WeChat's number of the payment belongs to one.
function refundOf(body: Refund, { refundNo, thirdPartyNo, paymentNo }: RefundOrder): RefundAnswer {
  const { refund_id, status, amount } = body;
  const state = states.get(status);
  if (!state) throw new ChannelFailure(unreadable);
  const isOurs =
    body.out_refund_no === refundNo &&
    body.transaction_id === thirdPartyNo &&
    body.out_trade_no === tradeNumber(paymentNo) &&
    amount?.currency === 'CNY';
  if (!isOurs) throw new ChannelFailure(foreign);
  const refunded = fen(amount.refund);
  const at = instantOf(body.success_time);
  return {
    state,
    code: String(status),
    ...(isNumber(refund_id) ? { channelNo: refund_id } : {}),
    ...(refunded ? { amount: refunded } : {}),
    ...(at ? { at } : {}),
  };
}
