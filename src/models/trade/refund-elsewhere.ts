// Refunds that were made elsewhere, at the company itself: until a person has looked, nothing more of the payment is
// refunded here.
import type { Transaction } from 'sequelize';
import type { RefundClaim } from '../../lib/channels/channel.js';
import { change, transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { announcing } from '../../lib/redis/changes.js';
import { now } from '../../lib/values/clock.js';
import type { Text } from '../../lib/values/language.js';
import { refundPeriod } from '../../lib/values/numbers.js';
import { deliverStored } from '../office/notification.js';
import { columnsOf, selection } from '../tables/selection.js';
import { Refund } from './channel-tables.js';
import { flagWithin, isOpen } from './payment-attention.js';
import { lockPayment } from './payment-attempt.js';
import { refundedThroughCompany } from './refund.js';

/** Why a refund is not sent. */
export const heldBack: Text = {
  zh: '渠道报告了本服务没有发起的退款，处理该支付的提醒后再发送',
  en: 'held back until somebody has looked at the refund that was not made here',
};

/** Locks the payment, so that what is flagged meanwhile counts. @throws payment_refunded_elsewhere */
export async function assertNoneElsewhere(paymentNo: string, t: Transaction): Promise<void> {
  await lockPayment(paymentNo, t);
  if (await isHeldBack(paymentNo, t)) fail('payment_refunded_elsewhere');
}

/** Whether nothing of a payment is refunded here. */
export const isHeldBack = (paymentNo: string, t?: Transaction): Promise<boolean> =>
  isOpen(paymentNo, 'refunded_elsewhere', t);

/** Flags a payment when its company says so of a refund that was not made here. One of ours is asked about. */
export async function noteRefund(paymentNo: string, claim: RefundClaim): Promise<void> {
  const note = async (t: Transaction): Promise<number[]> => {
    // As everywhere, the refund is locked before its payment.
    const isOurs = await askSoon(paymentNo, claim, t);
    if (claim.hasFailed) return [];
    await lockPayment(paymentNo, t);
    const isElsewhere =
      (claim.refundNo !== undefined && !isOurs) ||
      (claim.total !== undefined && claim.total.cents > (await refundedThroughCompany(paymentNo)).cents);
    return isElsewhere ? flagWithin(paymentNo, 'refunded_elsewhere', t) : [];
  };
  await deliverStored(await announcing(['payments', 'refunds'], () => transact(note)));
}

/** Makes the refund that is named due, if it was made here. @returns whether it was; a failed one has refunded nothing */
async function askSoon(
  paymentNo: string,
  { refundNo = '', hasFailed = false }: RefundClaim,
  t: Transaction,
): Promise<boolean> {
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

const refunds = selection(columnsOf(Refund, 'r', 'id'), 'refunds r');
