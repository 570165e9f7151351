// The refunds in the books of Alipay: a number refunds once, and never more than was paid.
import { Money } from '../../../src/lib/values/money.js';
import {
  processed,
  refusal,
  type AlipayLedger,
  type AlipayReply,
  type AlipayStatus,
  type AlipayTrade,
} from './alipay-ledger.js';
import { beijing } from './alipay-signature.js';

/** Fields of alipay.trade.refund and alipay.trade.fastpay.refund.query. */
export interface RefundContent {
  trade_no: string;
  refund_amount: string;
  out_request_no: string;
  refund_reason?: string;
  query_options?: string[];
}

interface Refund {
  trade: AlipayTrade;
  amount: Money;
  /** Undefined while it is under way. */
  doneAt?: Date;
}

const notExist = refusal('TRADE_NOT_EXIST', '交易不存在');
const refused: Partial<Record<AlipayStatus, AlipayReply>> = {
  WAIT_BUYER_PAY: refusal('TRADE_STATUS_ERROR', '交易状态不合法'),
  TRADE_FINISHED: refusal('TRADE_HAS_FINISHED', '交易已完结'),
  TRADE_CLOSED: refusal('TRADE_HAS_CLOSE', '交易已经关闭'),
};

export class AlipayRefunds {
  /** Whether a refund is only received: `fund_change=N` until `finish` or `drop`. */
  isDelayed = false;
  /** The merchant's balance for refunds; unlimited while undefined. */
  funds: Money | undefined;
  readonly #ledger: AlipayLedger;
  /** By our number. */
  readonly #refunds = new Map<string, Refund>();

  constructor(ledger: AlipayLedger) {
    this.#ledger = ledger;
  }

  /** Completes a received refund. @throws Error when it is unknown */
  finish(refundNo: string, at = new Date()): void {
    const refund = this.#refunds.get(refundNo);
    if (!refund) throw new Error(`${refundNo} is not known here`);
    refund.doneAt = at;
    if (this.#sumOf(refund.trade) === refund.trade.total) refund.trade.status = 'TRADE_CLOSED';
  }

  /** Fails a received refund: its number may be used again. */
  drop(refundNo: string): void {
    const refund = this.#refunds.get(refundNo);
    this.#refunds.delete(refundNo);
    if (refund) this.funds = this.funds?.plus(refund.amount);
  }

  stateOf(refundNo: string): 'done' | 'received' | undefined {
    const refund = this.#refunds.get(refundNo);
    return refund && (refund.doneAt ? 'done' : 'received');
  }

  /** Yuan of a payment that are refunded or being refunded. */
  refundedOf(paymentNo: string): string {
    return this.#sumOf(this.#ledger.tradeOf(paymentNo));
  }

  /** alipay.trade.refund */
  create({
    trade_no,
    refund_amount,
    out_request_no: number,
    refund_reason = '',
  }: RefundContent): AlipayReply {
    const trade = this.#ledger.findTrade(trade_no);
    if (!trade) return notExist;
    const amount = Money.parse(refund_amount);
    const isComplete = /^\w{1,64}$/.test(number) && refund_reason.length <= 256;
    if (!amount || amount.cents < 1n || !isComplete) return refusal('INVALID_PARAMETER', '参数无效');
    const known = this.#refunds.get(number);
    if (known) {
      const isSame = known.trade === trade && known.amount.equals(amount);
      return isSame ? this.#reply(known, 'N') : refusal('DISCORDANT_REPEAT_REQUEST', '不一致的请求');
    }
    const problem = refused[trade.status];
    if (problem) return problem;
    if (Money.from(this.#sumOf(trade)).plus(amount).cents > Money.from(trade.total).cents)
      return refusal('REASON_TRADE_REFUND_FEE_ERR', '退款金额无效');
    if (this.funds && amount.cents > this.funds.cents)
      return refusal('SELLER_BALANCE_NOT_ENOUGH', '卖家余额不足');
    this.funds = this.funds?.minus(amount);
    const made: Refund = { trade, amount };
    this.#refunds.set(number, made);
    if (!this.isDelayed) this.finish(number);
    return this.#reply(made, this.isDelayed ? 'N' : 'Y');
  }

  /** alipay.trade.fastpay.refund.query */
  query({ trade_no, out_request_no, query_options = [] }: RefundContent): AlipayReply {
    const trade = this.#ledger.findTrade(trade_no);
    if (!trade) return notExist;
    const refund = this.#refunds.get(out_request_no);
    if (refund?.trade !== trade || !refund.doneAt) return processed;
    return {
      ...processed,
      ...{ out_request_no, out_trade_no: trade.paymentNo, refund_amount: refund.amount.toString() },
      ...{ refund_status: 'REFUND_SUCCESS', total_amount: trade.total, trade_no },
      ...(query_options.includes('gmt_refund_pay') && { gmt_refund_pay: beijing(refund.doneAt) }),
    };
  }

  #sumOf(trade: AlipayTrade): string {
    const refunds = [...this.#refunds.values()].filter((one) => one.trade === trade);
    return refunds.reduce((sum, { amount }) => sum.plus(amount), Money.zero).toString();
  }

  #reply({ trade, doneAt }: Refund, fund_change: 'Y' | 'N'): AlipayReply {
    return {
      ...processed,
      ...{ buyer_logon_id: 'xud***@126.com', fund_change, out_trade_no: trade.paymentNo },
      ...{ refund_fee: this.#sumOf(trade), trade_no: trade.tradeNo },
      ...(doneAt && { gmt_refund_pay: beijing(doneAt) }),
    };
  }
}
