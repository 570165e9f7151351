// WeChat Pay API v3: what WeChat sends, verified.
import { now } from '../clock.js';
import { ChannelFailure, type MethodConfig, type RawCallback } from './channel.js';
import { answerKey, noticeKey } from './wechat-keys.js';
import { forged, isSigned, readJson, requestWechat } from './wechat-request.js';

/**
 * Sends a request and returns the verified answer.
 *
 * @throws ChannelFailure
 */
export async function callWechat(
  config: MethodConfig,
  path: string,
  content: object,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const answer = await requestWechat(config, 'POST', path, JSON.stringify(content), signal);
  const key = await answerKey(config, String(answer.headers['wechatpay-serial']), signal);
  if (!key || !isSigned(answer, key, now())) throw new ChannelFailure(forged);
  return readJson(answer.body);
}

/**
 * Whether WeChat signed the callback: `timestamp\nnonce\nbody\n`
 * (pay.weixin.qq.com/docs/merchant/development/interface-rules/signature-verification.html). Only for what was sealed
 * under the method's key: a serial number that nobody knows makes this service ask for the certificates.
 *
 * @throws ChannelFailure while they cannot be had
 */
export async function isSignedNotice(
  { raw, headers, receivedAt }: RawCallback,
  config: MethodConfig,
  signal: AbortSignal,
): Promise<boolean> {
  const key = await noticeKey(config, headers['wechatpay-serial'] ?? '', signal);
  return key !== undefined && isSigned({ headers, body: raw }, key, receivedAt);
}
