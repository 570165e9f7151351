// How WeChat Pay signs and seals, and how it verifies requests (pay.weixin.qq.com/doc/v3/merchant/4012081606).
import { createCipheriv, randomBytes, sign, verify, type KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { RsaKeys } from './rsa-keys.js';

export function signatureOf(body: string, { privateKey }: RsaKeys, at: Date) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const nonce = randomBytes(16).toString('hex');
  const text = Buffer.from(`${timestamp}\n${nonce}\n${body}\n`);
  return { timestamp, nonce, signature: sign('sha256', text, privateKey).toString('base64') };
}

export function sealed(text: string, apiV3Key: string, associated_data = 'transaction') {
  const nonce = randomBytes(6).toString('hex');
  const cipher = createCipheriv('aes-256-gcm', apiV3Key, nonce).setAAD(Buffer.from(associated_data));
  const bytes = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
  return { algorithm: 'AEAD_AES_256_GCM', ciphertext: bytes.toString('base64'), nonce, associated_data };
}

export const beijing = (at: Date): string =>
  `${new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19)}+08:00`;

/** Who may ask. */
interface Merchant {
  mchId: string;
  serial: string;
  publicKey: KeyObject;
}

/** What is wrong with the signature of a request. */
export function signatureProblem(
  { headers, method, url }: IncomingMessage,
  body: string,
  { mchId, serial, publicKey }: Merchant,
  at = new Date(),
): string | undefined {
  const given = headers.authorization ?? '';
  const scheme = 'WECHATPAY2-SHA256-RSA2048 ';
  if (!given.startsWith(scheme)) return 'the scheme is wrong';
  if (!headers['user-agent'] || !headers.accept) return 'a header is missing';
  const parts = Object.fromEntries(
    [...given.slice(scheme.length).matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  ) as Record<string, string>;
  if (parts.mchid !== mchId || parts.serial_no !== serial) return 'who is that';
  if (Math.abs(Number(parts.timestamp) - at.getTime() / 1000) > 300) return 'the time is wrong';
  const text = `${method}\n${url}\n${parts.timestamp}\n${parts.nonce_str}\n${body}\n`;
  const fits = verify('sha256', Buffer.from(text), publicKey, Buffer.from(parts.signature ?? '', 'base64'));
  return fits ? undefined : 'the signature is wrong';
}
