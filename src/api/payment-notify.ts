// {host}/api/payment/notify/{type}[/{tenant}]: the public callback of payment channels (docs/api.md, 13).
import Joi from 'joi';
import { config } from '../../config/index.js';
import type { CallbackClaim, Channel, RawCallback } from '../lib/channels/channel.js';
import { allChannels, channelOf, channelType, hasOpenResults } from '../lib/channels/index.js';
import { now } from '../lib/values/clock.js';
import type { ErrorSlug } from '../lib/errors/catalogue.js';
import { fail } from '../lib/errors/app-error.js';
import { paymentPeriod } from '../lib/values/numbers.js';
import { documentedAs } from '../lib/input/schema.js';
import { flagForAttention, type AttentionReason, type Mismatch } from '../models/trade/payment-attention.js';
import {
  findCalledPayment,
  recordAttempt,
  recordUnproven,
  type CalledPayment,
} from '../models/trade/callback-intake.js';
import { unverified, type CallbackKey } from '../models/trade/payment-callback.js';
import { askPaymentSoon } from '../models/trade/payment-follow-up.js';
import { acceptCallback, callbackRefusals, judge, readClaim, settleAccepted } from './flows/callback.js';
import { limit } from './http/middleware/limits.js';
import type { Context } from './declare/request-state.js';
import { callbackBody } from './declare/channel-schemas.js';
import { oneOf, record, text, type Answered } from './declare/response.js';
import { PlainAnswer, route } from './declare/route.js';

const maxBody = 64 * 1024;
/** Max wait for a key of the company: half the time of a callback. */
const maxKeyMs = Math.floor(config.payments.callbackDeadlineMs / 2);

const plainAnswer = ({ status, body }: NonNullable<Channel['accepted']>) => new PlainAnswer(status, body);

const received = record({
  payment_no: text(),
  order_no: text(),
  status: oneOf('paid', 'processing').description('paid, or processing: stored, and settled later'),
});

const shared = {
  host: true,
  access: 'public',
  // Only refused callbacks are limited (`accept`).
  unlimited: true,
  deadlineMs: config.payments.callbackDeadlineMs,
  description:
    'The body depends on the channel. What is signed, and how to try it, is in the introduction, Payment callbacks.',
  body: documentedAs(Joi.object<Record<string, unknown>>().unknown(true), callbackBody()),
  form: { maxBytes: maxBody },
  response: received,
  plainAnswers: allChannels.filter(hasOpenResults).flatMap(({ type, accepted }) =>
    accepted
      ? [
          {
            answer: plainAnswer(accepted),
            description: `The acknowledgement that ${type} expects, once the callback is stored`,
          },
        ]
      : [],
  ),
} as const;

const refusals: ErrorSlug[] = [...callbackRefusals, 'too_many_requests'];

export const routes = [
  route('POST', '/api/payment/notify/{type}', {
    ...shared,
    name: 'notifyPayment',
    summary: 'Receive the result of a payment from its channel',
    params: Joi.object<{ type: string }, true>({ type: channelType().max(64).required() }),
    fails: [...refusals, 'tenant_required'],
    handle({ params, ...call }, ctx) {
      if (config.app.tenant) fail('tenant_required');
      return receive(params.type, call, ctx);
    },
  }),
  route('POST', '/api/payment/notify/{type}/{tenant}', {
    ...shared,
    name: 'notifyTenantPayment',
    summary: 'Receive the result of a payment in a multi-tenant deployment',
    params: Joi.object<{ type: string; tenant: string }, true>({
      type: channelType().max(64).required(),
      tenant: Joi.string().max(64).required(),
    }),
    fails: [...refusals, 'route_not_found', 'tenant_not_found'],
    handle({ params, ...call }, ctx) {
      if (!config.app.tenant) fail('route_not_found');
      if (params.tenant !== config.app.tenant) fail('tenant_not_found');
      return receive(params.type, call, ctx);
    },
  }),
];

async function receive(
  type: string,
  { body: fields, raw, deadline }: { body: Record<string, unknown>; raw: string; deadline: number },
  ctx: Context,
): Promise<Answered<typeof received> | PlainAnswer> {
  const channel = channelOf(type) ?? fail('invalid_payment_type');
  const callback = { raw, headers: headersOf(ctx, channel), fields, receivedAt: now() };
  const { payment, accepted } = await accept(channel, callback, ctx);
  const outcome = await settleAccepted(accepted, deadline);
  if (channel.accepted) return plainAnswer(channel.accepted);
  const { payment_no, order_no } = payment;
  const status = outcome === 'processing' ? 'processing' : 'paid';
  return { payment_no, order_no, status };
}

