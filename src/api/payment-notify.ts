// {host}/api/payment/notify/{type}[/{tenant}]: the public callback of payment channels (docs/api.md, 13).
import Joi from 'joi';
import type { Context } from 'koa';
import { config } from '../../config/index.js';
import type { Channel } from '../lib/channels/channel.js';
import { channelOf } from '../lib/channels/index.js';
import type { ErrorSlug } from '../lib/error-catalogue/index.js';
import { fail } from '../lib/errors.js';
import type { Money } from '../lib/money.js';
import { paymentPeriod } from '../lib/numbers.js';
import { documentedAs } from '../lib/input/schema-notes.js';
import { flagForAttention } from '../models/trade/payment-attention.js';
import { findCalledPayment, recordAttempt, recordUnproven } from '../models/trade/callback-intake.js';
import type { CallbackKey } from '../models/trade/payment-callback.js';
import { judge, acceptCallback } from './flows/callback-judgement.js';
import { settleAccepted, type Accepted } from './flows/callback-settlement.js';
import { limit } from './http/middleware/limits.js';
import type { RequestState } from './http/request-state.js';
import { callbackBody, channelType } from './declare/channel-schemas.js';
import { record, text } from './declare/response.js';
import { route } from './declare/route.js';
import { configsOfType } from '../models/trade/payment-method.js';

const maxBody = 64 * 1024;

const shared = {
  method: 'POST',
  host: true,
  access: 'public',
  // Limited by what it proves, not by frequency.
  unlimited: true,
  deadlineMs: config.payments.callbackDeadlineMs,
  description:
    'The body depends on the channel. What is signed, and how to try it, is in the introduction, Payment callbacks.',
  body: documentedAs(Joi.object<Record<string, unknown>>().unknown(true), callbackBody()),
  form: { maxBytes: maxBody },
  response: record({
    payment_no: text(),
    order_no: text(),
    status: Joi.string().valid('paid', 'processing').required(),
  }),
} as const;

const refusals: ErrorSlug[] = [
  'invalid_payment_type',
  'payment_amount_mismatch',
  'payment_gateway_disabled',
  'payment_gateway_not_implemented',
  'payment_not_found',
  'payment_notify_invalid',
  'payment_secret_unreadable',
  'payment_sign_invalid',
  'payment_third_party_no_used',
  'too_many_requests',
];

export const routes = [
  route({
    ...shared,
    path: '/api/payment/notify/{type}',
    name: 'notifyPayment',
    summary: 'Receive the result of a payment from its channel',
    params: Joi.object<{ type: string }, true>({ type: channelType().max(64).required() }),
    fails: [...refusals, 'tenant_required'],
    handle({ params, body, deadline }, ctx) {
      if (config.app.tenant) fail('tenant_required');
      return receive(params.type, body, ctx, deadline);
    },
  }),
  route({
    ...shared,
    path: '/api/payment/notify/{type}/{tenant}',
    name: 'notifyTenantPayment',
    summary: 'Receive the result of a payment in a multi-tenant deployment',
    params: Joi.object<{ type: string; tenant: string }, true>({
      type: channelType().max(64).required(),
      tenant: Joi.string().max(64).required(),
    }),
    fails: [...refusals, 'route_not_found', 'tenant_not_found'],
    handle({ params, body, deadline }, ctx) {
      if (!config.app.tenant) fail('route_not_found');
      if (params.tenant !== config.app.tenant) fail('tenant_not_found');
      return receive(params.type, body, ctx, deadline);
    },
  }),
];

interface Answer {
  payment_no: string;
  order_no: string;
  status: 'paid' | 'processing';
}

async function receive(
  type: string,
  fields: Record<string, unknown>,
  ctx: Context,
  deadline: number,
): Promise<Answer> {
  const channel = channelOf(type) ?? fail('invalid_payment_type');
  const accepted = await accept(channel, fields, ctx);
  const settlement = await settleAccepted(accepted, deadline);
  if (settlement === 'payment_third_party_no_used') fail('payment_third_party_no_used');
  const status = settlement === undefined || settlement === 'gone' ? 'processing' : 'paid';
  return { payment_no: accepted.paymentNo, order_no: accepted.orderNo, status };
}

// Verifies a callback and stores it with any verdict.
async function accept(channel: Channel, fields: Record<string, unknown>, ctx: Context): Promise<Accepted> {
  const { ip, traceId } = ctx.state as RequestState;
  const { type } = channel;
  const notification = channel.read?.(fields);
  const { claimedNo, isSealed } = notification
    ? { claimedNo: notification.paymentNo, isSealed: false }
    : await claimedNumber(channel, fields);
  const payment = claimedNo === undefined ? undefined : await findCalledPayment(claimedNo);
  const attempt = {
    type,
    period: payment?.period,
    paymentNo: claimedNo,
    thirdPartyNo: notification?.thirdPartyNo,
    fields,
    ip,
    traceId,
  };
  const keep = (verdict: string, reportedAmount?: Money): Promise<CallbackKey> =>
    recordAttempt({ ...attempt, state: 'refused', verdict, reportedAmount });
  // Anybody can send unverified callbacks, so they must not fill the disk. Verified ones are stored whole and never
  // limited.
  const refuse = async (slug: ErrorSlug): Promise<never> => {
    await limit('refused-callback', ctx);
    await recordUnproven({ ...attempt, state: 'refused', verdict: slug });
    return fail(slug);
  };

  const judged = judge(channel, { fields, notification, payment });
  if (typeof judged !== 'string') {
    return (await acceptCallback(judged, attempt)) ?? fail('payment_third_party_no_used');
  }
  // Money may have been paid that nobody here would see otherwise.
  const isOpen = payment?.methodType === type && payment.status !== 'paid';
  // Anybody who knows the number can forge an unsealed notice: only the first is stored in full until a person has seen it.
  const isNews = isSealed || payment?.attention !== 'notice_unverified';
  if (judged === 'payment_gateway_not_implemented' && claimedNo !== undefined && isOpen && isNews) {
    await keep(judged);
    await flagForAttention(claimedNo, 'notice_unverified');
    return fail(judged);
  }
  if (judged === 'payment_amount_mismatch' && claimedNo !== undefined && payment) {
    const { amount } = payment;
    const reported = notification?.amounts.find((given) => !given.equals(amount));
    await keep(judged, reported);
    await flagForAttention(claimedNo, judged, reported && { expected: amount, reported });
    return fail(judged);
  }
  return refuse(judged);
}

interface Claimed {
  claimedNo: string | undefined;
  /** Whether it was sealed under a key of ours, so that only the company can have sent it. */
  isSealed: boolean;
}

// A malformed callback is still stored with the payment it names.
async function claimedNumber(channel: Channel, fields: Record<string, unknown>): Promise<Claimed> {
  const named = channel.nameOf?.(fields, await configsOfType(channel.type));
  const { out_trade_no = named } = fields;
  if (typeof out_trade_no !== 'string' || paymentPeriod(out_trade_no) === undefined)
    return { claimedNo: undefined, isSealed: false };
  return { claimedNo: out_trade_no, isSealed: out_trade_no === named };
}
