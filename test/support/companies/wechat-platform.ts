// An emulator of WeChat Pay: verifies signed requests, signs its answers and notices, and misbehaves as
// its dials are set.
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { ExecutionContext } from 'ava';
import { portOf } from '../servers/free-port.js';
import { merchantKeys } from './merchant.js';
import type { Notice } from './notices.js';
import type { Answer } from './result-dials.js';
import { newCertificate, newRsaKeys, type Certificate, type RsaKeys } from './rsa-keys.js';
import {
  parameterProblem,
  shortNumber,
  WechatLedger,
  type PaidTransaction,
  type TransactionContent,
} from './wechat-ledger.js';
import { answerPlacing, type Send, type WechatMood } from './wechat-placing.js';
import { WechatRefunds } from './wechat-refunds.js';
import { WechatResults, type Signing } from './wechat-results.js';
import { beijing, sealed, signatureOf, signatureProblem } from './wechat-signature.js';

export type { WechatMood } from './wechat-placing.js';

interface Transaction {
  path: string;
  headers: IncomingMessage['headers'];
  content: TransactionContent;
}

interface NoticeDials {
  event?: string;
  /** Seals it with another APIv3 key. */
  apiV3Key?: string;
  /** When it is signed. */
  at?: Date;
  /** Signs it with another key under that name. */
  by?: { keys: RsaKeys; serial: string };
  /** A probe, whose signature is wrong. */
  signTest?: boolean;
  /** Changes it after signing. */
  mutate?: (notice: Notice) => Notice;
}

interface Tls {
  key: string;
  cert: string;
}

/** One of a test's own, which ends with it. */
export async function ownWechat(t: ExecutionContext): Promise<WechatPlatform> {
  const platform = await WechatPlatform.start();
  t.teardown(() => platform.stop());
  return platform;
}

export class WechatPlatform {
  readonly merchant = merchantKeys;
  readonly merchantSerial = '5157F09EFDC096DE15EBE81A47057A7232F1B8E1';
  readonly mchId = '1900000001';
  apiV3Key = 'api-v3-key-of-32-characters-here';
  /** Correctly signed transactions, in order of arrival. */
  readonly transactions: Transaction[] = [];
  mood: WechatMood = 'well';
  readonly ledger = new WechatLedger();
  /** How it answers queries and refunds. */
  readonly refunds = new WechatRefunds(this.ledger);
  readonly results = new WechatResults(this.ledger, this.refunds);
  /** Whether asking for its certificates fails. */
  certificatesAway = false;
  /** Signs the list of certificates, if not the newest of them. */
  listKeys: RsaKeys | undefined;
  /** How often its certificates were asked for. */
  downloads = 0;
  /** How far its clock is ahead of this machine's. */
  aheadMs = 0;
  /** Signs the answers. */
  keys: RsaKeys = newRsaKeys();
  certificate: Certificate = newCertificate(this.keys);
  /** Signs with the platform's public key under that name instead of a certificate. */
  publicKeyId: string | undefined;
  readonly #tls: Tls | undefined;
  readonly #server: Server;

  constructor(tls?: Tls) {
    const answer = (request: IncomingMessage, response: ServerResponse) =>
      void this.#answer(request, response);
    this.#tls = tls;
    this.#server = tls ? createTlsServer(tls, answer) : createServer(answer);
  }

