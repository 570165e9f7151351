// WeChat Pay API v3: what WeChat sends, verified.
import { now } from '../values/clock.js';
import { forged, withWords } from './answer-reasons.js';
import { ChannelFailure, NotTaken, type MethodConfig, type RawCallback } from './channel.js';
import type { GatewayAnswer } from './gateway.js';
import { parseObject } from './json-object.js';
import { answerKey, noticeKey } from './wechat-keys.js';
import { assertOk, isSigned, readJson, requestWechat, wordsOf } from './wechat-request.js';

const refusals = new Set([400, 401, 403, 404]);
/** Refusals of a payment that WeChat knows: it was placed before. */
const known = new Set<unknown>(['ORDERPAID', 'ORDER_CLOSED', 'OUT_TRADE_NO_USED', 'INVALID_REQUEST']);

/**
 * Places a transaction and returns the verified answer.
 *
 * @throws ChannelFailure; NotTaken for a refusal, which need not be signed: it offers no way to pay
 */
export async function callWechat(
  config: MethodConfig,
  path: string,
  content: object,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const answer = await requestWechat(config, 'POST', path, JSON.stringify(content), signal);
  if (refusals.has(answer.status) && !known.has(parseObject(answer.body)?.code))
    throw new NotTaken(wordsOf(answer));
  assertOk(answer);
  if (!(await isSignedAnswer(answer, config, signal))) throw new ChannelFailure(forged);
  return readJson(answer.body);
}

async function isSignedAnswer(
  answer: GatewayAnswer,
  config: MethodConfig,
  signal: AbortSignal,
): Promise<boolean> {
  const key = await answerKey(config, String(answer.headers['wechatpay-serial']), signal);
  return key !== undefined && isSigned(answer, key, now());
}

/**
 * Sends a request and returns the verified answer, which may be a refusal.
 *
 * @param content of a POST; a GET without it
 * @throws ChannelFailure when nothing was learned: no answer, one for the moment (429, 5xx), or without a
 * valid signature
 */
export async function askWechat(
  config: MethodConfig,
  path: string,
  content: object | undefined,
  signal: AbortSignal,
): Promise<GatewayAnswer> {
  const method = content ? 'POST' : 'GET';
  const answer = await requestWechat(config, method, path, content ? JSON.stringify(content) : '', signal);
  const { status } = answer;
  if (status === 429 || status >= 500) throw new ChannelFailure(wordsOf(answer));
  if (!(await isSignedAnswer(answer, config, signal)))
    throw new ChannelFailure(status < 300 ? forged : withWords(forged, wordsOf(answer)));
  return answer;
}

/**
 * Whether WeChat signed the callback: `timestamp\nnonce\nbody\n`
 * (pay.weixin.qq.com/docs/merchant/development/interface-rules/signature-verification.html). Only for what was sealed
 * under the method's key: a serial number that nobody knows makes this service ask for the certificates.
 *
 * @throws ChannelFailure while they cannot be downloaded
 */
export async function isSignedNotice(
  { raw, headers, receivedAt }: RawCallback,
  config: MethodConfig,
  signal: AbortSignal,
): Promise<boolean> {
  const key = await noticeKey(config, headers['wechatpay-serial'] ?? '', signal);
  return key !== undefined && isSigned({ headers, body: raw }, key, receivedAt);
}
