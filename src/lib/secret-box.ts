// Encryption of stored secrets (AES-256-GCM) and the keys derived from APP_KEY.
import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { config } from '../../config/index.js';

const version = 'v1';

/** A 32-byte key for one purpose, derived from APP_KEY (HKDF-SHA-256, RFC 5869). */
export function derivedKey(purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', config.auth.appKey, 'back-office', purpose, 32));
}

const key = derivedKey('stored secrets');

/** Encrypts a text for storage: `v1:<nonce>:<tag>:<ciphertext>`, each part in base64url. */
export function seal(plain: string): string {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, nonce);
  const sealed = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()]);
  return [version, ...[nonce, cipher.getAuthTag(), sealed].map((part) => part.toString('base64url'))].join(
    ':',
  );
}

/** Decrypts what `seal` made. @throws Error when the text was changed or sealed under another APP_KEY */
export function unseal(stored: string): string {
  const [form, nonce = '', tag = '', sealed = ''] = stored.split(':');
  if (form !== version) throw new Error('a stored secret has an unknown form');
  const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(nonce, 'base64url'));
  decipher.setAuthTag(Buffer.from(tag, 'base64url'));
  return Buffer.concat([decipher.update(Buffer.from(sealed, 'base64url')), decipher.final()]).toString(
    'utf8',
  );
}

/** Lowercase hex of HMAC-SHA-256 of the text. */
export function hmacHex(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text, 'utf8').digest('hex');
}

/** Compares two lowercase hex digests of 32 bytes in constant time; anything else is unequal. */
export function sameDigest(expected: string, given: unknown): boolean {
  if (typeof given !== 'string' || !/^[0-9a-f]{64}$/.test(given)) return false;
  return timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(given, 'hex'));
}