  /** Starts it on a free port. @param tls key and certificate of `localhost`, when it shall speak https */
  static async start(tls?: Tls): Promise<WechatPlatform> {
    const platform = new WechatPlatform(tls);
    await once(platform.#server.listen(0, '127.0.0.1'), 'listening');
    return platform;
  }

  get url(): string {
    const port = portOf(this.#server);
    return this.#tls ? `https://localhost:${port}` : `http://127.0.0.1:${port}`;
  }

  /** The configuration of a method that this company accepts. */
  get config(): Record<string, string> {
    return {
      app_id: 'wx8888888888888888',
      mch_id: this.mchId,
      api_v3_key: this.apiV3Key,
      cert_serial_no: this.merchantSerial,
      private_key: this.merchant.privatePem,
      gateway: this.url,
    };
  }

  /** Takes a new key and certificate into use, as the company does every few years. */
  renew(until?: Date): void {
    this.keys = newRsaKeys();
    this.certificate = newCertificate(this.keys, until);
  }

  /** What is inside the notice of a payment that was placed here, once it is paid, in the ledger or not. */
  paid(paymentNo: string, more: object = {}): PaidTransaction {
    const number = shortNumber(paymentNo);
    const placed = this.transactions.findLast(({ content }) => content.out_trade_no === number);
    if (!placed) throw new Error(`${number} was not placed here`);
    const { appid, mchid, amount } = placed.content;
    const { total, currency } = amount;
    const made = {
      transactionId: `4200${randomBytes(10).toString('hex')}`,
      payerTotal: total,
      at: new Date(),
    };
    const { transactionId, payerTotal, at } = this.ledger.find(paymentNo)?.paid ?? made;
    return {
      ...{ appid, mchid, out_trade_no: number, transaction_id: transactionId },
      ...{ trade_type: 'NATIVE', trade_state: 'SUCCESS', trade_state_desc: '支付成功', bank_type: 'OTHERS' },
      ...{ attach: '', success_time: beijing(at), payer: { openid: 'oUpF8uMuAJO' } },
      ...{ amount: { total, payer_total: payerTotal, currency, payer_currency: 'CNY' }, ...more },
    };
  }

  /** Seals and signs a notice (pay.weixin.qq.com/docs/partner/apis/partner-native-payment/payment-notice.html). */
  notice(inside: object, dials: NoticeDials = {}): Notice {
    const { event = 'TRANSACTION.SUCCESS', at = new Date(), signTest, mutate = (same) => same } = dials;
    const content = {
      ...{ id: randomUUID(), create_time: beijing(at), event_type: event, resource_type: 'encrypt-resource' },
      ...{
        summary: '支付成功/回调',
        resource: sealed(JSON.stringify(inside), dials.apiV3Key ?? this.apiV3Key),
      },
    };
    // As their serialiser writes it.
    const body = JSON.stringify(content).replaceAll('/', '\\/');
    const { keys, serial } = dials.by ?? {
      keys: this.keys,
      serial: this.publicKeyId ?? this.certificate.serial,
    };
    const { signature, ...signed } = signatureOf(body, keys, at);
    const headers = {
      ...{ 'Content-Type': 'application/json; charset=utf-8', 'User-Agent': 'Mozilla/4.0' },
      ...{ 'Wechatpay-Timestamp': signed.timestamp, 'Wechatpay-Nonce': signed.nonce },
      ...{ 'Wechatpay-Serial': serial, 'Wechatpay-Signature-Type': 'WECHATPAY2-SHA256-RSA2048' },
      'Wechatpay-Signature': signTest ? `WECHATPAY/SIGNTEST/${signature}` : signature,
    };
    return mutate({ headers, body });
  }

  /** The notice of a refund of 5.00 that was made elsewhere. */
  refunded(paymentNo: string, more: object = {}): Notice {
    const { mchid, out_trade_no, transaction_id, amount } = this.paid(paymentNo);
    const inside = {
      ...{ mchid, out_trade_no, transaction_id },
      ...{ out_refund_no: 'REF1', refund_id: '50', refund_status: 'SUCCESS' },
      amount: { total: amount.total, refund: 500, payer_total: amount.total, payer_refund: 500 },
      ...more,
    };
    return this.notice(inside, { event: `REFUND.${inside.refund_status}` });
  }

  /** Behaves well again; its books stay. */
  reset(): void {
    this.results.reset();
    Object.assign(this.refunds, { outcome: 'SUCCESS', funds: Infinity });
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #now(): Date {
    return new Date(Date.now() + this.aheadMs);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const { mchId, merchantSerial: serial, merchant } = this;
    const problem = signatureProblem(
      request,
      body,
      { mchId, serial, publicKey: merchant.publicKey },
      this.#now(),
    );
    if (problem) return this.#send(response, 401, { code: 'SIGN_ERROR', message: problem });
    if (request.url === '/v3/certificates') return this.#sendCertificates(response);
    const asked = this.results.read(request, body, mchId);
    if (asked) return this.results.answer(response, asked, (...parts) => this.#signed(...parts));
    const transaction = {
      path: request.url ?? '',
      headers: request.headers,
      content: JSON.parse(body) as TransactionContent,
    };
    this.transactions.push(transaction);
    const wrong = parameterProblem(transaction.content);
    if (wrong) return this.#send(response, 400, { code: 'PARAM_ERROR', message: wrong });
    const unplaced = ['refusing', 'redirecting'].includes(this.mood)
      ? undefined
      : this.ledger.place(transaction.content);
    if (unplaced) return this.#send(response, unplaced.status, unplaced.content);
    const id = `wx${randomBytes(16).toString('hex')}`;
    const good = transaction.path.endsWith('/jsapi')
      ? { prepay_id: id }
      : { code_url: `weixin://wxpay/bizpayurl?pr=${transaction.content.out_trade_no}` };
    const send: Send = (status, content, by) => this.#send(response, status, content, by);
    answerPlacing(this.mood, good, response, send, this.merchant);
  }

  #sendCertificates(response: ServerResponse): void {
    this.downloads++;
    if (this.certificatesAway)
      return this.#send(response, 500, { code: 'SYSTEM_ERROR', message: '系统错误' });
    const encrypt_certificate = sealed(this.certificate.pem, this.apiV3Key, 'certificate');
    const list = { data: [{ serial_no: this.certificate.serial, encrypt_certificate }] };
    return this.#send(response, 200, list, { with: this.listKeys });
  }

  #send(response: ServerResponse, status: number, content: unknown, by?: Signing): void {
    const { headers, body } = this.#signed(
      status,
      typeof content === 'string' ? content : JSON.stringify(content),
      by,
    );
    response.writeHead(status, headers).end(body);
  }

  #signed(status: number, body: string, { with: keys = this.keys, at = this.#now() }: Signing = {}): Answer {
    const { timestamp, nonce, signature } = signatureOf(body, keys, at);
    const headers = {
      'Content-Type': 'application/json; charset=utf-8',
      'Wechatpay-Timestamp': timestamp,
      'Wechatpay-Nonce': nonce,
      'Wechatpay-Serial': this.publicKeyId ?? this.certificate.serial,
      'Wechatpay-Signature': signature,
    };
    return { status, headers, body };
  }
}
