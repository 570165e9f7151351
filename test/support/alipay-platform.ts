// Alipay's gateway as a server of the test's own: what a customer's browser meets when it opens a payment address.
import { verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newRsaKeys } from './rsa-keys.js';

export class AlipayPlatform {
  readonly merchant = newRsaKeys();
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
