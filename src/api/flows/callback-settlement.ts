// Settles a stored callback and waits for the verdict: by the worker, or in this process while the queue is
// unavailable.
import { config } from '../../../config/index.js';
import { logger } from '../../lib/watch/logger.js';
import { QueueUnavailable } from '../../lib/queue/queue.js';
import { settlementSeconds } from '../../lib/watch/metrics.js';
import { withTimeout } from '../../lib/process/timers.js';
import { settlePayment } from '../../jobs/settle-payment.js';
import { verdictOf, type CallbackKey } from '../../models/trade/payment-callback.js';
import type { Settlement } from '../../models/trade/payment-attempt.js';
import { settle } from '../../models/trade/payment-settlement.js';

/** A stored callback is acknowledged this long before the deadline, settled or not. */
const answerMs = 100;
/** Time for the last read of an attempt whose result was not published. */
const lastReadMs = 200;

/** A verified callback in the inbox. */
export interface Accepted {
  paymentNo: string;
  orderNo: string;
  /** Undefined when the payment was paid before and there is nothing to settle. */
  callback: CallbackKey | undefined;
}

/**
 * Outcome of settling a callback.
 *
 * @param deadline milliseconds of performance.now() by which the payment company must be answered
 * @returns undefined when it is not settled in time; the sweeper will finish it
 */
export async function settleAccepted(
  { callback }: Accepted,
  deadline: number,
): Promise<Settlement | undefined> {
  if (!callback) return 'already_paid';
  const stop = settlementSeconds.startTimer();
  const verdict = await unlessLate(settled(callback, deadline), deadline);
  stop({ verdict: verdict ?? 'processing' });
  return verdict;
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
