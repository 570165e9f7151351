// Replays a stored callback: verification and settlement once more.
import { channelOf } from '../../lib/channels/index.js';
import { currentTraceId } from '../../lib/process/context.js';
import { fail } from '../../lib/errors/app-error.js';
import { findCalledPayment, type CalledPayment } from '../../models/trade/callback-intake.js';
import {
  storedCallback,
  type CallbackKey,
  type StoredCallback,
} from '../../models/trade/payment-callback.js';
import { acceptCallback, isPaidBy, judge, noted, readClaim, settleAccepted } from './callback.js';

/** Outcome of a replay: that of settling, `processing` when it takes longer, `noted` when it reports no money. */
export const replayOutcomes = [
  'paid',
  'already_paid',
  'paid_needs_attention',
  'paid_twice',
  'processing',
  noted,
] as const;

type ReplayOutcome = (typeof replayOutcomes)[number];

/**
 * Settles a stored callback. A refused one is first verified again, under the current configuration. However often it
 * is replayed, it pays once.
 *
 * @param deadline milliseconds of performance.now()
 * @throws payment_record_not_found, payment_callback_not_found, payment_callback_not_whole, and the refusals of the
 * public callback
 */
export async function replayCallback(
  paymentNo: string,
  id: number,
  deadline: number,
): Promise<ReplayOutcome> {
  const payment = (await findCalledPayment(paymentNo)) ?? fail('payment_record_not_found');
  const stored = await storedCallback(paymentNo, id);
  if (stored.verdict === noted) return noted;
  if (stored.state === 'settled') return 'already_paid';
  const { period, state } = stored;
  const accepted = state === 'refused' ? await verifyAgain(stored, payment, deadline) : { id, period };
  return accepted === noted ? noted : settleAccepted(accepted, deadline);
}

// The refused entry stays in the inbox. The accepted one is dated by its first arrival: its order may have expired
// since.
async function verifyAgain(
  stored: StoredCallback,
  payment: CalledPayment,
  deadline: number,
): Promise<CallbackKey | typeof noted | undefined> {
  const { type, period, ip, arrived, verdict, created_at } = stored;
  const channel = channelOf(type) ?? fail('invalid_payment_type');
  if (!arrived) fail(verdict === 'payment_third_party_no_used' ? verdict : 'payment_callback_not_whole');
  const claim = await readClaim(channel, arrived);
  // Under the current keys it may name another payment than the one it was stored with.
  if (claim && claim.paymentNo !== stored.payment_no) fail('payment_not_found');
  const signal = AbortSignal.timeout(Math.floor(Math.max(0, deadline - performance.now()) / 2));
  const judged = await judge(channel, { callback: arrived, claim, payment }, signal);
  if (typeof judged === 'string') fail(judged);
  if (isPaidBy(judged)) return undefined;
  const attempt = { type, period, arrived, ip, trace_id: currentTraceId() ?? '', created_at };
  const accepted = await acceptCallback(judged, attempt);
  return judged.claim.says === 'other' ? noted : accepted;
}
