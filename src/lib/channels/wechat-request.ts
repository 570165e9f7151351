// WeChat Pay API v3: signed requests, and the signature of what WeChat sends
// (pay.weixin.qq.com/doc/v3/merchant/4012081606).
import type { KeyObject } from 'node:crypto';
import { config as settings } from '../../../config/index.js';
import { now } from '../values/clock.js';
import { randomToken } from '../secrets/random-id.js';
import { signRsa, verifyRsa } from '../secrets/rsa.js';
import { unreadable } from './answer-reasons.js';
import { ChannelFailure, type MethodConfig } from './channel.js';
import { requestGateway, type GatewayAnswer } from './gateway.js';
import { parseObject } from './json-object.js';

const clockDifferenceMs = 5 * 60_000;

export const gatewayOf = ({ gateway = 'https://api.mch.weixin.qq.com' }: MethodConfig): string => gateway;

/** Sends a request; its answer is unverified and may have any status. @throws ChannelFailure when there is none */
export function requestWechat(
  config: MethodConfig,
  method: 'GET' | 'POST',
  path: string,
  body: string,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  const headers = {
    Accept: 'application/json',
    'User-Agent': `back-office/${settings.version}`,
    Authorization: authorization(config, method, path, body),
    ...(config.platform_public_key_id ? { 'Wechatpay-Serial': config.platform_public_key_id } : {}),
    ...(body
      ? { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) }
      : {}),
  };
  return requestGateway(new URL(path, gatewayOf(config)), { method, headers, body }, signal);
}

function authorization(config: MethodConfig, method: string, path: string, body: string): string {
  const { mch_id = '', cert_serial_no = '', private_key = '' } = config;
  const timestamp = String(Math.floor(now().getTime() / 1000));
  const nonce = randomToken(16);
  const signature = signRsa(lines(method, path, timestamp, nonce, body), private_key);
  const parts = { mchid: mch_id, nonce_str: nonce, signature, timestamp, serial_no: cert_serial_no };
  const list = Object.entries(parts).map(([name, value]) => `${name}="${value}"`);
  return `WECHATPAY2-SHA256-RSA2048 ${list.join(',')}`;
}

/** The signed text: each part ends with a line feed. */
export const lines = (...parts: string[]): string => parts.map((part) => `${part}\n`).join('');

type Signed = Pick<GatewayAnswer, 'headers' | 'body'>;

/** Whether WeChat signed it. @param at what its timestamp is compared with, ± 5 minutes */
export function isSigned({ headers, body }: Signed, key: KeyObject, at: Date): boolean {
  const { 'wechatpay-timestamp': timestamp, 'wechatpay-nonce': nonce } = headers;
  const signature = headers['wechatpay-signature'];
  if (typeof timestamp !== 'string' || typeof nonce !== 'string' || typeof signature !== 'string')
    return false;
  const difference = Math.abs(Number(timestamp) * 1000 - at.getTime());
  return difference <= clockDifferenceMs && verifyRsa(lines(timestamp, nonce, body), signature, key);
}

/** The company's words for an error, {code, message}; they are only shown to administrators. */
export function wordsOf({ status, body }: GatewayAnswer): string {
  const { code, message } = parseObject(body) ?? {};
  const words = [code, message].filter((part) => typeof part === 'string' && part !== '');
  return words.length > 0 ? words.join(': ') : `HTTP ${status}`;
}

/** @throws ChannelFailure with the company's words unless the status is 200 */
export function assertOk(answer: GatewayAnswer): void {
  if (answer.status !== 200) throw new ChannelFailure(wordsOf(answer));
}

/** @throws ChannelFailure unless the body is a JSON object */
export function readJson(body: string): Record<string, unknown> {
  const content = parseObject(body);
  if (!content) throw new ChannelFailure(unreadable);
  return content;
}
