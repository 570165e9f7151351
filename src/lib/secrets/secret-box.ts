// Encryption of stored secrets (AES-256-GCM) with keys derived from APP_KEY and its predecessors.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { config } from '../../../config/index.js';

const version = 'v1';

/**
 * 32-byte keys for one purpose (HKDF-SHA-256, RFC 5869): the one derived from APP_KEY, which encrypts, then
 * those of APP_KEY_PREVIOUS.
 */
export function derivedKeys(purpose: string): [Buffer, ...Buffer[]] {
  const derive = (key: string): Buffer => Buffer.from(hkdfSync('sha256', key, 'back-office', purpose, 32));
  return [derive(config.auth.appKey), ...config.auth.previousAppKeys.map(derive)];
}

const keys = derivedKeys('stored secrets');

/** Encrypts a text for storage: `v1:<nonce>:<tag>:<ciphertext>`, each part in base64url. */
export function seal(plain: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', keys[0], nonce);
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return [version, ...[nonce, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))].join(
    ':',
  );
}

/** Decrypts the output of `seal`. @throws Error when the text was changed or sealed under an unknown key */
export function unseal(stored: string): string {
  for (const key of keys) {
    const plain = opened(stored, key);
    if (plain !== undefined) return plain;
  }
  throw new Error('a stored secret opens with neither APP_KEY nor APP_KEY_PREVIOUS');
}

/** Whether a text was sealed under the current APP_KEY. */
export const isSealedToday = (stored: string): boolean => opened(stored, keys[0]) !== undefined;

function opened(stored: string, key: Buffer): string | undefined {
  const [form, nonce = '', tag = '', sealed = ''] = stored.split(':');
  if (form !== version) return undefined;
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'), {
      authTagLength: 16,
    });
    decipher.setAuthTag(Buffer.from(tag, 'base64url'));
    const plain = [decipher.update(Buffer.from(sealed, 'base64url')), decipher.final()];
    return Buffer.concat(plain).toString('utf8');
  } catch {
    return undefined;
  }
}

/** Lowercase hex of HMAC-SHA-256 of the text. */
export function hmacHex(secret: string | Buffer, text: string): string {
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex');
}

/** Compares two lowercase hex digests of 32 bytes in constant time; anything else is unequal. */
export function sameDigest(expected: string, given: unknown): boolean {
  if (typeof given !== 'string' || !/^[0-9a-f]{64}$/.test(given)) return false;
  return timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(given, 'hex'));
}
