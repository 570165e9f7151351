// RSA keys in the formats of payment companies, and SHA-256 signatures.
import { createPrivateKey, createPublicKey, sign, verify, type KeyObject } from 'node:crypto';

const minBits = 2048;

/**
 * Reads a private key: PEM, or the bare base64 of PKCS#8 or PKCS#1.
 *
 * @returns undefined unless it is RSA of 2048 bits or more
 */
export function readPrivateKey(text: string): KeyObject | undefined {
  return firstRsa(
    isPem(text)
      ? [() => createPrivateKey(text)]
      : (['pkcs8', 'pkcs1'] as const).map(
          (type) => () => createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type }),
        ),
  );
}

/** Reads a public key: PEM, or the bare base64 of its SubjectPublicKeyInfo. @returns as `readPrivateKey` */
export function readPublicKey(text: string): KeyObject | undefined {
  if (text.includes('PRIVATE KEY')) return undefined;
  return firstRsa([
    () =>
      isPem(text)
        ? createPublicKey(text)
        : createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }),
  ]);
}

/** Base64 of the RSA PKCS#1 v1.5 signature over SHA-256 of the text. @throws Error when the key is invalid */
export function signRsa(text: string, privateKey: string): string {
  const key = readPrivateKey(privateKey);
  if (!key) throw new Error('this is no RSA private key');
  return sign('sha256', Buffer.from(text, 'utf8'), key).toString('base64');
}

export function verifyRsa(text: string, signature: string, publicKey: KeyObject): boolean {
  return verify('sha256', Buffer.from(text, 'utf8'), publicKey, Buffer.from(signature, 'base64'));
}

const isPem = (text: string): boolean => text.includes('-----BEGIN');

function firstRsa(readers: (() => KeyObject)[]): KeyObject | undefined {
  for (const read of readers) {
    const key = keyOrNothing(read);
    const bits = key?.asymmetricKeyDetails?.modulusLength ?? 0;
    if (key?.asymmetricKeyType === 'rsa' && bits >= minBits) return key;
  }
  return undefined;
}

function keyOrNothing(read: () => KeyObject): KeyObject | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
