// The books of WeChat Pay: the placed transactions, their states, and its answers about them.
import { randomBytes } from 'node:crypto';
import { beijing } from './wechat-signature.js';

/** A transaction as it should be sent; `parameterProblem` says what is wrong with one. */
export interface TransactionContent {
  out_trade_no: string;
  description: string;
  notify_url: string;
  time_expire?: string;
  amount: { total: number; currency: string };
  payer?: { openid: string };
  appid: string;
  mchid: string;
}

/** What is inside a notice of a payment. */
export interface PaidTransaction {
  appid: string;
  mchid: string;
  out_trade_no: string;
  transaction_id: string;
  success_time: string;
  amount: { total: number; payer_total: number; currency: string; payer_currency: string };
}

export type WechatState =
  'NOTPAY' | 'SUCCESS' | 'REFUND' | 'CLOSED' | 'REVOKED' | 'USERPAYING' | 'ACCEPT' | 'PAYERROR';

export interface WechatTrade {
  content: TransactionContent;
  state: WechatState;
  /** Whether the customer is entering a password: it is not paid and cannot be closed. */
  isEntering: boolean;
  /** What was paid; `payerTotal` is lower by coupons. */
  paid?: { transactionId: string; payerTotal: number; at: Date };
}

/** Answer of the company: 2xx or {code, message}. */
export interface Reply {
  status: number;
  /** None for a 204. */
  content?: object;
}

export const refusal = (status: number, code: string, message: string): Reply => ({
  status,
  content: { code, message },
});

/** The number of a payment of ours as WeChat has it. */
export const shortNumber = (paymentNo: string): string => `PAY${paymentNo.slice(-26)}`;

const descriptions: Record<WechatState, string> = {
  NOTPAY: '订单未支付',
  SUCCESS: '支付成功',
  REFUND: '转入退款',
  CLOSED: '订单已关闭',
  REVOKED: '已撤销',
  USERPAYING: '用户支付中',
  ACCEPT: '已接收，等待扣款',
  PAYERROR: '支付失败',
};

const open = new Set<WechatState>(['NOTPAY', 'USERPAYING', 'ACCEPT']);

export class WechatLedger {
  /** By WeChat's number of ours. */
  readonly #trades = new Map<string, WechatTrade>();

  /** Places a transaction, also a second time while it can be paid. @returns a refusal */
  place(content: TransactionContent): Reply | undefined {
    const { out_trade_no: number } = content;
    const known = this.#trades.get(number);
    if (!known) this.#trades.set(number, { content, state: 'NOTPAY', isEntering: false });
    else if (known.paid) return refusal(400, 'ORDERPAID', '该订单已支付');
    else if (!open.has(known.state)) return refusal(400, 'ORDER_CLOSED', '该订单已关闭');
    else if (known.content.amount.total !== content.amount.total)
      return refusal(403, 'OUT_TRADE_NO_USED', '商户订单号重复');
    return undefined;
  }

  /**
   * The customer pays.
   *
   * @param coupon fen of it that somebody else pays
   * @returns WeChat's number
   * @throws Error when it cannot be paid there
   */
  pay(paymentNo: string, { coupon = 0, at = new Date() } = {}): string {
    const trade = this.tradeOf(paymentNo);
    if (!open.has(trade.state)) throw new Error(`${paymentNo} is ${trade.state}`);
    const transactionId = `4200${randomBytes(10).toString('hex')}`;
    const payerTotal = trade.content.amount.total - coupon;
    Object.assign(trade, { state: 'SUCCESS', isEntering: false, paid: { transactionId, payerTotal, at } });
    return transactionId;
  }

  /** The customer is entering a password. */
  enter(paymentNo: string): void {
    this.tradeOf(paymentNo).isEntering = true;
  }

  /** Closes it there, as the company does after its timeout. */
  close(paymentNo: string): void {
    this.set(paymentNo, 'CLOSED');
  }

  set(paymentNo: string, state: WechatState): void {
    this.tradeOf(paymentNo).state = state;
  }

  stateOf(paymentNo: string): WechatState | undefined {
    return this.find(paymentNo)?.state;
  }

  find(paymentNo: string): WechatTrade | undefined {
    return this.#trades.get(shortNumber(paymentNo));
  }

  /** @throws Error when it was not placed */
  tradeOf(paymentNo: string): WechatTrade {
    const trade = this.find(paymentNo);
    if (!trade) throw new Error(`${paymentNo} was not placed here`);
    return trade;
  }

  /** By WeChat's number. */
  findPaid(transactionId: string): WechatTrade | undefined {
    return [...this.#trades.values()].find(({ paid }) => paid?.transactionId === transactionId);
  }

  /** GET …/out-trade-no/{number}?mchid= */
  query(number: string, mchid: string | null, mchId: string): Reply {
    if (mchid !== mchId) return refusal(400, 'PARAM_ERROR', '商户号与签名不符');
    const trade = this.#trades.get(number);
    if (!trade) return refusal(404, 'ORDER_NOT_EXIST', '订单不存在');
    return { status: 200, content: shownTrade(trade) };
  }

  /** POST …/out-trade-no/{number}/close */
  closeFor(number: string, mchid: string | undefined, mchId: string): Reply {
    if (mchid !== mchId) return refusal(400, 'PARAM_ERROR', '商户号与签名不符');
    const trade = this.#trades.get(number);
    if (!trade) return refusal(404, 'ORDER_NOT_EXIST', '订单不存在');
    if (trade.isEntering) return refusal(202, 'USER_PAYING', '用户支付中，请稍后重试');
    if (trade.paid) return refusal(400, 'ORDERPAID', '订单已支付');
    if (!open.has(trade.state)) return refusal(400, 'ORDER_CLOSED', '订单已关闭');
    trade.state = 'CLOSED';
    return { status: 204 };
  }
}

// One that was not paid has neither a number nor a currency.
function shownTrade({ content, state, paid }: WechatTrade): object {
  const { appid, mchid, out_trade_no, amount } = content;
  const { total, currency } = amount;
  const trade = { appid, mchid, out_trade_no, trade_state: state, trade_state_desc: descriptions[state] };
  if (!paid)
    return { ...trade, amount: { total, payer_currency: 'CNY' }, scene_info: {}, promotion_detail: [] };
  return {
    ...trade,
    ...{ transaction_id: paid.transactionId, trade_type: 'NATIVE', bank_type: 'OTHERS', attach: '' },
    ...{ success_time: beijing(paid.at), payer: { openid: 'oUpF8uMuAJO' } },
    ...{ amount: { total, payer_total: paid.payerTotal, currency, payer_currency: 'CNY' } },
  };
}

// Requirements of the documentation of the two endpoints.
export function parameterProblem(content: TransactionContent): string | undefined {
  const { out_trade_no, description, notify_url, time_expire, amount, payer, appid, mchid } = content;
  if (!/^[\w|*-]{6,32}$/.test(out_trade_no)) return 'out_trade_no';
  if (!description || description.length > 127) return 'description';
  if (!/^https:\/\/[^?]+$/.test(notify_url) || notify_url.length > 255) return 'notify_url';
  if (time_expire && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+08:00$/.test(time_expire)) return 'time_expire';
  if (!Number.isInteger(amount?.total) || amount.total < 1 || amount.currency !== 'CNY') return 'amount';
  if (payer?.openid === 'o-unknown') return '无效的openid';
  return appid && mchid ? undefined : 'appid';
}
