// Offline checks of stored RSA keys.
import { createPublicKey } from 'node:crypto';
import { readPrivateKey, readPublicKey, signRsa, verifyRsa } from '../secrets/rsa.js';
import type { KeyCheck, MethodConfig } from './channel.js';

const sample = 'back-office';

const problems = {
  unreadable: {
    zh: '无法用作至少 2048 位的 RSA 密钥，请重新填写',
    en: 'is no usable RSA key of 2048 bits or more; enter it again',
  },
  own: {
    zh: '这是商户自己私钥对应的公钥，应填写支付公司的公钥',
    en: 'belongs to the private key of the merchant; the public key of the payment company is wanted',
  },
} as const;

/** Signs with the private key and verifies with its public key. */
export function checkPrivateKey({ private_key = '' }: MethodConfig): KeyCheck {
  const key = readPrivateKey(private_key);
  const fits = key && verifyRsa(sample, signRsa(sample, private_key), createPublicKey(key));
  return { key: 'private_key', problem: fits ? undefined : problems.unreadable };
}

/** Whether this may be the company's public key; the merchant's own is often pasted by mistake. */
export function checkPublicKey(config: MethodConfig, name: string): KeyCheck {
  const key = readPublicKey(config[name] ?? '');
  if (!key) return { key: name, problem: problems.unreadable };
  const isOwn = verifyRsa(sample, signRsa(sample, config.private_key ?? ''), key);
  return { key: name, problem: isOwn ? problems.own : undefined };
}
