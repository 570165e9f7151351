// Alipay's answers about trades and refunds: from its books, or as its dials are set.
import type { ServerResponse } from 'node:http';
import type { AlipayLedger, AlipayReply } from './alipay-ledger.js';
import type { AlipayRefunds, RefundContent } from './alipay-refunds.js';
import { signatureOf } from './alipay-signature.js';
import { merchantKeys } from './merchant.js';
import { ResultDials, sendAnswer, type Operation, type ResultMood } from './result-dials.js';
import type { RsaKeys } from './rsa-keys.js';

const noPermission: AlipayReply = {
  ...{ code: '40006', msg: 'Insufficient Permissions' },
  ...{ sub_code: 'isv.insufficient-isv-permissions', sub_msg: 'ISV权限不足' },
};
const limited: AlipayReply = {
  ...{ code: '40005', msg: 'Call Limited', sub_code: 'isv.app-call-limited', sub_msg: '应用调用次数超限' },
};
const unsure: AlipayReply = {
  ...{ code: '20000', msg: 'Service Currently Unavailable' },
  ...{ sub_code: 'isp.unknow-error', sub_msg: '系统繁忙' },
};

interface Asked {
  operation: Operation;
  /** Ours of the payment or refund. */
  number: string;
  reply: () => AlipayReply;
}

export class AlipayResults extends ResultDials {
  /** Its answer while it refuses. */
  refusal = noPermission;
  /** Whether slashes are escaped after signing, which the official SDKs allow for. */
  escapesLater = false;
  readonly #ledger: AlipayLedger;
  readonly #refunds: AlipayRefunds;
  #sent = 0;

  constructor(ledger: AlipayLedger, refunds: AlipayRefunds) {
    super();
    this.#ledger = ledger;
    this.#refunds = refunds;
  }

  override reset(): void {
    super.reset();
    this.refusal = noPermission;
    this.escapesLater = false;
  }

  /** Answers a correctly signed request. */
  async answer(response: ServerResponse, method: string, text: string, keys: RsaKeys): Promise<void> {
    const content = JSON.parse(text) as object;
    const asked = this.#read(method, content);
    if (!asked) return this.refuse(response, 'isv.invalid-method', keys);
    const { operation, number, reply } = asked;
    this.requests.push({ operation, number, content, at: new Date() });
    await this.before(operation, number);
    const mood = this.moodOf(operation);
    const undone: Partial<Record<ResultMood, AlipayReply>> = { busy: limited, refusing: this.refusal };
    const good = mood === 'failing' ? unsure : (undone[mood] ?? reply());
    await this.after(operation, number);
    if (mood === 'failing') response.writeHead(502).end('<html>502 Bad Gateway</html>');
    else
      this.#send(
        response,
        `${method.replaceAll('.', '_')}_response`,
        falsehoods[mood]?.(good) ?? good,
        keys,
        mood,
      );
  }

  /** Refuses one with a wrong signature or an unknown method. */
  refuse(response: ServerResponse, sub_code: string, keys: RsaKeys): void {
    const refused = { code: '40002', msg: 'Invalid Arguments', sub_code, sub_msg: '参数无效' };
    this.#send(response, 'error_response', refused, keys, 'well');
  }

  #read(method: string, content: { out_trade_no?: string }): Asked | undefined {
    const { out_trade_no = '' } = content;
    const refund = content as RefundContent;
    const asked: Partial<Record<string, Asked>> = {
      'alipay.trade.query': {
        operation: 'query',
        number: out_trade_no,
        reply: () => this.#ledger.query(out_trade_no),
      },
      'alipay.trade.close': {
        operation: 'close',
        number: out_trade_no,
        reply: () => this.#ledger.closeFor(out_trade_no),
      },
      'alipay.trade.refund': {
        operation: 'refund',
        number: refund.out_request_no,
        reply: () => this.#refunds.create(refund),
      },
      'alipay.trade.fastpay.refund.query': {
        operation: 'queryRefund',
        number: refund.out_request_no,
        reply: () => this.#refunds.query(refund),
      },
    };
    return asked[method];
  }

  #send(response: ServerResponse, name: string, content: AlipayReply, keys: RsaKeys, mood: ResultMood): void {
    const plain = JSON.stringify(content);
    const raw = plain.replaceAll('/', '\\/');
    const sign = signatureOf(this.escapesLater ? plain : raw, mood === 'forging' ? merchantKeys : keys);
    const members = [`"${name}":${raw}`, ...(mood === 'unsigned' ? [] : [`"sign":${JSON.stringify(sign)}`])];
    // The order of the two is not documented.
    if (this.#sent++ % 2 === 1) members.reverse();
    const body = `{${members.join(',')}}`;
    const headers = { 'Content-Type': 'text/html;charset=utf-8' };
    sendAnswer(response, { status: 200, headers, body: mood === 'garbled' ? body.slice(1) : body }, mood);
  }
}

/** Changes fields of a processed refund or trade. */
const lie =
  (change: (answer: { total_amount?: string; refund_amount?: string }) => object) =>
  (reply: AlipayReply): AlipayReply =>
    reply.code === '10000' ? { ...reply, ...change(reply as object) } : reply;

const more = (amount?: string): string | undefined => amount && (Number(amount) + 0.01).toFixed(2);

const falsehoods: Partial<Record<ResultMood, (reply: AlipayReply) => AlipayReply>> = {
  unsure: () => unsure,
  incomplete: lie(({ refund_amount }) =>
    refund_amount ? { refund_amount: undefined } : { trade_no: undefined },
  ),
  otherPayment: lie(() => ({ out_trade_no: 'PAY0', trade_no: '2019', out_request_no: 'REF0' })),
  otherRefund: lie(() => ({ out_request_no: 'REF0' })),
  otherAmount: lie(({ total_amount, refund_amount }) => ({
    total_amount: more(total_amount),
    refund_amount: more(refund_amount),
  })),
  newWord: lie(() => ({ trade_status: 'NEW_WORD', refund_status: 'NEW_WORD' })),
};
