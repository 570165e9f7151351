// Places payments with the channel of their method.
import { config } from '../../../config/index.js';
import { ChannelFailure, NotTaken, type Channel } from '../../lib/channels/channel.js';
import {
  channelOf,
  defaultNotifyUrl,
  isEnabled,
  missingKeys,
  openResults,
} from '../../lib/channels/index.js';
import { readable } from '../../lib/channels/answer-reasons.js';
import { now } from '../../lib/values/clock.js';
import { currentLanguage } from '../../lib/process/context.js';
import { AppError, fail } from '../../lib/errors/app-error.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { logger } from '../../lib/watch/logger.js';
import { measured } from '../../lib/watch/metrics.js';
import { assertFitsChannel, recordPlacement, payablePayment } from '../../models/trade/payment-placement.js';
import { askPaymentNow } from '../../models/trade/channel-asking.js';
import { follow, unfollow } from '../../models/trade/payment-follow-up.js';
import { getPayment, type PaymentRecord } from '../../models/trade/payment.js';
import { configOfMethod, getMethod } from '../../models/trade/payment-method.js';

/** What placing a payment may be refused with. */
export const placingRefusals: ErrorSlug[] = [
  'order_being_paid',
  'order_expires_too_soon',
  'order_not_payable',
  'payment_beyond_channel',
  'payment_gateway_disabled',
  'payment_gateway_not_implemented',
  'payment_method_disabled',
  'payment_method_incomplete',
  'payment_method_not_found',
  'payment_method_unknown',
  'payment_record_not_found',
  'payment_secret_unreadable',
  'third_party_error',
];

/**
 * The channel of a method, checked before the payment is created, so that a channel that cannot place leaves nothing
 * behind.
 *
 * @throws payment_method_unknown, payment_method_disabled, payment_gateway_disabled, payment_gateway_not_implemented;
 * payment_method_incomplete when its results could not be verified
 */
export async function placingChannel(methodId: number): Promise<Channel> {
  const {
    type,
    is_active,
    config: shown,
  } = await getMethod(methodId).catch((error: unknown) => {
    if (error instanceof AppError) fail('payment_method_unknown', { field: 'payment_method_id' });
    throw error;
  });
  if (!is_active) fail('payment_method_disabled');
  if (!isEnabled(type)) fail('payment_gateway_disabled');
  const channel = channelOf(type);
  if (!channel?.place) return fail('payment_gateway_not_implemented');
  const missing = missingKeys(channel, shown);
  if (missing.length > 0) fail('payment_method_incomplete', { params: { keys: missing.join(', ') } });
  return channel;
}

/**
 * Places a pending payment. If that fails, it stays pending, with the reason, and may be placed again.
 *
 * @returns the payment with what the client needs to continue, as the channel states it, and the type of the channel
 * @throws order_not_payable, order_being_paid unless payment and order are pending; what `assertFitsChannel` throws;
 * third_party_error with the reason
 */
export async function placePayment(
  channel: Channel,
  payment: PaymentRecord,
): Promise<PaymentRecord & { gateway: unknown }> {
  const { payment_no, order_no, amount } = payment;
  // Secrets that do not open leave no follow-up behind.
  const [payable] = await Promise.all([
    payablePayment(payment_no, order_no),
    configOfMethod(payment.payment_method_id),
  ]);
  assertFitsChannel(channel, payable);
  const until = expiryForChannel(channel, payable.expireAt);
  // The row comes before the call: whatever happens to the call, the company will be asked.
  const followed = openResults(channel) ? await follow(payment_no, channel.type, until) : undefined;
  const expireAt = followed ? followed.expireAt : until;
  // A payment that is placed again has its first expiry, which may have passed.
  assertFitsChannel(channel, { ...payable, expireAt });
  // Read anew: from here on the account of the method stays.
  const methodConfig = await configOfMethod(payment.payment_method_id);
  const notifyUrl = methodConfig.notify_url ?? defaultNotifyUrl(channel.type);
  const placement = { paymentNo: payment_no, orderNo: order_no, amount, expireAt, notifyUrl };
  try {
    const signal = AbortSignal.timeout(config.payments.gatewayTimeoutMs);
    const gateway = await measured(channel.type, 'place', async () =>
      channel.place?.({ ...placement, config: methodConfig }, signal),
    );
    const wasRefused = payment.fail_reason !== null;
    if (wasRefused) await recordPlacement(payment_no, null);
    // It may have been paid while the channel was asked.
    if (!channel.answersLocally) await payablePayment(payment_no, order_no);
    const placed = wasRefused ? await getPayment(payment_no) : payment;
    return { ...placed, gateway: { type: channel.type, ...gateway } };
  } catch (error) {
    if (!(error instanceof ChannelFailure)) throw error;
    logger.warn({ error, payment_no, type: channel.type }, 'a channel refused a payment');
    if (followed && error instanceof NotTaken) await unfollow(payment_no, followed);
    await recordPlacement(payment_no, readable(error.message));
    const reason = readable(error.text(currentLanguage()));
    return fail('third_party_error', { params: { reason }, cause: error });
  }
}

/**
 * Asks the company of a payment now, and settles its answer.
 *
 * @throws third_party_error with the reason when nothing was learned
 */
export async function queryPayment({ payment_no }: PaymentRecord): Promise<PaymentRecord> {
  await askPaymentNow(payment_no).catch((error: unknown) => {
    if (!(error instanceof ChannelFailure)) throw error;
    fail('third_party_error', { params: { reason: readable(error.text(currentLanguage())) }, cause: error });
  });
  return getPayment(payment_no);
}

function expiryForChannel({ placingLimits }: Channel, expireAt: Date | null): Date | null {
  const { maxMs = Infinity } = placingLimits ?? {};
  return expireAt && expireAt.getTime() <= now().getTime() + maxMs ? expireAt : null;
}
