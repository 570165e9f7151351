// WeChat Pay's answers about payments and refunds: from its books, or as its dials are set.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { merchantKeys } from './merchant.js';
import { ResultDials, sendAnswer, type Answer, type Operation, type ResultMood } from './result-dials.js';
import type { RsaKeys } from './rsa-keys.js';
import { refusal, type Reply, type WechatLedger } from './wechat-ledger.js';
import type { RefundContent, WechatRefunds } from './wechat-refunds.js';

/** Key and time of an answer's signature. */
export interface Signing {
  with?: RsaKeys;
  at?: Date;
}

type Sign = (status: number, body: string, by: Signing) => Answer;

interface Asked {
  operation: Operation;
  /** Of the payment or refund, as WeChat has it. */
  number: string;
  content: object;
  reply: () => Reply;
}

const trade = /^\/v3\/pay\/transactions\/out-trade-no\/(\w+)(\/close)?$/;
const refund = /^\/v3\/refund\/domestic\/refunds(?:\/(\w+))?$/;

const noPermission = refusal(403, 'NO_AUTH', '商户号未开通此产品权限');
const systemError = refusal(500, 'SYSTEM_ERROR', '系统错误');

export class WechatResults extends ResultDials {
  /** Its answer while it refuses. */
  refusal = noPermission;
  readonly #ledger: WechatLedger;
  readonly #refunds: WechatRefunds;

  constructor(ledger: WechatLedger, refunds: WechatRefunds) {
    super();
    this.#ledger = ledger;
    this.#refunds = refunds;
  }

  override reset(): void {
    super.reset();
    this.refusal = noPermission;
  }

  /** Undefined when the request asks for something else. */
  read({ url = '', method }: IncomingMessage, body: string, mchId: string): Asked | undefined {
    const { pathname, searchParams } = new URL(url, 'http://wechat');
    const content = body === '' ? {} : (JSON.parse(body) as object);
    const [, number, close] = trade.exec(pathname) ?? [];
    if (number && method === 'GET' && !close) {
      const mchid = searchParams.get('mchid');
      return { operation: 'query', number, content, reply: () => this.#ledger.query(number, mchid, mchId) };
    }
    if (number && method === 'POST' && close) {
      const { mchid } = content as { mchid?: string };
      return {
        operation: 'close',
        number,
        content,
        reply: () => this.#ledger.closeFor(number, mchid, mchId),
      };
    }
    const [isRefund, refundNo] = refund.exec(pathname) ?? [];
    if (refundNo && method === 'GET') {
      const reply = () => this.#refunds.query(refundNo);
      return { operation: 'queryRefund', number: refundNo, content, reply };
    }
    if (isRefund && !refundNo && method === 'POST') {
      const sent = content as RefundContent;
      const reply = () => this.#refunds.create(sent);
      return { operation: 'refund', number: sent.out_refund_no, content, reply };
    }
    return undefined;
  }

  async answer(response: ServerResponse, asked: Asked, sign: Sign): Promise<void> {
    const { operation, number, content, reply } = asked;
    this.requests.push({ operation, number, content, at: new Date() });
    await this.before(operation, number);
    const mood = this.moodOf(operation);
    const undone: Partial<Record<ResultMood, Reply>> = {
      failing: systemError,
      busy: refusal(429, 'FREQUENCY_LIMITED', '请求频率过高'),
      refusing: this.refusal,
    };
    const good = undone[mood] ?? reply();
    await this.after(operation, number);
    const { status, content: answered } = falsehoods[mood]?.(good) ?? good;
    const body = answered === undefined ? '' : JSON.stringify(answered);
    const answer = sign(status, mood === 'garbled' ? `<html>${body}` : body, {
      ...(mood === 'forging' && { with: merchantKeys }),
      ...(mood === 'replaying' && { at: new Date(Date.now() - 3_600_000) }),
    });
    sendAnswer(response, mood === 'unsigned' ? { ...answer, headers: {} } : answer, mood);
  }
}

/** A transaction or refund in an answer. */
interface Answered {
  refund_id?: string;
  amount?: { total?: number; refund?: number };
}

const lie =
  (change: (told: Answered) => object) =>
  ({ status, content }: Reply): Reply => ({
    status,
    ...(content && { content: status === 200 ? { ...content, ...change(content) } : content }),
  });

const falsehoods: Partial<Record<ResultMood, (reply: Reply) => Reply>> = {
  unsure: () => systemError,
  incomplete: lie(({ amount, refund_id }) =>
    refund_id
      ? { refund_id: undefined, amount: { ...amount, refund: undefined } }
      : { transaction_id: undefined },
  ),
  otherPayment: lie(({ refund_id }) =>
    refund_id ? { out_refund_no: 'REF0' } : { out_trade_no: 'PAY00000000000000000000000000' },
  ),
  otherMerchant: lie(() => ({ mchid: '1900000002' })),
  otherApplication: lie(() => ({ appid: 'wx0000000000000000' })),
  otherCurrency: lie(({ amount }) => ({ amount: { ...amount, currency: 'USD' } })),
  otherAmount: lie(({ amount }) => ({
    amount: { ...amount, total: (amount?.total ?? 0) + 1, refund: (amount?.refund ?? 0) + 1 },
  })),
  newWord: lie(() => ({ trade_state: 'NEW_WORD', status: 'NEW_WORD' })),
};
