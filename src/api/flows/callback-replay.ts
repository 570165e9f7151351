// Replays a stored callback: verification and settlement once more.
import { channelOf } from '../../lib/channels/index.js';
import { currentTraceId } from '../../lib/context.js';
import { fail } from '../../lib/errors.js';
import { findCalledPayment, type CalledPayment } from '../../models/trade/callback-intake.js';
import { storedCallback, type StoredCallback } from '../../models/trade/payment-callback.js';
import type { Settlement } from '../../models/trade/payment-attempt.js';
import { isPaidBy, judge, acceptCallback } from './callback-judgement.js';
import { settleAccepted, type Accepted } from './callback-settlement.js';

/** What a replay came to: as settling says it, or `processing` when it takes longer. */
export const replayOutcomes = [
  'paid',
  'already_paid',
  'paid_needs_attention',
  'paid_twice',
  'processing',
] as const;

export type ReplayOutcome = Exclude<Settlement, 'payment_third_party_no_used' | 'gone'> | 'processing';

/**
 * Settles a stored callback. One that was refused is verified again, against the configuration of now; one that was
 * verified when it came stays so. However often and by however many it is replayed, it pays once.
 *
 * @param deadline milliseconds since 1970
 * @throws payment_record_not_found, payment_callback_not_found, payment_callback_not_whole, and what the public callback
 * refuses
 */
export async function replayCallback(
  paymentNo: string,
  id: number,
  deadline: number,
): Promise<ReplayOutcome> {
  const payment = (await findCalledPayment(paymentNo)) ?? fail('payment_record_not_found');
  const stored = await storedCallback(paymentNo, id);
  const accepted =
    stored.state === 'refused' ? await believedAgain(stored, payment) : waiting(stored, payment);
  const settlement = await settleAccepted(accepted, deadline);
  if (settlement === 'payment_third_party_no_used') fail(settlement);
  return settlement === undefined || settlement === 'gone' ? 'processing' : settlement;
}

function waiting(stored: StoredCallback, { orderNo }: CalledPayment): Accepted {
  const { id, period, payment_no } = stored;
  const callback = stored.state === 'pending' ? { id, period } : undefined;
  return { paymentNo: payment_no, orderNo, callback };
}

// What was refused stays in the inbox as it is. What is taken in now counts from when it came: the order may have expired
// since.
async function believedAgain(stored: StoredCallback, payment: CalledPayment): Promise<Accepted> {
  const { type, period, ip, fields, verdict, created_at } = stored;
  const channel = channelOf(type) ?? fail('invalid_payment_type');
  if (!fields) fail(verdict === 'payment_third_party_no_used' ? verdict : 'payment_callback_not_whole');
  const judged = judge(channel, { fields, notification: channel.read?.(fields), payment });
  if (typeof judged === 'string') fail(judged);
  if (isPaidBy(judged)) return waiting(stored, payment);
  const traceId = currentTraceId() ?? '';
  const attempt = { type, period, fields, ip, traceId, receivedAt: created_at };
  return (await acceptCallback(judged, attempt)) ?? fail('payment_third_party_no_used');
}
