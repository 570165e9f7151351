// A callback on its way: verified, stored, settled. The same for a new one and a replayed one; a test is only verified.
import { config } from '../../../config/index.js';
import { settlePayment } from '../../jobs/settle-payment.js';
import {
  ChannelFailure,
  type CallbackClaim,
  type Channel,
  type RawCallback,
} from '../../lib/channels/channel.js';
import { hasOpenResults, isEnabled } from '../../lib/channels/index.js';
import { fail } from '../../lib/errors/app-error.js';
import type { ErrorSlug } from '../../lib/errors/catalogue.js';
import { withTimeout } from '../../lib/process/timers.js';
import { QueueUnavailable } from '../../lib/queue/queue.js';
import { now } from '../../lib/values/clock.js';
import { logger, throttled } from '../../lib/watch/logger.js';
import { settlementSeconds } from '../../lib/watch/metrics.js';
import {
  recordHarmless,
  recordVerified,
  type Attempt,
  type CalledPayment,
} from '../../models/trade/callback-intake.js';
import type { Settlement } from '../../models/trade/payment-attempt.js';
import { verdictOf, type CallbackKey } from '../../models/trade/payment-callback.js';
import { askPaymentSoon, followAnew } from '../../models/trade/payment-follow-up.js';
import { configsOfType } from '../../models/trade/payment-method.js';
import { settle } from '../../models/trade/payment-settlement.js';
import { noteRefund } from '../../models/trade/refund-elsewhere.js';

/** What a callback, new or replayed, may be refused for. */
export const callbackRefusals = [
  'invalid_payment_type',
  'payment_amount_mismatch',
  'payment_gateway_disabled',
  'payment_gateway_not_implemented',
  'payment_key_unavailable',
  'payment_merchant_mismatch',
  'payment_not_found',
  'payment_notify_invalid',
  'payment_secret_unreadable',
  'payment_sign_invalid',
  'payment_third_party_no_used',
] as const;

interface VerifiedCallback {
  claim: CallbackClaim;
  payment: CalledPayment;
}

/** A callback with what it claims, unverified. */
interface ReadCallback<P> {
  callback: RawCallback;
  /** What it claims; undefined when nothing can be read, or its channel takes no callbacks. */
  claim: CallbackClaim | undefined;
  /** The payment it names. */
  payment: P | undefined;
}

/** Verdict of a verified callback that reports no money. */
export const noted = 'noted';

/** What a callback claims, unverified. */
export async function readClaim(channel: Channel, callback: RawCallback): Promise<CallbackClaim | undefined> {
  if (!channel.read) return undefined;
  // Only companies seal callbacks, so only their channels need configurations to read one.
  return channel.read(callback, channel.results ? await configsOfType(channel.type) : []);
}

/**
 * Verifies a callback.
 *
 * @param signal ends the wait for a key of the company
 * @returns the slug of the refusal when it fails
 */
export async function judge<P extends Pick<CalledPayment, 'type' | 'amount' | 'config'>>(
  channel: Channel,
  { callback, claim, payment }: ReadCallback<P>,
  signal: AbortSignal,
): Promise<{ claim: CallbackClaim; payment: P } | ErrorSlug> {
  const { type } = channel;
  if (!isEnabled(type)) return 'payment_gateway_disabled';
  if (!channel.read || !channel.isAuthentic || !hasOpenResults(channel))
    return 'payment_gateway_not_implemented';
  if (!claim) return 'payment_notify_invalid';
  if (!payment || payment.type !== type) return 'payment_not_found';
  const { amount, config } = payment;
  if (!config) return 'payment_secret_unreadable';
  const { paymentNo } = claim;
  try {
    const authenticity = await channel.isAuthentic(callback, { paymentNo, amount, config }, signal);
    if (authenticity === 'forged') return 'payment_sign_invalid';
    if (authenticity === 'foreign') return 'payment_merchant_mismatch';
  } catch (error) {
    if (!(error instanceof ChannelFailure)) throw error;
    throttled(`key of ${type}`, (count) =>
      logger.warn({ error, payment_no: paymentNo, type, count }, 'a callback cannot be verified now'),
    );
    return 'payment_key_unavailable';
  }
  if (claim.says === 'paid' && claim.thirdPartyNo === undefined) return 'payment_notify_invalid';
  if (claim.amounts.some((given) => !given.equals(amount))) return 'payment_amount_mismatch';
  return { claim, payment };
}

