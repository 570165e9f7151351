// Alipay's gateway as a server of the test's own: what a customer's browser meets when it opens a payment address, and the
// notices that follow.
import { randomBytes, sign, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Notice } from './notices.js';
import { newRsaKeys, type RsaKeys } from './rsa-keys.js';

/** The fields of a notice. */
export type NoticeForm = Record<string, string>;

export interface NoticeDials {
  /** Signs it with another key. */
  keys?: RsaKeys;
  /** What happens to its fields after they were signed. */
  mutate?: (fields: NoticeForm) => NoticeForm;
  /** What stands behind the form. */
  more?: string;
}

export class AlipayPlatform {
  readonly merchant = newRsaKeys();
  readonly sellerId = '2088531891668739';
  /** Signs the notices. */
  keys: RsaKeys = newRsaKeys();
  readonly appId = '2021000000000001';
  readonly #server: Server = createServer((request, response) => {
    const problem = this.#problemWith(new URL(request.url ?? '', 'http://gateway').searchParams);
    if (problem) response.writeHead(200).end(`<html>${problem}</html>`);
    else response.writeHead(302, { Location: '/cashier' }).end();
  });

  /** Starts it on a free port. */
  static async start(): Promise<AlipayPlatform> {
    const platform = new AlipayPlatform();
    await once(platform.#server.listen(0, '127.0.0.1'), 'listening');
    return platform;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/gateway.do`;
  }

  /** The configuration of a method that is taken here. */
  get config(): Record<string, string> {
    return { app_id: this.appId, private_key: this.merchant.privatePem, gateway: this.url };
  }

  /** The same with what its notices are verified with. */
  get resultConfig(): Record<string, string> {
    return { ...this.config, alipay_public_key: this.keys.publicPem, seller_id: this.sellerId };
  }

  /** The fields of the notice of a payment, once it was paid at that address. */
  paid(payUrl: string, more: NoticeForm = {}): NoticeForm {
    const placed = new URL(payUrl).searchParams;
    const { out_trade_no, total_amount, subject } = JSON.parse(placed.get('biz_content') ?? '');
    const time = beijing(new Date());
    return {
      ...{ app_id: placed.get('app_id') ?? '', auth_app_id: placed.get('app_id') ?? '', body: '' },
      ...{ buyer_id: '2088102534368455', buyer_logon_id: 'xud***@126.com', buyer_pay_amount: total_amount },
      ...{ charset: 'utf-8', fund_bill_list: `[{"amount":"${total_amount}","fundChannel":"ALIPAYACCOUNT"}]` },
      ...{ gmt_create: time, gmt_payment: time, notify_id: randomBytes(17).toString('hex') },
      ...{ notify_time: time, notify_type: 'trade_status_sync', out_trade_no, receipt_amount: total_amount },
      ...{ seller_email: 'shop@service.test', seller_id: this.sellerId, subject, total_amount },
      ...{ trade_no: `20190815${randomBytes(10).toString('hex')}`, trade_status: 'TRADE_SUCCESS' },
      ...{ version: '1.0', ...more },
    };
  }

  /** Signs a notice: every field but sign and sign_type (docs.open.alipay.com/270/105902). */
  notice(
    fields: NoticeForm,
    { keys = this.keys, mutate = (same) => same, more = '' }: NoticeDials = {},
  ): Notice {
    const text = Object.keys(fields)
      .sort()
      .map((name) => `${name}=${fields[name]}`)
      .join('&');
    const signature = sign('sha256', Buffer.from(text), keys.privateKey).toString('base64');
    const form = new URLSearchParams(mutate({ ...fields, sign_type: 'RSA2', sign: signature }));
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8' };
    return { headers, body: `${form.toString()}${more}` };
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #problemWith(parameters: URLSearchParams): string | undefined {
    const { sign = '', ...rest } = Object.fromEntries(parameters);
    const text = Object.keys(rest)
      .sort()
      .filter((name) => rest[name] !== '')
      .map((name) => `${name}=${rest[name]}`)
      .join('&');
    if (!verify('sha256', Buffer.from(text), this.merchant.publicKey, Buffer.from(sign, 'base64')))
      return 'isv.invalid-signature';
    if (rest.app_id !== this.appId) return 'isv.invalid-app-id';
    if (rest.method !== 'alipay.trade.page.pay' || rest.sign_type !== 'RSA2' || rest.version !== '1.0')
      return 'isv.invalid-method';
    const age = Date.now() - Date.parse(`${rest.timestamp?.replace(' ', 'T')}+08:00`);
    if (!(Math.abs(age) < 15 * 60_000)) return 'isv.invalid-timestamp';
    const { out_trade_no, total_amount, subject, product_code } = JSON.parse(rest.biz_content ?? '{}');
    const isComplete = /^\w{1,64}$/.test(out_trade_no) && /^\d+\.\d\d$/.test(total_amount) && subject;
    return isComplete && product_code === 'FAST_INSTANT_TRADE_PAY' ? undefined : 'isv.invalid-parameter';
  }
}

const beijing = (at: Date): string =>
  new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');
