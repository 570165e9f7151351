// What WeChat Pay seals with the merchant's APIv3 key: AES-256-GCM (pay.weixin.qq.com/doc/v3/merchant/4012071382).
import { createCipheriv, createDecipheriv } from 'node:crypto';
import { randomToken } from '../secrets/random-id.js';

/** A sealed text as WeChat sends it. */
export interface Sealed {
  /** Base64 of the sealed text and the tag behind it. */
  ciphertext: string;
  nonce: string;
  associated_data: string;
}

const tagBytes = 16;

/** Opens what WeChat has sealed. @throws Error when the key is another, the text was changed, or there is none */
export function openSealed({ ciphertext, nonce, associated_data }: Sealed, key: string): Buffer {
  const bytes = Buffer.from(ciphertext, 'base64');
  // A shorter one would leave a tag of fewer bytes, which can be guessed.
  if (bytes.length <= tagBytes) throw new Error('the sealed text is too short');
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes });
  decipher.setAuthTag(bytes.subarray(-tagBytes)).setAAD(Buffer.from(associated_data));
  return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]);
}

/** The text of the `resource` of a notice; undefined when it does not open under that key. */
export function openResource(resource: unknown, key: string): string | undefined {
  const { ciphertext, nonce, associated_data = '' } = (resource ?? {}) as Record<string, unknown>;
  if (typeof ciphertext !== 'string' || typeof nonce !== 'string' || typeof associated_data !== 'string')
    return undefined;
  try {
    return openSealed({ ciphertext, nonce, associated_data }, key).toString();
  } catch {
    return undefined;
  }
}

/** The `resource` of a notice; undefined when the key cannot seal. */
export function sealResource(text: string, key: string): object | undefined {
  const nonce = randomToken(9);
  try {
    const cipher = createCipheriv('aes-256-gcm', key, nonce);
    const sealed = Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
    return {
      algorithm: 'AEAD_AES_256_GCM',
      ciphertext: sealed.toString('base64'),
      nonce,
      associated_data: '',
    };
  } catch {
    return undefined;
  }
}
