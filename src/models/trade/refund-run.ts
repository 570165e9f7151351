// One run of a refund: claims it, sends it or asks what became of it, and books the answer. Runs are repeated until it
// ends.
import type { Transaction } from 'sequelize';
import {
  ChannelFailure,
  type ChannelRefunds,
  type RefundAnswer,
  type RefundOrder,
} from '../../lib/channels/channel.js';
import { channelOf, hasOpenResults } from '../../lib/channels/index.js';
import { readable } from '../../lib/channels/answer-reasons.js';
import { now } from '../../lib/values/clock.js';
import { change, transact } from '../../lib/database/db.js';
import { AppError } from '../../lib/errors/app-error.js';
import { inBoth, type Text } from '../../lib/values/language.js';
import { announce } from '../../lib/redis/changes.js';
import { logger } from '../../lib/watch/logger.js';
import { measured } from '../../lib/watch/metrics.js';
import { getPayment } from './payment.js';
import { configOfMethod } from './payment-method.js';
import { isRefundedElsewhere } from './payment-attention.js';
import { flagRefund, notifyRefund } from './refund-attention.js';
import { bookSuccess, release } from './refund-booking.js';
import { heldBack, noteUnexplained } from './refund-elsewhere.js';
import { claimRefund, nextAsk, type ClaimedRefund } from './refund-schedule.js';

interface RefundRun {
  /** Why nothing was learned. */
  unknown?: Text;
}

const notOpen: Text = { zh: '该支付渠道的退款尚未开放', en: 'refunds of this channel are not open' };

/**
 * Claims a refund that is due, asks its channel and books the answer. Repeating it, even concurrently, refunds once.
 *
 * @returns undefined when it was not due
 */
export async function runRefund(refundNo: string, signal: AbortSignal): Promise<RefundRun | undefined> {
  const refund = await claimRefund(refundNo);
  if (!refund) return undefined;
  try {
    const answer = await askRefund(refund, signal);
    await book(refund, answer);
    return {};
  } catch (error) {
    const unknown = reasonOf(error);
    if (!unknown) throw error;
    logger.info({ error, refund_no: refundNo }, 'a channel did not say what became of a refund');
    await postponeRefund(refund, {}, unknown);
    return { unknown };
  }
}

/** Why nothing was learned; undefined for errors of this service. */
function reasonOf(error: unknown): Text | undefined {
  if (error instanceof ChannelFailure)
    return { zh: readable(error.text('zh-CN')), en: readable(error.text('en-US')) };
  // Secrets that do not open.
  if (error instanceof AppError && error.slug === 'payment_secret_unreadable')
    return { zh: error.text('zh-CN'), en: error.text('en-US') };
  return undefined;
}

/** An answer, and whether `failed` is final. */
interface Learned {
  answer: RefundAnswer;
  isFinal: boolean;
}

// A refund that was sent before is queried first. A refusal is final once a query confirms it: an earlier request may
// have arrived.
async function askRefund(refund: ClaimedRefund, signal: AbortSignal): Promise<Learned> {
  const [refunds, order] = [refundsOfType(refund.type), await orderOf(refund)];
  if (!refund.isFirst) {
    const answer = await measured(refund.type, 'query-refund', () => refunds.query(order, signal));
    if (answer.state !== 'absent') return { answer, isFinal: true };
    // Why it was refused, not what the query calls a refund that it does not know.
    if (refund.is_refused)
      return { answer: { state: 'failed', code: refund.code ?? answer.code }, isFinal: true };
    await noteUnexplained(refund.payment_no);
  }
  if (await isRefundedElsewhere(refund.payment_no)) throw new ChannelFailure(heldBack);
  // A process that was halted may find that later runs have ended the refund and released its amount.
  if (!refund.due_at || refund.due_at <= now())
    throw new Error('the run was halted past the end of its lease');
  const answer = await measured(refund.type, 'refund', () => refunds.send(order, signal));
  return { answer, isFinal: false };
}

