// Asks a company what became of a payment. Only its signed answer moves money, as a callback does.
import { config } from '../../../config/index.js';
import { ChannelFailure, type TradeAnswer } from '../../lib/channels/channel.js';
import { channelOf, openResults } from '../../lib/channels/index.js';
import { fail } from '../../lib/errors/app-error.js';
import { now } from '../../lib/values/clock.js';
import { currentTraceId } from '../../lib/process/context.js';
import { change } from '../../lib/database/db.js';
import { logger } from '../../lib/watch/logger.js';
import { announce } from '../../lib/redis/changes.js';
import { measured } from '../../lib/watch/metrics.js';
import { findCalledPayment, recordAttempt, recordVerified, type CalledPayment } from './callback-intake.js';
import { expireOrder } from './order.js';
import { flagForAttention } from './payment-attention.js';
import { hasUnverified } from './payment-callback.js';
import {
  absentMs,
  claimFollowUp,
  endFollowUp,
  followUpOf,
  lastEnded,
  postponeFollowUp,
  recordQuestion,
  releaseOrder,
  type FollowUp,
} from './payment-follow-up.js';
import { settle } from './payment-settlement.js';

/** not_due: another run has claimed it; unanswered: there was no valid answer. */
type AskingOutcome = TradeAnswer['state'] | 'not_due' | 'unanswered';

/**
 * Asks about a payment that is due, and closes it at its company if that was requested.
 *
 * @param signal aborts the question; the payment is asked about again when its claim is over
 */
export async function askDuePayment(paymentNo: string, signal: AbortSignal): Promise<AskingOutcome> {
  const followUp = await claimFollowUp(paymentNo);
  if (!followUp) return 'not_due';
  try {
    // What nobody has paid by its expiry is closed, so that the company gives a final answer.
    const isClosing = followUp.closing_at !== null || followUp.expire_at <= now();
    const { state, code, isOver } = await askAndApply(paymentNo, followUp, isClosing, signal);
    if (!isOver) await askLater(paymentNo, followUp, code);
    return state;
  } catch (error) {
    if (!(error instanceof ChannelFailure) || signal.aborted) throw error;
    logger.info({ error, payment_no: paymentNo }, 'a channel did not say what became of a payment');
    await flagUnverified(paymentNo, followUp);
    await askLater(paymentNo, followUp, null);
    return 'unanswered';
  }
}

/**
 * Asks about any payment, due or not, without closing it or changing when it is asked about next.
 *
 * @throws ChannelFailure when it did not say
 */
export async function askPaymentNow(paymentNo: string): Promise<TradeAnswer['state']> {
  const followUp = await followUpOf(paymentNo);
  let answer: string | null = null;
  try {
    const inTime = AbortSignal.timeout(config.payments.gatewayTimeoutMs);
    const { state, code } = await askAndApply(paymentNo, followUp, false, inTime);
    answer = code;
    return state;
  } catch (error) {
    if (followUp && error instanceof ChannelFailure) await flagUnverified(paymentNo, followUp);
    throw error;
  } finally {
    await recordQuestion(paymentNo, answer);
  }
}

// The wrong key that refuses a callback refuses the answer, too.
async function flagUnverified(paymentNo: string, followUp: FollowUp): Promise<void> {
  if (await hasUnverified(paymentNo, lastEnded(followUp)))
    await flagForAttention(paymentNo, 'notice_unverified');
}

interface Asked {
  state: TradeAnswer['state'];
  /** The state in the company's terms; null if it was not asked. */
  code: string | null;
  /** Whether it need not be asked again. */
  isOver: boolean;
}

async function askAndApply(
  paymentNo: string,
  followUp: FollowUp | undefined,
  isClosing: boolean,
  signal: AbortSignal,
): Promise<Asked> {
  const payment = (await findCalledPayment(paymentNo)) ?? fail('payment_record_not_found');
  if (payment.status === 'paid') {
    await endFollowUp(paymentNo);
    return { state: 'paid', code: null, isOver: true };
  }
  const answer = await queryOrClose(payment, isClosing, signal);
  const { state, code } = answer;
  // Nothing of an unpaid payment is refunded here. Flagged first: once it is booked, it could be refunded once more.
  if (answer.isRefunded) await flagForAttention(paymentNo, 'refunded_elsewhere');
  if (state === 'paid') await acceptAnswer(payment, answer);
  const isOver = isFinal(answer, followUp);
  if (isOver) await conclude(payment, answer, followUp);
  // After the expiry sent to it the company takes no payment: the company is asked again, but the order need not wait.
  if (state === 'absent' && !isOver && followUp?.closing_at && followUp.expire_at <= now()) {
    await releaseOrder(paymentNo);
    await expireOrder(payment.order_no);
  }
  return { state, code, isOver };
}

