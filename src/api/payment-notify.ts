// {host}/api/payment/notify/{type}[/{tenant}]: the public callback of payment channels (contract.md §13).
import Joi from 'joi';
import type { Context } from 'koa';
import { config } from '../../config/index.js';
import type { Notification } from '../lib/channels/channel.js';
import { channelOf, isEnabled } from '../lib/channels/index.js';
import type { ErrorSlug } from '../lib/error-catalogue.js';
import { AppError, fail } from '../lib/errors.js';
import { logger } from '../lib/logger.js';
import { QueueUnavailable } from '../lib/queue.js';
import { settlePayment } from '../jobs/settle-payment.js';
import { flagForAttention } from '../models/payment-attention.js';
import {
  findCalledPayment,
  recordAttempt,
  verdictOf,
  type Attempt,
  type CallbackKey,
} from '../models/payment-callback.js';
import { settle, type Settlement } from '../models/payment-settlement.js';
import type { RequestState } from './request-state.js';
import { record, text } from './response.js';
import { route } from './route.js';

/** The whole answer takes at most this long; after it the provider is asked to try again. */
const deadlineMs = 2500;
const largestBody = 64 * 1024;

const shared = {
  method: 'POST',
  host: true,
  access: 'public',
  description: 'The body depends on the channel; for mock: `out_trade_no`, `trade_status`, `sign`.',
  body: Joi.object<Record<string, unknown>>().unknown(true),
  form: { maxBytes: largestBody },
  response: record({
    payment_no: text(),
    order_no: text(),
    status: Joi.string().valid('paid', 'processing').required(),
  }),
} as const;

export const routes = [
  route({
    ...shared,
    path: '/api/payment/notify/{type}',
    summary: 'Receive the result of a payment from its channel',
    params: Joi.object<{ type: string }, true>({ type: Joi.string().max(64).required() }),
    handle({ params, body }, ctx) {
      if (config.app.tenant) fail('tenant_required');
      return inTime(receive(params.type, body, ctx));
    },
  }),
  route({
    ...shared,
    path: '/api/payment/notify/{type}/{tenant}',
    summary: 'Receive the result of a payment in a multi-tenant deployment',
    params: Joi.object<{ type: string; tenant: string }, true>({
      type: Joi.string().max(64).required(),
      tenant: Joi.string().max(64).required(),
    }),
    handle({ params, body }, ctx) {
      if (!config.app.tenant) fail('route_not_found');
      if (params.tenant !== config.app.tenant) fail('tenant_not_found');
      return inTime(receive(params.type, body, ctx));
    },
  }),
];

interface Answer {
  payment_no: string;
  order_no: string;
  status: 'paid' | 'processing';
}

async function receive(type: string, fields: Record<string, unknown>, ctx: Context): Promise<Answer> {
  const channel = channelOf(type) ?? fail('invalid_payment_type');
  if (!isEnabled(type)) fail('payment_gateway_disabled');
  if (!channel.read || !channel.isAuthentic) fail('payment_gateway_not_implemented');
  const { ip, traceId } = ctx.state as RequestState;
  const keep = (
    attempt: Pick<Attempt, 'state' | 'verdict'>,
    notification?: Notification,
  ): Promise<CallbackKey> =>
    recordAttempt({
      type,
      fields,
      ip,
      traceId,
      ...attempt,
      paymentNo: undefined,
      thirdPartyNo: undefined,
      ...notification,
    });
  const refuse = async (slug: ErrorSlug, notification?: Notification): Promise<never> => {
    await keep({ state: 'refused', verdict: slug }, notification);
    return fail(slug);
  };

  const notification = channel.read(fields) ?? (await refuse('payment_notify_invalid'));
  const { paymentNo } = notification;
  const payment = await findCalledPayment(paymentNo);
  if (!payment || payment.methodType !== type) return refuse('payment_not_found', notification);
  const { amount, config: methodConfig } = payment;
  if (!channel.isAuthentic(fields, { paymentNo, amount, config: methodConfig })) {
    return refuse('payment_sign_invalid', notification);
  }
  if (notification.amount && !notification.amount.equals(amount)) {
    await flagForAttention(paymentNo, 'payment_amount_mismatch');
    return refuse('payment_amount_mismatch', notification);
  }
  const answer = { payment_no: paymentNo, order_no: payment.orderNo };
  if (payment.status === 'paid' && payment.thirdPartyNo === notification.thirdPartyNo) {
    await keep({ state: 'settled', verdict: 'already_paid' }, notification);
    return { ...answer, status: 'paid' };
  }
  const settlement = await settled(await keep({ state: 'pending', verdict: 'verified' }, notification));
  if (settlement === 'third_party_no_used') fail('third_party_no_used');
  return { ...answer, status: settlement ? 'paid' : 'processing' };
}

// The worker settles; while the queue is away this process does. What is not settled in time, the sweeper finishes.
async function settled(callback: CallbackKey): Promise<Settlement | undefined> {
  try {
    const result = await settlePayment.enqueueAndWait(callback, config.payments.callbackWaitMs);
    return (result as Settlement | undefined) ?? (await settledMeanwhile(callback));
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error;
  }
  return settle(callback).catch((error: unknown) => {
    logger.warn({ error, callback }, 'settling inline failed, the sweeper will try again');
    return undefined;
  });
}

async function settledMeanwhile(callback: CallbackKey): Promise<Settlement | undefined> {
  const found = await verdictOf(callback);
  return found && found.state !== 'pending' ? (found.verdict as Settlement) : undefined;
}

async function inTime(answer: Promise<Answer>): Promise<Answer> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new AppError('database_unavailable')), deadlineMs);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