function refundsOfType(type: string): ChannelRefunds {
  const channel = channelOf(type);
  if (!channel?.refunds || !hasOpenResults(channel)) throw new ChannelFailure(notOpen);
  return channel.refunds;
}

async function orderOf(refund: ClaimedRefund): Promise<RefundOrder> {
  const { refund_no, payment_no, amount: refunded, reason, payment_method_id } = refund;
  const [config, { amount, third_party_no }] = await Promise.all([
    configOfMethod(payment_method_id),
    getPayment(payment_no),
  ]);
  const payment = { paymentNo: payment_no, amount, thirdPartyNo: third_party_no ?? '', config };
  return { ...payment, refundNo: refund_no, refund: refunded, reason };
}

async function book(refund: ClaimedRefund, { answer, isFinal }: Learned): Promise<void> {
  const { state, amount, at = null, code, channelNo = null } = answer;
  const final = { at, code: code.slice(0, 50), channelNo };
  const isOther = amount !== undefined && !amount.equals(refund.amount);
  if (state === 'succeeded' && !isOther) {
    await transact((t) => bookSuccess(refund, final, t));
    announce(['refunds', 'payments']);
  } else if (state === 'failed' && isFinal) {
    await transact((t) => end(refund, final, t));
    announce(['refunds', 'payments']);
  } else {
    const isKnown = state === 'succeeded' || state === 'processing' || state === 'stuck';
    const isStuck = state === 'succeeded' || state === 'stuck';
    await postponeRefund(refund, { ...final, isKnown, isStuck, isRefused: state === 'failed' });
  }
}

/** The channel refused it for good, and a query confirms that. */
async function end(refund: ClaimedRefund, { code }: { code: string }, t: Transaction): Promise<void> {
  const ending = { from: 'processing', to: 'failed', reason: 'refund_failed', code, by: null } as const;
  if (await release(refund, ending, t)) await notifyRefund(refund.refund_no, 'refund_failed', t);
}

/** What is stored of an answer that is not final. */
interface Interim {
  code?: string;
  channelNo?: string | null;
  at?: Date | null;
  isKnown?: boolean;
  isStuck?: boolean;
  isRefused?: boolean;
}

/**
 * Stores what was learned and when the channel is asked next. A refund that was made due meanwhile stays due.
 *
 * @param unknown why nothing was learned
 */
async function postponeRefund(refund: ClaimedRefund, interim: Interim, unknown?: Text): Promise<void> {
  const { refund_no, period, due_at: lease } = refund;
  const { code = null, channelNo = null, at, isKnown = false, isStuck = false, isRefused } = interim;
  const { due, isSlow } = nextAsk(refund, { isStuck, isAccepted: isKnown || refund.accepted_at !== null });
  const reason = unknown && shortened(unknown);
  await transact(async (t) => {
    await change(
      `UPDATE refunds r SET r.due_at = IF(r.due_at = :lease, :due, r.due_at), r.code = COALESCE(:code, r.code),
         r.channel_refund_no = COALESCE(:channelNo, r.channel_refund_no),
         r.accepted_at = IF(:isKnown, COALESCE(r.accepted_at, :at), r.accepted_at),
         r.is_refused = COALESCE(:isRefused, r.is_refused),
         r.fail_reason = IF(r.fail_reason IN ('refund_stuck', 'refund_slow'), r.fail_reason, :unknown),
         r.updated_at = :now
       WHERE r.refund_no = :refund_no AND r.period = :period AND r.status = 'processing'`,
      {
        refund_no,
        period,
        lease,
        due,
        code,
        channelNo,
        isKnown,
        at: at ?? now(),
        now: now(),
        isRefused: isRefused ?? null,
        unknown: reason ?? null,
      },
      t,
    );
    if (isStuck) await flagRefund(refund, 'refund_stuck', t);
    else if (isSlow) await flagRefund(refund, 'refund_slow', t, reason);
  });
  announce(['refunds']);
}

// A text of the company is the same in both languages.
const shortened = (reason: Text): string =>
  (reason.zh === reason.en ? reason.zh : inBoth(reason)).slice(0, 255);
