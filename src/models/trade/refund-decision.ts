// Decisions on refunds that wait: a second administrator approves or rejects them, and the requester is notified.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { change, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import type { Text } from '../../lib/values/language.js';
import { announce } from '../../lib/redis/changes.js';
import { notifyWithin } from '../office/notification.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import type { Operator } from './balance.js';
import { Refund } from './channel-tables.js';
import { payOut, release } from './refund-booking.js';
import { assertNoneElsewhere } from './refund-elsewhere.js';
import { refundLists } from './refund-request.js';
import { keyOfRefund } from './refund.js';

const decided = columnsOf(
  Refund,
  'r',
  'refund_no',
  'period',
  'payment_no',
  'user_id',
  'amount',
  'reason',
  'destination',
  'status',
  'requested_by',
);
const waiting = selection(decided, 'refunds r');

/**
 * Approves a waiting refund that somebody else requested.
 *
 * @returns whether it is due now
 * @throws refund_not_found, refund_own_request, refund_not_waiting, payment_refunded_elsewhere, balance_limit_exceeded,
 * user_unknown
 */
export async function approveRefund(refundNo: string, by: Operator): Promise<boolean> {
  const needsSending = await transact(async (t) => {
    const refund = await lockWaiting(refundNo, t, by);
    await assertNoneElsewhere(refund.payment_no, t);
    const { refund_no, period, destination } = refund;
    const isDue = destination === 'channel';
    const at = now();
    await change(
      `UPDATE refunds r SET r.status = 'pending', r.approved_by = :by, r.due_at = :due, r.updated_at = :at
       WHERE r.refund_no = :refund_no AND r.period = :period AND r.status = 'waiting'`,
      { refund_no, period, by: by.adminId, due: isDue ? at : null, at },
      t,
    );
    if (!isDue) await payOut(refund, by, t);
    const title = { zh: '退款已批准', en: 'A refund was approved' };
    await notifyRequester(refund, { title, note: null }, by, t);
    return isDue;
  });
  announce(refundLists);
  return needsSending;
}

/**
 * Rejects a waiting refund and releases its amount; its requester may do so, too.
 *
 * @throws refund_not_found, refund_not_waiting
 */
export async function rejectRefund(refundNo: string, reason: string | null, by: Operator): Promise<void> {
  await transact(async (t) => {
    const refund = await lockWaiting(refundNo, t);
    const ending = { from: 'waiting', to: 'rejected', reason, code: null, by: by.adminId } as const;
    await release(refund, ending, t);
    const title = { zh: '退款已驳回', en: 'A refund was rejected' };
    await notifyRequester(refund, { title, note: reason }, by, t);
  });
  announce(refundLists);
}

async function lockWaiting(
  refundNo: string,
  t: Transaction,
  approver?: Operator,
): Promise<RowOf<typeof decided>> {
  const refund = await waiting.first(
    'WHERE r.refund_no = :refund_no AND r.period = :period FOR UPDATE',
    keyOfRefund(refundNo),
    { t },
  );
  if (!refund) return fail('refund_not_found');
  if (refund.requested_by === approver?.adminId) fail('refund_own_request');
  if (refund.status !== 'waiting') fail('refund_not_waiting');
  return refund;
}

/** Notifies the requester of what somebody else has decided. */
async function notifyRequester(
  { refund_no, payment_no, amount, requested_by }: RowOf<typeof decided>,
  { title, note }: { title: Text; note: string | null },
  by: Operator,
  t: Transaction,
): Promise<void> {
  if (requested_by === by.adminId) return;
  await notifyWithin(t, {
    type: 'system',
    title,
    content: `${refund_no}: ¥${amount.toString()}, ${payment_no}${note ? `: ${note}` : ''}`,
    receiverIds: [requested_by],
    eventKey: `refund-${refund_no}-decided`,
  });
}
