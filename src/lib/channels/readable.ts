// Words of payment companies as people may read them.
import { maskText } from '../secrets/mask.js';

const maxReason = 200;

/** Without control characters and secrets, of up to 200 characters. */
export function readable(reason: string): string {
  const line = maskText(reason.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ')).trim();
  return [...line].slice(0, maxReason).join('') || '?';
}