/** What is needed to read its body and to verify its signature; stored with it. */
const headersOf = ({ headers }: Context, { signatureHeaders = [] }: Channel): RawCallback['headers'] =>
  Object.fromEntries(
    ['content-type', ...signatureHeaders].flatMap((name) =>
      headers[name] === undefined ? [] : [[name, String(headers[name])]],
    ),
  );

// Verifies a callback and stores it with any verdict.
async function accept(
  channel: Channel,
  callback: RawCallback,
  ctx: Context,
): Promise<{ payment: CalledPayment; accepted: CallbackKey | undefined }> {
  const { ip, traceId: trace_id } = ctx.state;
  const { fields } = callback;
  // Until a channel's results are opened, only the payment number is taken from its callbacks.
  const isTrusted = hasOpenResults(channel);
  const claim = await readClaim(channel, isTrusted ? callback : { ...callback, headers: {} });
  const { claimedNo, isSealed } = claimedNumber(claim, fields);
  const payment = claimedNo === undefined ? undefined : await findCalledPayment(claimedNo);
  const circumstances = { type: channel.type, period: payment?.period, arrived: callback, ip, trace_id };
  const judged = await judge(channel, { callback, claim, payment }, AbortSignal.timeout(maxKeyMs));
  if (typeof judged !== 'string')
    return { payment: judged.payment, accepted: await acceptCallback(judged, circumstances) };

  const believed = isTrusted ? claim : undefined;
  const attempt = {
    ...circumstances,
    payment_no: claimedNo,
    third_party_no: believed?.thirdPartyNo,
    fields: believed?.fields ?? fields,
    state: 'refused' as const,
    verdict: judged,
  };
  const notice = payment && { payment, claim, isSealed };
  const flag = notice && (await flagFor(channel, notice, judged));
  if (notice && flag) {
    await recordAttempt({ ...attempt, reported_amount: flag.amounts?.reported });
    await flagForAttention(notice.payment.payment_no, flag.reason, flag.amounts);
  } else {
    // Anybody can send unverified callbacks, so they must not fill the disk. Verified ones are stored in full and never
    // limited.
    await limit('refused-callback', ctx);
    await recordUnproven(attempt);
  }
  return fail(judged);
}

/** A callback that names a payment of ours. */
interface Notice {
  payment: CalledPayment;
  claim: CallbackClaim | undefined;
  isSealed: boolean;
}

/** Why a person must look at the payment of a refused notice, if so. */
async function flagFor(
  channel: Channel,
  notice: Notice,
  judged: ErrorSlug,
): Promise<{ reason: AttentionReason; amounts?: Mismatch } | undefined> {
  const { claim, payment } = notice;
  if (mayHideMoney(channel, notice, judged)) {
    const isAsked = !keyless.has(judged) && (await askPaymentSoon(payment.payment_no));
    // Anybody who knows the number can forge an unsealed notice: only the first is stored in full until a
    // person has seen it.
    const isFlagged = payment.needs_attention && payment.fail_reason === 'notice_unverified';
    const isNews = notice.isSealed || !isFlagged;
    if (isNews && !isAsked) return { reason: 'notice_unverified' };
  }
  if (judged === 'payment_merchant_mismatch') return { reason: judged };
  if (judged !== 'payment_amount_mismatch') return undefined;
  const reported = claim?.amounts.find((given) => !given.equals(payment.amount));
  return { reason: judged, ...(reported && { amounts: { expected: payment.amount, reported } }) };
}

/** Whether the payment may have been paid although its notice proves nothing: nobody here would see it otherwise. */
function mayHideMoney(channel: Channel, { claim, payment }: Notice, judged: ErrorSlug): boolean {
  const mayStillBePaid = payment.type === channel.type && payment.status !== 'paid';
  const isReadable = claim !== undefined || judged !== 'payment_notify_invalid';
  return mayStillBePaid && isReadable && channel.results !== undefined && unverified.includes(judged);
}

/** Refusals for want of a key that the company's answer to a query would need, too. */
const keyless: ReadonlySet<ErrorSlug> = new Set(['payment_key_unavailable', 'payment_secret_unreadable']);

interface ClaimedNumber {
  claimedNo: string | undefined;
  /** Whether it was sealed under a key of ours, so that only the company can have sent it. */
  isSealed: boolean;
}

// A malformed callback is still stored with the payment it names in the clear.
function claimedNumber(
  claim: CallbackClaim | undefined,
  { out_trade_no }: Record<string, unknown>,
): ClaimedNumber {
  if (claim) return { claimedNo: claim.paymentNo, isSealed: out_trade_no === undefined };
  const isNumber = typeof out_trade_no === 'string' && paymentPeriod(out_trade_no) !== undefined;
  return { claimedNo: isNumber ? out_trade_no : undefined, isSealed: false };
}
