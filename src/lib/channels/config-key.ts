// The Joi building blocks of channel configurations: secrets, keys, URLs.
import Joi from 'joi';
import { readPrivateKey, readPublicKey } from '../secrets/rsa.js';
import { keywords } from '../input/schema.js';
import { isGatewayUrl } from './gateway.js';

const pem = { contentMediaType: 'application/x-pem-file' };

/**
 * Marks a key as secret: stored encrypted, never returned.
 *
 * @param words further keywords of the document
 */
export const secret = (schema: Joi.StringSchema, words: Record<string, unknown> = {}) =>
  schema.meta({ secret: true, keywords: { writeOnly: true, ...words } });

/** An identifier issued by the company. */
export const identifier = (max: number) =>
  Joi.string()
    .max(max)
    .pattern(/^[\w.-]+$/);

/** An http or https URL opened by the company or the customer's browser. */
export const webUrl = () =>
  Joi.string()
    .max(255)
    .custom((text: string, helpers) => (isWebUrl(text) ? text : helpers.error('string.uri')));

/** The company's own URL: https and public (`gateway.ts`). */
export const gatewayUrl = () =>
  Joi.string()
    .max(255)
    .custom((text: string, helpers) => (isGatewayUrl(text) ? text : helpers.error('key.gateway')));

/** An RSA private key (`rsa.ts`), always secret. */
export const privateKey = () =>
  secret(
    Joi.string().custom((text: string, helpers) =>
      readPrivateKey(text) ? text : helpers.error('key.private'),
    ),
    pem,
  );

/** An RSA public key (`rsa.ts`). */
export const publicKey = () =>
  keywords(
    Joi.string().custom((text: string, helpers) =>
      readPublicKey(text) ? text : helpers.error('key.public'),
    ),
    pem,
  );

// A parser skips blanks and control characters, and the user info before an @ would be shown to everybody.
function isWebUrl(text: string): boolean {
  if (/[\p{C}\p{Z}]/u.test(text) || !URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
