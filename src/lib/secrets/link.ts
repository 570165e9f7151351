// Signed file URLs: valid for one path, for a limited time, while their session lasts.
import { createHmac } from 'node:crypto';
import { config } from '../../../config/index.js';
import { now } from '../values/clock.js';
import { hmacHex, sameDigest } from './secret-box.js';

/** Long enough for a browser that requests the ranges of a video while it plays. */
const linkSeconds = 3600;

const key = createHmac('sha256', config.auth.jwtSecret).update('file links').digest();

/** The query value that opens that path for the session. @returns the value and its expiry */
export function signLink(path: string, jti: string): { link: string; expiresAt: Date } {
  const seconds = Math.floor(now().getTime() / 1000) + linkSeconds;
  return { link: `${seconds}.${jti}.${signature(path, jti, seconds)}`, expiresAt: new Date(seconds * 1000) };
}

/** The session of a link; undefined when the link is for another path, expired or altered. */
export function readLink(link: string, path: string): string | undefined {
  const [, seconds = '', jti = '', given] = /^(\d{1,12})\.([\w-]{1,64})\.([0-9a-f]{64})$/.exec(link) ?? [];
  const isGenuine = sameDigest(signature(path, jti, Number(seconds)), given);
  return isGenuine && Number(seconds) * 1000 > now().getTime() ? jti : undefined;
}

const signature = (path: string, jti: string, seconds: number): string =>
  hmacHex(key, `${path}\n${jti}\n${seconds}`);
