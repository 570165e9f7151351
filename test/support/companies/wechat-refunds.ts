// The refunds in the books of WeChat Pay: a number refunds once, and never more than was paid.
import { randomBytes } from 'node:crypto';
import { refusal, type Reply, type WechatLedger, type WechatTrade } from './wechat-ledger.js';
import { beijing } from './wechat-signature.js';

type WechatRefundStatus = 'PROCESSING' | 'SUCCESS' | 'CLOSED' | 'ABNORMAL';

export interface RefundContent {
  transaction_id: string;
  out_refund_no: string;
  reason?: string;
  amount: { refund: number; total: number; currency: string };
}

interface Refund {
  id: string;
  content: RefundContent;
  trade: WechatTrade;
  status: WechatRefundStatus;
  createdAt: Date;
  doneAt?: Date;
}

const mostParts = 50;
const unknown = refusal(404, 'RESOURCE_NOT_EXISTS', '订单不存在');

export class WechatRefunds {
  /** State of a refund after its acceptance; PROCESSING lasts until `settle`. */
  outcome: WechatRefundStatus = 'SUCCESS';
  /** The merchant's balance for refunds, in fen. */
  funds = Infinity;
  readonly #ledger: WechatLedger;
  /** By our number. */
  readonly #refunds = new Map<string, Refund>();

  constructor(ledger: WechatLedger) {
    this.#ledger = ledger;
  }

  /** The merchant pays in. */
  topUp(fen: number): void {
    this.funds += fen;
  }

  /** Ends it, or leaves it to a person. @throws Error when it is not known */
  settle(refundNo: string, status: WechatRefundStatus, at = new Date()): void {
    const refund = this.#refunds.get(refundNo);
    if (!refund) throw new Error(`${refundNo} is not known here`);
    if (status === 'CLOSED' && refund.status !== 'CLOSED') this.funds += refund.content.amount.refund;
    refund.status = status;
    if (status === 'SUCCESS') refund.doneAt = at;
  }

  stateOf(refundNo: string): WechatRefundStatus | undefined {
    return this.#refunds.get(refundNo)?.status;
  }

  reasonOf(refundNo: string): string | undefined {
    return this.#refunds.get(refundNo)?.content.reason;
  }

  /** Fen of a payment that are refunded or being refunded. */
  refundedOf(paymentNo: string): number {
    const trade = this.#ledger.tradeOf(paymentNo);
    return this.#of(trade).reduce((sum, { content }) => sum + content.amount.refund, 0);
  }

  /** POST /v3/refund/domestic/refunds */
  create(content: RefundContent): Reply {
    const { transaction_id, out_refund_no: number, reason = '', amount } = content;
    const { refund, total, currency } = amount;
    // It counts bytes (pay.weixin.qq.com/docs/merchant/products/refund/apilist.html).
    const isShort = Buffer.byteLength(reason) <= 80;
    const isComplete = /^[\w|*@-]{1,64}$/.test(number) && isShort && currency === 'CNY';
    if (!isComplete || !Number.isInteger(refund) || refund < 1)
      return refusal(400, 'PARAM_ERROR', '参数错误');
    const known = this.#refunds.get(number);
    if (known) {
      const isSame =
        known.content.transaction_id === transaction_id && known.content.amount.refund === refund;
      return isSame ? replyOf(known) : refusal(400, 'INVALID_REQUEST', '订单金额或退款金额与之前请求不一致');
    }
    const trade = this.#ledger.findPaid(transaction_id);
    if (!trade) return unknown;
    const paid = trade.content.amount.total;
    if (total !== paid) return refusal(400, 'INVALID_REQUEST', '订单金额不一致');
    const others = this.#of(trade);
    const left = others.reduce((sum, other) => sum - other.content.amount.refund, paid);
    if (refund > left) return refusal(400, 'INVALID_REQUEST', '累计退款金额大于支付金额');
    if (others.length >= mostParts) return refusal(400, 'INVALID_REQUEST', '退款次数超限');
    if (refund > this.funds) return refusal(403, 'NOT_ENOUGH', '基本账户余额不足，请充值后重新发起');
    this.funds -= refund;
    trade.state = 'REFUND';
    const id = `5030${randomBytes(10).toString('hex')}`;
    const made: Refund = { id, content, trade, status: 'PROCESSING', createdAt: new Date() };
    this.#refunds.set(number, made);
    // Accepted, with any later outcome.
    const reply = replyOf(made);
    this.settle(number, this.outcome);
    return reply;
  }

  /** GET /v3/refund/domestic/refunds/{number} */
  query(number: string): Reply {
    const refund = this.#refunds.get(number);
    return refund ? replyOf(refund) : refusal(404, 'RESOURCE_NOT_EXISTS', '退款单不存在');
  }

  #of(trade: WechatTrade): Refund[] {
    return [...this.#refunds.values()].filter((one) => one.trade === trade && one.status !== 'CLOSED');
  }
}

function replyOf({ id, content, trade, status, createdAt, doneAt }: Refund): Reply {
  const { transaction_id, out_refund_no, amount } = content;
  const { refund, total, currency } = amount;
  return {
    status: 200,
    content: {
      ...{ refund_id: id, out_refund_no, transaction_id, out_trade_no: trade.content.out_trade_no },
      ...{ channel: 'ORIGINAL', user_received_account: '支付用户零钱', funds_account: 'AVAILABLE' },
      ...{ create_time: beijing(createdAt), ...(doneAt && { success_time: beijing(doneAt) }), status },
      amount: {
        ...{ total, refund, payer_total: trade.paid?.payerTotal, payer_refund: refund, currency },
        ...{ settlement_total: total, settlement_refund: refund, discount_refund: 0, from: [] },
      },
    },
  };
}
