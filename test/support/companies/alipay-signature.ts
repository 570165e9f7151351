// How Alipay verifies requests (opendocs.alipay.com/common/02kdnc) and signs its answers and notices.
import { sign, verify, type KeyObject } from 'node:crypto';
import type { RsaKeys } from './rsa-keys.js';

/** The fields of a request or notice. */
export type NoticeForm = Record<string, string>;

/** Their signed text: in order of their names. */
export const signedText = (fields: NoticeForm): string =>
  Object.keys(fields)
    .sort()
    .map((name) => `${name}=${fields[name]}`)
    .join('&');

export const signatureOf = (text: string, { privateKey }: RsaKeys): string =>
  sign('sha256', Buffer.from(text), privateKey).toString('base64');

export const beijing = (at: Date): string =>
  new Date(at.getTime() + 8 * 3_600_000).toISOString().slice(0, 19).replace('T', ' ');

/** What is wrong with the parameters that every request has. */
export function requestProblem(
  parameters: URLSearchParams,
  appId: string,
  publicKey: KeyObject,
): string | undefined {
  const { sign: signature = '', ...rest } = Object.fromEntries(parameters);
  const text = signedText(Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== '')));
  if (!verify('sha256', Buffer.from(text), publicKey, Buffer.from(signature, 'base64')))
    return 'isv.invalid-signature';
  if (rest.app_id !== appId) return 'isv.invalid-app-id';
  if (rest.sign_type !== 'RSA2' || rest.version !== '1.0') return 'isv.invalid-method';
  const age = Date.now() - Date.parse(`${rest.timestamp?.replace(' ', 'T')}+08:00`);
  return Math.abs(age) < 15 * 60_000 ? undefined : 'isv.invalid-timestamp';
}
