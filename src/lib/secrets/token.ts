// JWT bearer tokens (HS256, RFC 7519) with fixed algorithm, issuer and audience.
import { createSecretKey } from 'node:crypto';
import jwt from 'jsonwebtoken';
import { config } from '../../../config/index.js';
import { now } from '../values/clock.js';
import { fail } from '../errors/app-error.js';

const { jwtSecret, jwtIssuer, jwtAudience } = config.auth;

// Created once: given a text, jsonwebtoken first tries to parse it as a public key, 40 times slower.
const key = createSecretKey(Buffer.from(jwtSecret, 'utf8'));

interface TokenClaims {
  subject: string;
  id: string;
  issuedAt: Date;
  expiresAt: Date;
}

export function signToken({ subject, id, issuedAt, expiresAt }: TokenClaims): string {
  const claims = {
    sub: subject,
    jti: id,
    iat: seconds(issuedAt),
    exp: seconds(expiresAt),
    iss: jwtIssuer,
    aud: jwtAudience,
  };
  return jwt.sign(claims, key, { algorithm: 'HS256' });
}

/**
 * Verifies a token's signature, form and time. Anything the service does not sign itself (another claim type, a
 * critical extension of RFC 7515, 4.1.11) is refused, even with a valid signature.
 *
 * @returns its id, which names the session, and the id of the administrator
 * @throws token_expired, or token_invalid for anything else
 */
export function verifyToken(token: string): { jti: string; subject: string } {
  try {
    const { header, payload: claims } = jwt.verify(token, key, {
      complete: true,
      algorithms: ['HS256'],
      issuer: jwtIssuer,
      audience: jwtAudience,
      clockTimestamp: seconds(now()),
    });
    if (typeof claims === 'string' || !claims.exp || 'crit' in header) fail('token_invalid');
    const { jti, sub: subject } = claims as { jti?: unknown; sub?: unknown };
    if (!isUlid(jti) || typeof subject !== 'string' || subject === '') fail('token_invalid');
    return { jti, subject };
  } catch (error) {
    return fail(error instanceof jwt.TokenExpiredError ? 'token_expired' : 'token_invalid');
  }
}

const isUlid = (value: unknown): value is string =>
  typeof value === 'string' && /^[0-9A-HJKMNP-TV-Z]{26}$/.test(value);

const seconds = (at: Date): number => Math.floor(at.getTime() / 1000);
