// When a refund is sent and queried: it is due, claimed for a run, and due again until it ends.
import type { Transaction } from 'sequelize';
import { channelOf } from '../../lib/channels/index.js';
import { now, skewMs } from '../../lib/values/clock.js';
import { change, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { inBoth } from '../../lib/values/language.js';
import { paymentKey } from '../../lib/values/numbers.js';
import { updateRows } from '../tables/rows.js';
import { columnsOf, computed, selection, type RowOf } from '../tables/selection.js';
import { isRefundedElsewhere } from './payment-attention.js';
import { heldBack, lockPayment } from './refund-elsewhere.js';
import { keyOfRefund } from './refund.js';
import { PaymentMethod } from './tables.js';
import { Refund } from './channel-tables.js';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Longer than a run takes. */
const leaseMs = 2 * minute;

/** Between two checks of one that is held back. */
const heldBackMs = 5 * minute;

/** Waits after the first runs. */
const firstWaits = [minute / 2, minute, 5 * minute, 10 * minute, 20 * minute, 30 * minute];

/** A refund that is not finished by then needs a person. */
const slowMs = 8 * day;

/** The same of one that the channel has not accepted: it may lack funds. */
const unacceptedMs = 4 * hour;

const claimed = {
  ...columnsOf(Refund, 'r', 'refund_no', 'period', 'payment_no', 'payment_method_id', 'amount', 'reason'),
  ...columnsOf(Refund, 'r', 'sent_at', 'accepted_at', 'tries', 'is_refused', 'code', 'due_at'),
  type: columnsOf(PaymentMethod, 'm', 'type').type,
};

const refunds = selection(claimed, 'refunds r', 'JOIN payment_methods m ON m.id = r.payment_method_id');

/** A refund that this run has claimed for the time of a lease, until `due_at`. */
export interface ClaimedRefund extends RowOf<typeof claimed> {
  /** It was not sent before. */
  isFirst: boolean;
}

/**
 * Claims a refund that is due, and commits it as sent before the channel is asked. If it is not to be sent yet, because
 * another of its payment was made elsewhere or a moment ago, it becomes due later.
 *
 * @returns undefined when it is not due
 */
export function claimRefund(refundNo: string): Promise<ClaimedRefund | undefined> {
  const key = keyOfRefund(refundNo);
  return transact(async (t) => {
    const at = now();
    // What the API has made due by its clock is due here.
    const dueBy = new Date(at.getTime() + skewMs);
    const taken = await change(
      `UPDATE refunds r SET r.status = 'processing', r.due_at = :lease, r.tries = r.tries + 1,
         r.sent_at = COALESCE(r.sent_at, :at), r.updated_at = :at
       WHERE r.refund_no = :refund_no AND r.period = :period AND r.status IN ('pending', 'processing') AND r.due_at <= :dueBy`,
      { ...key, at, dueBy, lease: new Date(at.getTime() + leaseMs) },
      t,
    );
    const refund =
      taken > 0
        ? await refunds.first('WHERE r.refund_no = :refund_no AND r.period = :period', key, { t })
        : undefined;
    if (!refund) return undefined;
    const isFirst = refund.tries === 1;
    const wait = isFirst ? await waitOf(refund, at, t) : undefined;
    if (!wait) return { ...refund, isFirst };
    await updateRows(Refund, { status: 'pending', tries: 0, sent_at: null, ...wait }, key, t);
    return undefined;
  });
}

/** How long a refund is not sent yet; undefined when it may be. */
async function waitOf(
  { refund_no, payment_no, type }: RowOf<typeof claimed>,
  at: Date,
  t: Transaction,
): Promise<{ due_at: Date; fail_reason?: string } | undefined> {
  // Locked, because concurrent ones would not see each other, nor a flag that is being set.
  await lockPayment(payment_no, t);
  if (await isRefundedElsewhere(payment_no, t))
    return { due_at: new Date(at.getTime() + heldBackMs), fail_reason: inBoth(heldBack) };
  // The channel wants some time after another refund of the payment.
  const { apartMs = 0 } = channelOf(type)?.refunds?.limits ?? {};
  if (apartMs === 0) return undefined;
  const latest = await sendings.first(
    'WHERE r.payment_no = :payment_no AND r.period >= :period AND r.refund_no <> :refund_no',
    { ...paymentKey(payment_no), refund_no },
    { t },
  );
  const due_at = new Date((latest?.at?.getTime() ?? 0) + apartMs);
  return due_at > at ? { due_at } : undefined;
}

const sendings = selection({ at: computed<Date | null>('MAX(r.sent_at)') }, 'refunds r');

/**
 * When a refund is queried again.
 *
 * @param isStuck until a person acts
 * @param isAccepted by the channel
 */
export function nextAsk(
  { tries, sent_at }: Pick<ClaimedRefund, 'tries' | 'sent_at'>,
  { isStuck = false, isAccepted = false }: { isStuck?: boolean; isAccepted?: boolean },
): { due: Date; isSlow: boolean } {
  const at = now().getTime();
  const age = at - (sent_at?.getTime() ?? at);
  const later = age < day ? hour : age < slowMs ? 6 * hour : day;
  const wait = isStuck ? day : (firstWaits[tries - 1] ?? later);
  return { due: new Date(at + wait), isSlow: age >= (isAccepted ? slowMs : unacceptedMs) };
}

/** Refunds that are due, the most overdue first, 1000 at most. */
export async function dueRefunds(): Promise<string[]> {
  const due = await numbers.rows(
    `WHERE r.status IN ('pending', 'processing') AND r.due_at <= :at ORDER BY r.due_at LIMIT 1000`,
    { at: now() },
  );
  return due.map(({ refund_no }) => refund_no);
}

const numbers = selection(columnsOf(Refund, 'r', 'refund_no'), 'refunds r');

/**
 * Makes a pending or processing refund due now; any other stays as it is.
 *
 * @returns whether it is due
 * @throws refund_not_found
 */
export async function askRefundNow(refundNo: string): Promise<boolean> {
  const key = keyOfRefund(refundNo);
  const due = await change(
    `UPDATE refunds r SET r.due_at = :at
     WHERE r.refund_no = :refund_no AND r.period = :period AND r.status IN ('pending', 'processing')`,
    { ...key, at: now() },
  );
  if (due > 0) return true;
  const known = await numbers.first('WHERE r.refund_no = :refund_no AND r.period = :period', key);
  return known ? false : fail('refund_not_found');
}

/** The same for all refunds. @returns how many are due */
export const askAllRefundsNow = (): Promise<number> =>
  change(`UPDATE refunds r SET r.due_at = :at WHERE r.status IN ('pending', 'processing')`, { at: now() });
