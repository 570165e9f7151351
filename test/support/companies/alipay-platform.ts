// An emulator of Alipay's gateway: what a customer's browser finds at a payment address, the
// notices that follow, and the answers when it is asked for results.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { AlipayLedger } from './alipay-ledger.js';
import { AlipayRefunds } from './alipay-refunds.js';
import { AlipayResults } from './alipay-results.js';
import { beijing, requestProblem, signatureOf, signedText, type NoticeForm } from './alipay-signature.js';
import { portOf } from '../servers/free-port.js';
import { merchantKeys } from './merchant.js';
import type { Notice } from './notices.js';
import { newRsaKeys, type RsaKeys } from './rsa-keys.js';

export type { NoticeForm } from './alipay-signature.js';

export interface NoticeDials {
  /** Signs it with another key. */
  keys?: RsaKeys;
  /** Changes its fields after signing. */
  mutate?: (fields: NoticeForm) => NoticeForm;
  /** Appended to the form. */
  more?: string;
}

export class AlipayPlatform {
  readonly merchant = merchantKeys;
  readonly sellerId = '2088531891668739';
  /** Signs notices and answers. */
  keys: RsaKeys = newRsaKeys();
  readonly appId = '2021000000000001';
  readonly ledger = new AlipayLedger();
  readonly refunds = new AlipayRefunds(this.ledger);
  /** How it answers queries and refunds. */
  readonly results = new AlipayResults(this.ledger, this.refunds);
  readonly #server: Server = createServer((request, response) => void this.#answer(request, response));

  /** Starts it on a free port. */
  static async start(): Promise<AlipayPlatform> {
    const platform = new AlipayPlatform();
    await once(platform.#server.listen(0, '127.0.0.1'), 'listening');
    return platform;
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}/gateway.do`;
  }

  /** The configuration of a method that this gateway accepts. */
  get config(): Record<string, string> {
    return { app_id: this.appId, private_key: this.merchant.privatePem, gateway: this.url };
  }

  /** The same with the key that verifies its notices. */
  get resultConfig(): Record<string, string> {
    return { ...this.config, alipay_public_key: this.keys.publicPem, seller_id: this.sellerId };
  }

  /** The customer opens that address. @throws Error when there is no cashier behind it */
  open(payUrl: string): void {
    const problem = this.#open(new URL(payUrl).searchParams);
    if (problem) throw new Error(problem);
  }

  /** The customer opens that address and pays. @returns Alipay's number */
  pay(payUrl: string, at?: Date): string {
    this.open(payUrl);
    const { out_trade_no } = JSON.parse(new URL(payUrl).searchParams.get('biz_content') ?? '');
    return this.ledger.pay(out_trade_no, at);
  }

  /** The fields of the notice of a payment, once it was paid at that address, in the ledger or not. */
  paid(payUrl: string, more: NoticeForm = {}): NoticeForm {
    const placed = new URL(payUrl).searchParams;
    const { out_trade_no, total_amount, subject } = JSON.parse(placed.get('biz_content') ?? '');
    const trade = this.ledger.find(out_trade_no);
    const time = beijing(trade?.paidAt ?? new Date());
    return {
      ...{ app_id: placed.get('app_id') ?? '', auth_app_id: placed.get('app_id') ?? '', body: '' },
      ...{ buyer_id: '2088102534368455', buyer_logon_id: 'xud***@126.com', buyer_pay_amount: total_amount },
      ...{ charset: 'utf-8', fund_bill_list: `[{"amount":"${total_amount}","fundChannel":"ALIPAYACCOUNT"}]` },
      ...{ gmt_create: time, gmt_payment: time, notify_id: randomBytes(17).toString('hex') },
      ...{ notify_time: time, notify_type: 'trade_status_sync', out_trade_no, receipt_amount: total_amount },
      ...{ seller_email: 'shop@service.test', seller_id: this.sellerId, subject, total_amount },
      ...{ trade_no: (trade?.paidAt && trade.tradeNo) ?? `20190815${randomBytes(10).toString('hex')}` },
      ...{ trade_status: 'TRADE_SUCCESS' },
      ...{ version: '1.0', ...more },
    };
  }

  /** Signs a notice: every field but sign and sign_type (docs.open.alipay.com/270/105902). */
  notice(
    fields: NoticeForm,
    { keys = this.keys, mutate = (same) => same, more = '' }: NoticeDials = {},
  ): Notice {
    const signature = signatureOf(signedText(fields), keys);
    const form = new URLSearchParams(mutate({ ...fields, sign_type: 'RSA2', sign: signature }));
    // As it is sent, which many parsers refuse (github.com/expressjs/body-parser/issues/137).
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded; text/html; charset=UTF-8' };
    return { headers, body: `${form.toString()}${more}` };
  }

  /** Behaves well again; its books stay. */
  reset(): void {
    this.results.reset();
    Object.assign(this.refunds, { isDelayed: false, funds: undefined });
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parameters = new URL(request.url ?? '', this.url).searchParams;
    if (request.method !== 'POST') {
      const problem = this.#open(parameters);
      if (problem) response.writeHead(200).end(`<html>${problem}</html>`);
      else response.writeHead(302, { Location: '/cashier' }).end();
      return;
    }
    const body = new URLSearchParams(await text(request));
    for (const [name, value] of body) parameters.append(name, value);
    // Without the word in the address the body is taken for GBK.
    const problem = /[?&]charset=utf-8(&|$)/.test(request.url ?? '')
      ? requestProblem(parameters, this.appId, this.merchant.publicKey)
      : 'isv.invalid-signature';
    if (problem) return this.results.refuse(response, problem, this.keys);
    const { method = '', biz_content = '{}' } = Object.fromEntries(parameters);
    await this.results.answer(response, method, biz_content, this.keys);
  }

  #open(parameters: URLSearchParams): string | undefined {
    const problem = requestProblem(parameters, this.appId, this.merchant.publicKey);
    if (problem) return problem;
    if (parameters.get('method') !== 'alipay.trade.page.pay') return 'isv.invalid-method';
    const content = JSON.parse(parameters.get('biz_content') ?? '{}');
    const { out_trade_no, total_amount, subject, product_code } = content;
    const isComplete = /^\w{1,64}$/.test(out_trade_no) && /^\d+\.\d\d$/.test(total_amount) && subject;
    if (!isComplete || product_code !== 'FAST_INSTANT_TRADE_PAY') return 'isv.invalid-parameter';
    return this.ledger.open(content);
  }
}
