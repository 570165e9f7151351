// Tests a payment method without a payment: its stored keys, the verification of a test callback, and whether the
// public notify URL leads to this service.
import { config } from '../../../config/index.js';
import { ChannelFailure, type Channel, type MethodConfig } from '../../lib/channels/channel.js';
import { NotPublic, requestGateway } from '../../lib/channels/gateway.js';
import { channelOf, defaultNotifyUrl, missingKeys } from '../../lib/channels/index.js';
import { now } from '../../lib/values/clock.js';
import { currentLanguage } from '../../lib/process/context.js';
import { errorCatalogue, type ErrorSlug } from '../../lib/errors/catalogue.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import { fill, say, type Text } from '../../lib/values/language.js';
import { Money } from '../../lib/values/money.js';
import { newPaymentNumber } from '../../lib/values/numbers.js';
import { openedMethod } from '../../models/trade/payment-method.js';
import type { methodTest } from '../declare/channel-schemas.js';
import type { Answered } from '../declare/response.js';
import { judge, readClaim } from './callback.js';

type MethodTest = Answered<typeof methodTest>;
type MethodCheck = MethodTest['checks'][number];

const texts = {
  verified: {
    zh: '用已保存的密钥签名的回调会被接受',
    en: 'A callback signed with the stored keys is accepted',
  },
  companySigns: {
    zh: '密钥齐全；回调只能由支付公司签名，此处无法试验',
    en: 'The keys are complete; only the payment company can sign a callback, so none can be tried here',
  },
  notOpen: {
    zh: '该渠道的结果尚未开放（PAYMENT_CHANNEL_RESULTS），回调会保存但不会入账',
    en: 'The results of this channel are not open (PAYMENT_CHANNEL_RESULTS): its callbacks are stored, but not settled',
  },
  elsewhere: {
    zh: '回调发往别的系统，未作检查',
    en: 'callbacks go to another system, so the address was not checked',
  },
  notPublic: {
    zh: 'APP_URL 不是公网地址，支付公司无法访问，未作检查',
    en: 'APP_URL is not a public address, so no payment company can reach it; it was not checked',
  },
  noPublicUrl: {
    zh: 'APP_URL 不是公网 https 地址，支付公司无法访问',
    en: 'APP_URL is not a public https address, so no payment company can reach it',
  },
  notOurs: {
    zh: '该地址有应答，但不是本服务（HTTP {status}）',
    en: 'something answers there, but not this service (HTTP {status})',
  },
  busy: {
    zh: '本服务在该地址应答，但正忙：{reason}',
    en: 'this service answers there, but is busy: {reason}',
  },
  unreachable: {
    zh: '本服务按 APP_URL 找不到自己：{reason}',
    en: 'this service cannot be reached at APP_URL: {reason}',
  },
} satisfies Record<string, Text>;

/** Of the test callback. */
const amount = Money.from('0.01');

/** Tests the method with that id. No payment is made or changed. @throws payment_method_not_found */
export async function testMethod(id: number): Promise<MethodTest> {
  const { type, config: stored } = await openedMethod(id);
  const channel = channelOf(type) ?? fail('payment_gateway_unknown');
  const at = now();
  // A valid number that no payment has.
  const paymentNo = newPaymentNumber(at);
  const fields = asSent(channel.sampleCallback({ paymentNo, amount, config: stored ?? {} }));
  // As JSON, as it is sent below.
  const callback = { raw: JSON.stringify(fields), headers: {}, fields, receivedAt: at };
  const claim = await readClaim(channel, callback);
  const signal = AbortSignal.timeout(config.payments.gatewayTimeoutMs);
  const judged = await judge(channel, { callback, claim, payment: { type, amount, config: stored } }, signal);
  const missing = stored ? missingKeys(channel, stored) : [];
  const verdict =
    missing.length > 0 ? 'payment_method_incomplete' : typeof judged === 'string' ? judged : 'verified';
  const language = currentLanguage();
  const message = (): string => {
    if (verdict === 'verified') return say(texts.verified, language);
    if (verdict === 'payment_sign_invalid' && channel.results) return say(texts.companySigns, language);
    if (verdict === 'payment_gateway_not_implemented') return say(texts.notOpen, language);
    return new AppError(verdict, { params: { keys: missing.join(', ') } }).text(language);
  };
  const notifyUrl = stored?.notify_url ?? defaultNotifyUrl(type);
  return {
    type,
    accepted: verdict === 'verified',
    verdict,
    notify_url: notifyUrl,
    message: message(),
    checks: [...keyChecks(channel, stored), await addressCheck({ notifyUrl, type, fields, verdict })],
  };
}

/** As the callback would arrive: written to JSON and parsed. */
const asSent = (fields: object): Record<string, unknown> =>
  JSON.parse(JSON.stringify(fields)) as Record<string, unknown>;

function keyChecks(channel: Channel, stored: MethodConfig | undefined): MethodCheck[] {
  if (!stored) return [];
  return channel.checkKeys(stored).map(({ key, problem }) => ({
    field: `config.${key}`,
    state: problem ? 'failed' : 'passed',
    message: problem ? say(problem, currentLanguage()) : null,
  }));
}

interface Sending {
  notifyUrl: string;
  type: string;
  fields: Record<string, unknown>;
  verdict: ErrorSlug | 'verified';
}

// Sends the callback as the company does. This service must answer it, as a callback for an unknown payment.
async function addressCheck({ notifyUrl, type, fields, verdict }: Sending): Promise<MethodCheck> {
  const check = (state: MethodCheck['state'], text?: Text, params?: Record<string, string | number>) => ({
    field: 'notify_url',
    state,
    message: text ? fill(say(text, currentLanguage()), params) : null,
  });
  if (notifyUrl !== defaultNotifyUrl(type)) return check('skipped', texts.elsewhere);
  const isJudgedFirst =
    verdict === 'payment_gateway_disabled' || verdict === 'payment_gateway_not_implemented';
  const expected: ErrorSlug = isJudgedFirst ? verdict : 'payment_not_found';
  const body = JSON.stringify(fields);
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(Buffer.byteLength(body)) };
  try {
    const signal = AbortSignal.timeout(config.payments.gatewayTimeoutMs);
    const answer = await requestGateway(new URL(notifyUrl), { method: 'POST', headers, body }, signal);
    const slug = slugIn(answer.body);
    if (slug === expected) return check('passed');
    if (slug && isRetryable(slug))
      return check('failed', texts.busy, { reason: new AppError(slug).text(currentLanguage()) });
    return check('failed', texts.notOurs, { status: answer.status });
  } catch (error) {
    if (error instanceof NotPublic)
      return config.app.production ? check('failed', texts.noPublicUrl) : check('skipped', texts.notPublic);
    if (!(error instanceof ChannelFailure)) throw error;
    return check('failed', texts.unreachable, { reason: error.text(currentLanguage()) });
  }
}

const isRetryable = (slug: ErrorSlug): boolean => [429, 503].includes(errorCatalogue[slug].status);

function slugIn(body: string): ErrorSlug | undefined {
  try {
    const slug = (JSON.parse(body) as { error_code?: unknown } | null)?.error_code;
    return typeof slug === 'string' && Object.hasOwn(errorCatalogue, slug) ? (slug as ErrorSlug) : undefined;
  } catch {
    return undefined;
  }
}