const closedResults = {
  zh: '该渠道的结果没有开放，或支付方式的密钥无法读取',
  en: 'the results of this channel are not open, or the keys of the method cannot be read',
};

/** @throws ChannelFailure */
async function queryOrClose(
  { payment_no: paymentNo, type, amount, config: keys }: CalledPayment,
  isClosing: boolean,
  signal: AbortSignal,
): Promise<TradeAnswer> {
  const results = openResults(channelOf(type));
  if (!results || !keys) throw new ChannelFailure(closedResults);
  const payment = { paymentNo, amount, config: keys };
  const query = () => measured(type, 'query', () => results.query(payment, signal));
  const answer = await query();
  if (answer.state !== 'waiting' || !isClosing) return answer;
  const end = await measured(type, 'close', () => results.close(payment, signal));
  // Unless the closing is proven, it may have been paid in between.
  return end === 'closed' ? { ...answer, state: 'closed', code: 'CLOSED' } : query();
}

const incomplete = {
  zh: '渠道确认已支付，但没有说明交易号或金额',
  en: 'the channel says that it is paid, but gives no transaction number or amount',
};

/** Books a payment that the company says is paid. @throws ChannelFailure */
async function acceptAnswer(
  { payment_no, period, type, amount: expected }: CalledPayment,
  { thirdPartyNo: third_party_no, amount, paidAt, fields }: TradeAnswer,
): Promise<void> {
  if (third_party_no === undefined || amount === undefined) throw new ChannelFailure(incomplete);
  const attempt = {
    type,
    period,
    payment_no,
    third_party_no,
    fields,
    paid_at: paidAt,
    ip: '',
    source: 'query' as const,
    trace_id: currentTraceId() ?? '',
  };
  if (!amount.equals(expected)) {
    const verdict = 'payment_amount_mismatch';
    await recordAttempt({ ...attempt, state: 'refused', verdict, reported_amount: amount });
    return flagForAttention(payment_no, verdict, { expected, reported: amount });
  }
  const callback = await recordVerified(attempt);
  // Undefined: its number belongs to another payment, and this one is flagged.
  if (callback) await settle(callback);
}

function isFinal({ state }: TradeAnswer, followUp: FollowUp | undefined): boolean {
  // Many customers never open a placed payment; the company may not know it until then.
  if (state === 'absent')
    return followUp !== undefined && now().getTime() >= followUp.expire_at.getTime() + absentMs;
  return state !== 'waiting';
}

/** Ends a payment that is paid or can no longer be paid. */
async function conclude(
  { payment_no, period, order_no }: CalledPayment,
  { state, code }: TradeAnswer,
  followUp: FollowUp | undefined,
): Promise<void> {
  // A payment closed at our request stays pending until its order has expired.
  if (state !== 'paid' && !followUp?.closing_at) {
    const at = now();
    await change(
      `UPDATE payments p SET p.status = 'failed', p.fail_reason = IF(p.needs_attention, p.fail_reason, :code),
         p.closed_at = :at, p.updated_at = :at
       WHERE p.payment_no = :payment_no AND p.period = :period AND p.status = 'pending'`,
      { payment_no, period, code, at },
    );
    announce(['payments']);
  }
  await endFollowUp(payment_no);
  await expireOrder(order_no);
}

/** @param answer the company's answer; null for none */
async function askLater(paymentNo: string, followUp: FollowUp, answer: string | null): Promise<void> {
  if (followUp.until_at <= now()) {
    await flagForAttention(paymentNo, 'channel_unanswered');
    await endFollowUp(paymentNo);
    return;
  }
  await postponeFollowUp(followUp, paymentNo, answer);
}
