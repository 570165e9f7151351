// Settles a stored callback and waits for the verdict: through the worker, or in this process while the queue is unavailable.
import { config } from '../../../config/index.js';
import { logger } from '../../lib/logger.js';
import { QueueUnavailable } from '../../lib/queue/queue.js';
import { settlementSeconds } from '../../lib/watch/metrics.js';
import { withTimeout } from '../../lib/with-timeout.js';
import { settlePayment } from '../../jobs/settle-payment.js';
import { verdictOf, type CallbackKey } from '../../models/trade/payment-callback.js';
import { settleRepeats, type Settlement, type Unsettled } from '../../models/trade/payment-attempt.js';
import { settle } from '../../models/trade/payment-settlement.js';

/** A stored callback is acknowledged this long before the deadline, settled or not. */
const answerMs = 100;
/** Time for the last read of an attempt whose result was not published. */
const lastReadMs = 200;

/** A verified callback in the inbox. */
export interface Accepted {
  paymentNo: string;
  orderNo: string;
  thirdPartyNo: string;
  /** Undefined when the payment was paid before and there is nothing to settle. */
  callback: CallbackKey | undefined;
}

interface Settling {
  result: Promise<Settlement | undefined>;
  repeats: number;
}

const settling = new Map<string, Settling>();

/**
 * What settling a callback comes to. Repeats that come in while the first one is being settled wait for it instead of
 * queueing a job each.
 *
 * @param deadline milliseconds since 1970 at which the provider must have its answer
 * @returns undefined when it is not settled in time; the sweeper will finish it
 */
export async function settleAccepted(accepted: Accepted, deadline: number): Promise<Settlement | undefined> {
  const { paymentNo, thirdPartyNo, callback } = accepted;
  if (!callback) return 'already_paid';
  const name = `${paymentNo} ${thirdPartyNo}`;
  const first = settling.get(name);
  if (first) {
    first.repeats++;
    return first.result;
  }
  const named = { ...callback, payment_no: paymentNo, order_no: accepted.orderNo };
  const result = timed(settled(named, deadline));
  const own: Settling = { result, repeats: 0 };
  settling.set(name, own);
  try {
    return await result;
  } finally {
    settling.delete(name);
    if (own.repeats > 0) await unlessLate(settleRepeats(paymentNo, thirdPartyNo), deadline);
  }
}

async function timed(result: Promise<Settlement | undefined>): Promise<Settlement | undefined> {
  const stop = settlementSeconds.startTimer();
  const verdict = await result;
  stop({ verdict: verdict ?? 'processing' });
  return verdict;
}

// The worker settles; while the queue is unavailable this process does. What is not settled in time, the sweeper finishes.
async function settled(callback: Unsettled, deadline: number): Promise<Settlement | undefined> {
  const waitMs = Math.min(config.payments.callbackWaitMs, deadline - answerMs - lastReadMs - Date.now());
  try {
    const result = await settlePayment.enqueueAndWait(callback, Math.max(0, waitMs));
    return result ?? (await unlessLate(settledMeanwhile(callback), deadline));
  } catch (error) {
    if (!(error instanceof QueueUnavailable)) throw error;
  }
  return unlessLate(settle(callback), deadline);
}

async function settledMeanwhile(callback: CallbackKey): Promise<Settlement | undefined> {
  const found = await verdictOf(callback);
  return found && found.state !== 'pending' ? (found.verdict as Settlement) : undefined;
}

// The attempt is stored, so neither being late nor failing is a reason to ask the provider again.
function unlessLate<T>(result: Promise<T>, deadline: number): Promise<T | undefined> {
  const sure = result.catch((error: unknown) => {
    logger.warn({ error }, 'settling a callback failed; the sweeper will retry');
    return undefined;
  });
  return withTimeout(sure, deadline - answerMs - Date.now(), (resolve) => resolve(undefined));
}
