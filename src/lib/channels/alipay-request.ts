// Alipay's gateway: signed requests, and answers that Alipay has signed (opendocs.alipay.com/common/02kdnc).
import type { KeyObject } from 'node:crypto';
import { config as settings } from '../../../config/index.js';
import { now } from '../values/clock.js';
import { readPublicKey, signRsa, verifyRsa } from '../secrets/rsa.js';
import { beijingTime } from '../values/time.js';
import { forged, unreadable, withWords } from './answer-reasons.js';
import { ChannelFailure, type MethodConfig } from './channel.js';
import { requestGateway, type GatewayAnswer } from './gateway.js';
import { parseObject, rawMembers } from './json-object.js';

export const defaultGateway = 'https://openapi.alipay.com/gateway.do';

/** Wall-clock time in Beijing as Alipay writes it: 2019-08-15 15:56:24. */
export const wallClock = (at: Date): string => beijingTime(at).replace('T', ' ');

const noKey = {
  zh: '支付方式没有填写支付宝公钥',
  en: 'the payment method has no public key of Alipay',
};

/** The key that Alipay signs with. @throws ChannelFailure when the method has none */
export function alipayKey({ alipay_public_key = '' }: MethodConfig): KeyObject {
  const key = readPublicKey(alipay_public_key);
  if (!key) throw new ChannelFailure(noKey);
  return key;
}

/**
 * The URL of a request with its parameters, signed in order of their names.
 *
 * @param own parameters beside those of every request; none may be empty
 */
export function signedUrl(config: MethodConfig, method: string, own: Record<string, string>): URL {
  const parameters = Object.entries({
    app_id: config.app_id ?? '',
    charset: 'utf-8',
    format: 'JSON',
    method,
    sign_type: 'RSA2',
    timestamp: wallClock(now()),
    version: '1.0',
    ...own,
  }).sort(([one], [other]) => (one < other ? -1 : 1));
  const text = parameters.map(([name, value]) => `${name}=${value}`).join('&');
  const url = new URL(config.gateway ?? defaultGateway);
  for (const [name, value] of parameters) url.searchParams.set(name, value);
  url.searchParams.set('sign', signRsa(text, config.private_key ?? ''));
  return url;
}

/** A verified answer. */
export interface AlipayAnswer {
  /** 10000: processed; 20000: unknown to Alipay itself; 40004: refused, as `sub_code` says. */
  code?: unknown;
  msg?: unknown;
  sub_code?: unknown;
  sub_msg?: unknown;
  [field: string]: unknown;
}

/**
 * Sends a request and returns the verified answer, which may be a refusal.
 *
 * @throws ChannelFailure when nothing was learned: no answer, another status than 200, or no valid signature
 */
export async function askAlipay(
  config: MethodConfig,
  method: string,
  content: object,
  signal: AbortSignal,
): Promise<AlipayAnswer> {
  const key = alipayKey(config);
  const url = signedUrl(config, method, { biz_content: JSON.stringify(content) });
  const biz_content = url.searchParams.get('biz_content') ?? '';
  url.searchParams.delete('biz_content');
  const body = new URLSearchParams({ biz_content }).toString();
  const headers = {
    Accept: 'application/json',
    'User-Agent': `back-office/${settings.version}`,
    'Content-Type': 'application/x-www-form-urlencoded; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
  };
  const answer = await requestGateway(url, { method: 'POST', headers, body }, signal);
  if (answer.status !== 200) throw new ChannelFailure(`HTTP ${answer.status}`);
  return verified(answer, `${method.replaceAll('.', '_')}_response`, key);
}

function verified({ body }: GatewayAnswer, name: string, key: KeyObject): AlipayAnswer {
  const members = parseObject(body) && rawMembers(body);
  const raw = members?.get(name) ?? members?.get('error_response');
  const content = raw === undefined ? undefined : parseObject(raw);
  if (!members || raw === undefined || !content) throw new ChannelFailure(unreadable);
  const sign: unknown = JSON.parse(members.get('sign') ?? 'null');
  if (typeof sign === 'string') {
    if (verifyRsa(raw, sign, key)) return content;
    // The official SDKs take this form, too: slashes that were escaped after signing.
    const plain = raw.replaceAll('\\/', '/');
    const other = verifyRsa(plain, sign, key) ? parseObject(plain) : undefined;
    if (other) return other;
  }
  throw new ChannelFailure(content.code === '10000' ? forged : withWords(forged, wordsOf(content)));
}

/** The company's words for a refusal. */
export function wordsOf({ code, msg, sub_code, sub_msg }: AlipayAnswer): string {
  const words = [sub_code ?? code, sub_msg ?? msg].filter((part) => typeof part === 'string' && part !== '');
  return words.join(': ');
}
