// The books of Alipay: the trades that customers have opened, their states, and its answers about them.
import { randomBytes } from 'node:crypto';
import { beijing } from './alipay-signature.js';

export type AlipayStatus = 'WAIT_BUYER_PAY' | 'TRADE_SUCCESS' | 'TRADE_FINISHED' | 'TRADE_CLOSED';

export interface AlipayTrade {
  paymentNo: string;
  tradeNo: string;
  /** Yuan with two decimals. */
  total: string;
  status: AlipayStatus;
  paidAt?: Date;
}

/** Answer of the company: code 10000 or a refusal. */
export interface AlipayReply {
  code: string;
  msg: string;
  sub_code?: string;
  sub_msg?: string;
}

export const processed = { code: '10000', msg: 'Success' };

export const refusal = (sub_code: string, sub_msg: string): AlipayReply => ({
  ...{ code: '40004', msg: 'Business Failed' },
  ...{ sub_code: `ACQ.${sub_code}`, sub_msg },
});

const notExist = refusal('TRADE_NOT_EXIST', '交易不存在');

/** A trade as a payment address asks for it. */
interface PageContent {
  out_trade_no: string;
  total_amount: string;
  time_expire?: string;
}

export class AlipayLedger {
  /** By our number. */
  readonly #trades = new Map<string, AlipayTrade>();

  /** The customer opens the cashier: only now there is a trade. @returns what is wrong */
  open({ out_trade_no: paymentNo, total_amount: total, time_expire }: PageContent): string | undefined {
    const trade = this.find(paymentNo);
    if (time_expire && time_expire <= beijing(new Date())) return 'ACQ.TRADE_HAS_CLOSE';
    if (!trade) {
      const tradeNo = `20190815${randomBytes(10).toString('hex')}`;
      this.#trades.set(paymentNo, { paymentNo, tradeNo, total, status: 'WAIT_BUYER_PAY' });
      return undefined;
    }
    if (trade.paidAt) return 'ACQ.TRADE_HAS_SUCCESS';
    if (trade.status === 'TRADE_CLOSED') return 'ACQ.TRADE_HAS_CLOSE';
    return trade.total === total ? undefined : 'ACQ.CONTEXT_INCONSISTENT';
  }

  /** The customer pays. @returns Alipay's number @throws Error when it cannot be paid there */
  pay(paymentNo: string, at = new Date()): string {
    const trade = this.tradeOf(paymentNo);
    if (trade.status !== 'WAIT_BUYER_PAY') throw new Error(`${paymentNo} is ${trade.status}`);
    Object.assign(trade, { status: 'TRADE_SUCCESS', paidAt: at });
    return trade.tradeNo;
  }

  /** Closes it there, as the company does after its timeout. */
  close(paymentNo: string): void {
    this.set(paymentNo, 'TRADE_CLOSED');
  }

  set(paymentNo: string, status: AlipayStatus): void {
    this.tradeOf(paymentNo).status = status;
  }

  /** Undefined until it was opened. */
  stateOf(paymentNo: string): AlipayStatus | undefined {
    return this.find(paymentNo)?.status;
  }

  find(paymentNo: string): AlipayTrade | undefined {
    return this.#trades.get(paymentNo);
  }

  /** @throws Error when it was not opened */
  tradeOf(paymentNo: string): AlipayTrade {
    const trade = this.find(paymentNo);
    if (!trade) throw new Error(`${paymentNo} was not opened here`);
    return trade;
  }

  /** By Alipay's number. */
  findTrade(tradeNo: string): AlipayTrade | undefined {
    return [...this.#trades.values()].find((trade) => trade.tradeNo === tradeNo);
  }

  /** alipay.trade.query */
  query(paymentNo: string): AlipayReply {
    const trade = this.find(paymentNo);
    return trade ? { ...processed, ...shownTrade(trade) } : notExist;
  }

  /** alipay.trade.close */
  closeFor(paymentNo: string): AlipayReply {
    const trade = this.find(paymentNo);
    if (!trade) return notExist;
    if (trade.status !== 'WAIT_BUYER_PAY') return refusal('TRADE_STATUS_ERROR', '交易状态不合法');
    trade.status = 'TRADE_CLOSED';
    return { ...processed, ...{ out_trade_no: paymentNo, trade_no: trade.tradeNo } };
  }
}

function shownTrade({ paymentNo, tradeNo, total, status, paidAt }: AlipayTrade): object {
  const received = paidAt ? total : '0.00';
  return {
    ...{ buyer_logon_id: 'xud***@126.com', buyer_pay_amount: received, buyer_user_id: '2088102534368455' },
    ...{ invoice_amount: received, out_trade_no: paymentNo, point_amount: '0.00', receipt_amount: received },
    ...(paidAt && { send_pay_date: beijing(paidAt) }),
    // A trap for readers that count braces.
    ...{ store_name: '总店/线上 "}{\\', total_amount: total, trade_no: tradeNo, trade_status: status },
  };
}
