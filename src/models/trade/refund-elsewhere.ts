// Refunds that were made elsewhere, at the company itself: until a person has looked, nothing more of the payment is
// refunded here.
import type { Transaction } from 'sequelize';
import type { RefundClaim } from '../../lib/channels/channel.js';
import { channelOf } from '../../lib/channels/index.js';
import { change, select, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { announce } from '../../lib/redis/changes.js';
import { now, skewMs } from '../../lib/values/clock.js';
import type { Text } from '../../lib/values/language.js';
import { paymentKey, refundPeriod } from '../../lib/values/numbers.js';
import { columnsOf, computed, selection } from '../tables/selection.js';
import { Refund } from './channel-tables.js';
import { flagWithin, isRefundedElsewhere } from './payment-attention.js';
import { PaymentCallback } from './tables.js';

/** Why a refund is not sent. */
export const heldBack: Text = {
  zh: '渠道报告了本服务没有发起的退款，处理该支付的提醒后再发送',
  en: 'held back until somebody has looked at the refund that was not made here',
};

/** Concurrent refunds of the payment wait until the transaction ends, and so does what would flag it. */
export async function lockPayment(paymentNo: string, t: Transaction): Promise<void> {
  await select(
    'SELECT p.id FROM payments p WHERE p.payment_no = :payment_no AND p.period = :period FOR UPDATE',
    paymentKey(paymentNo),
    t,
  );
}

/** Locks the payment, so that what is flagged meanwhile counts. @throws payment_refunded_elsewhere */
export async function assertNoneElsewhere(paymentNo: string, t: Transaction): Promise<void> {
  await lockPayment(paymentNo, t);
  if (await isRefundedElsewhere(paymentNo, t)) fail('payment_refunded_elsewhere');
}

/**
 * Flags a payment when its company reports a refund that was not made here. About one of ours the company is asked.
 *
 * @param arrivedAt when the notice arrived, before it was stored
 */
export async function noteRefund(paymentNo: string, claim: RefundClaim, arrivedAt: Date): Promise<void> {
  const note = async (t: Transaction): Promise<void> => {
    // As everywhere, the refund is locked before its payment.
    const isOurs = await askRefundSoon(paymentNo, claim, t);
    if (claim.hasFailed) return;
    await lockPayment(paymentNo, t);
    const { refundNo } = claim;
    const isNews =
      refundNo !== undefined && !isOurs && !(await isSeen(paymentNo, { refundNo, before: arrivedAt }, t));
    if (isNews || (await isMoreThanOurs(paymentNo, true, t)))
      await flagWithin(paymentNo, 'refunded_elsewhere', t);
  };
  await transact(note);
  announce(['payments', 'refunds']);
}

/**
 * Flags a payment if no refund of ours explains what its company reported. Called once the company has denied a refund
 * that might have explained it.
 */
export async function noteUnexplained(paymentNo: string): Promise<void> {
  await transact(async (t) => {
    await lockPayment(paymentNo, t);
    if (await isMoreThanOurs(paymentNo, false, t)) await flagWithin(paymentNo, 'refunded_elsewhere', t);
  });
  announce(['payments']);
}

/**
 * Makes the named refund due, if it was made here.
 *
 * @returns whether it was; a failed one has refunded nothing
 */
async function askRefundSoon(
  paymentNo: string,
  { refundNo, hasFailed = false }: RefundClaim,
  t: Transaction,
): Promise<boolean> {
  if (refundNo === undefined) return askUnanswered(paymentNo, t);
  const period = refundPeriod(refundNo);
  if (period === undefined) return false;
  const of = { paymentNo, refundNo, period };
  const here = `r.refund_no = :refundNo AND r.period = :period AND r.payment_no = :paymentNo AND r.destination = 'channel'`;
  const due = await change(
    `UPDATE refunds r SET r.due_at = :at, r.accepted_at = IF(:hasFailed, r.accepted_at, COALESCE(r.accepted_at, :at))
     WHERE ${here} AND r.status IN ('pending', 'processing')`,
    { ...of, hasFailed, at: now() },
    t,
  );
  if (due > 0) return true;
  return (await refunds.first(`WHERE ${here} AND r.status = 'succeeded'`, of, { t })) !== undefined;
}

// A refund without a number may be one of those whose answer was lost.
async function askUnanswered(paymentNo: string, t: Transaction): Promise<boolean> {
  const due = await change(
    `UPDATE refunds r SET r.due_at = :at WHERE r.payment_no = :payment_no AND r.period >= :period
       AND r.destination = 'channel' AND r.status = 'processing' AND r.accepted_at IS NULL`,
    { ...paymentKey(paymentNo), at: now() },
    t,
  );
  return due > 0;
}

/** Reports that are looked at; each may name the sum of all refunds until then. */
const maxReports = 200;

/** A stored notice about a refund. */
interface Report {
  refund: RefundClaim;
  /** When the company called. */
  at: Date;
  storedAt: Date;
  /** Stored before a person last cleared such a flag. */
  isSeen: boolean;
}

/** What the company reported of refunds, the latest first. */
async function reportsOf(paymentNo: string, t: Transaction): Promise<Report[]> {
  const of = paymentKey(paymentNo);
  const rows = await notices.rows(
    `WHERE c.payment_no = :payment_no AND c.period = :period AND c.verdict = 'noted'
     ORDER BY c.id DESC LIMIT ${maxReports}`,
    of,
    { t },
  );
  const seenAt = (await handlings.first('WHERE h.payment_no = :payment_no', of, { t }))?.at?.getTime() ?? 0;
  return rows.flatMap(({ type, body, created_at, settled_at }) => {
    const refund = refundIn(type, body);
    const storedAt = settled_at ?? created_at;
    return refund ? { refund, at: created_at, storedAt, isSeen: storedAt.getTime() <= seenAt } : [];
  });
}

/** Whether a person has seen an earlier report of the refund under that number. */
async function isSeen(
  paymentNo: string,
  { refundNo, before }: { refundNo: string; before: Date },
  t: Transaction,
): Promise<boolean> {
  const reports = await reportsOf(paymentNo, t);
  return reports.some(
    ({ refund, storedAt, isSeen }) =>
      isSeen && storedAt < before && refund.refundNo === refundNo && !refund.hasFailed,
  );
}

/**
 * Whether the company reported a higher sum of refunds than we had sent by then, beyond what a person has seen.
 *
 * @param isTrusting whether refunds count that were sent but not answered yet
 */
async function isMoreThanOurs(paymentNo: string, isTrusting: boolean, t: Transaction): Promise<boolean> {
  const reports = await reportsOf(paymentNo, t);
  const sent = await refunds.rows(
    `WHERE r.payment_no = :payment_no AND r.period >= :period AND r.destination = 'channel'
       AND r.status IN ('pending', 'processing', 'succeeded')`,
    paymentKey(paymentNo),
    { t },
  );
  const ours = sent.filter(
    ({ accepted_at, sent_at }) => accepted_at !== null || (isTrusting && sent_at !== null),
  );
  const excess = { seen: 0n, unseen: 0n };
  for (const { refund, at, isSeen } of reports) {
    if (!refund.total) continue;
    // The worker dates what it sends, the API what it receives. What is sent after a person has seen it
    // explains nothing.
    const until = at.getTime() + (isSeen ? 0 : skewMs);
    const explained = ours
      .filter(({ sent_at }) => sent_at === null || sent_at.getTime() <= until)
      .reduce((sum, { amount }) => sum + amount.cents, 0n);
    const when = isSeen ? 'seen' : 'unseen';
    if (refund.total.cents - explained > excess[when]) excess[when] = refund.total.cents - explained;
  }
  return excess.unseen > excess.seen;
}

function refundIn(type: string, body: unknown): RefundClaim | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  return channelOf(type)?.refundIn?.(body as Record<string, unknown>);
}

const refunds = selection(columnsOf(Refund, 'r', 'amount', 'sent_at', 'accepted_at'), 'refunds r');
const notices = selection(
  columnsOf(PaymentCallback, 'c', 'type', 'body', 'created_at', 'settled_at'),
  'payment_callbacks c',
);
const handlings = selection(
  { at: computed<Date | null>(`MAX(IF(h.reason = 'refunded_elsewhere', h.created_at, NULL))`) },
  'payment_handlings h',
);