/** Whether the payment was already paid by this callback. */
export const isPaidBy = ({ claim, payment }: VerifiedCallback): boolean =>
  payment.status === 'paid' && payment.third_party_no === claim.thirdPartyNo;

type Circumstances = Pick<Attempt, 'type' | 'period' | 'arrived' | 'ip' | 'trace_id' | 'created_at'>;

/**
 * Stores a verified callback.
 *
 * @returns what is to be settled; undefined when it reports no money, or its payment was paid before
 * @throws payment_third_party_no_used when its number belongs to another payment; this one is then flagged
 */
export async function acceptCallback(
  verified: VerifiedCallback,
  circumstances: Circumstances,
): Promise<CallbackKey | undefined> {
  const { says, thirdPartyNo: third_party_no, paidAt: paid_at, refund, signed, fields } = verified.claim;
  const { payment_no, type, status } = verified.payment;
  const attempt = { ...circumstances, payment_no, third_party_no, paid_at, fields };
  if (says === 'other' || third_party_no === undefined) {
    const arrivedAt = now();
    await recordHarmless({ ...attempt, verdict: noted }, signed);
    if (refund) await noteRefund(payment_no, refund, arrivedAt);
    // It may report a refund or a closing: the company is asked what became of the money, also when it had been given
    // up before.
    const isFollowed = await askPaymentSoon(payment_no);
    if (!isFollowed && status !== 'paid') await followAnew(payment_no, type);
    return undefined;
  }
  if (isPaidBy(verified)) {
    await recordHarmless({ ...attempt, verdict: 'already_paid' }, signed);
    return undefined;
  }
  const callback = await recordVerified({ ...attempt, third_party_no });
  return callback ?? fail('payment_third_party_no_used');
}

/** A stored callback is acknowledged this long before the deadline, settled or not. */
const answerMs = 100;
/** Time for the last read of an attempt whose result was not published. */
const lastReadMs = 200;

/** processing: not settled in time; the sweeper will finish it. */
type Outcome = 'processing' | Exclude<Settlement, 'gone' | 'payment_third_party_no_used'>;

/**
 * Settles an accepted callback.
 *
 * @param callback undefined when there is nothing to settle
 * @param deadline milliseconds of performance.now() by which the payment company must be answered
 * @throws payment_third_party_no_used
 */
export async function settleAccepted(callback: CallbackKey | undefined, deadline: number): Promise<Outcome> {
  if (!callback) return 'already_paid';
  const stop = settlementSeconds.startTimer();
  const verdict = await unlessLate(settled(callback, deadline), deadline);
  stop({ verdict: verdict ?? 'processing' });
  if (verdict === 'payment_third_party_no_used') fail(verdict);
  return verdict === undefined || verdict === 'gone' ? 'processing' : verdict;
}

async function settled(callback: CallbackKey, deadline: number): Promise<Settlement | undefined> {
  const waitMs = Math.min(
    config.payments.callbackWaitMs,
    deadline - answerMs - lastReadMs - performance.now(),
  );
  try {
    const result = await settlePayment.enqueueAndWait(callback, Math.max(0, waitMs));
    return result ?? (await settledMeanwhile(callback));
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error;
  }
  return settle(callback);
}

async function settledMeanwhile(callback: CallbackKey): Promise<Settlement | undefined> {
  const found = await verdictOf(callback);
  return found && found.state !== 'pending' ? (found.verdict as Settlement) : undefined;
}

// The attempt is stored, so neither being late nor failing is a reason to have the payment company send it again.
function unlessLate<T>(result: Promise<T>, deadline: number): Promise<T | undefined> {
  const sure = result.catch((error: unknown) => {
    logger.warn({ error }, 'settling a callback failed; the sweeper will retry');
    return undefined;
  });
  return withTimeout(sure, deadline - answerMs - performance.now(), (resolve) => resolve(undefined));
}
