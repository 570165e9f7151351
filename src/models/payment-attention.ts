// Payments a person must look at: marked on their row, told to every administrator once.
import { now } from '../lib/clock.js';
import { change, select, transact } from '../lib/db.js';
import { paymentPeriod } from '../lib/numbers.js';
import { notify } from './notification.js';
import { findPayment, flagPayment, paymentTotals } from './payment.js';

export type AttentionReason = 'order_not_payable' | 'payment_amount_mismatch' | 'third_party_no_used';

const texts: Record<AttentionReason, string> = {
  order_not_payable:
    '款项已到账，但订单已无法支付 / the money arrived, but its order could no longer be paid',
  payment_amount_mismatch: '通知金额与支付金额不一致 / a callback carried another amount',
  third_party_no_used: '第三方交易号已被使用 / a third-party number was used before',
};

/** Tells every administrator, once per payment and reason, that a payment needs attention. */
export async function askForAttention(paymentNo: string, reason: AttentionReason): Promise<void> {
  await notify({
    type: 'system',
    title: '支付需要人工处理 / A payment needs attention',
    content: `${paymentNo}: ${texts[reason]}`,
    eventKey: eventKey(paymentNo, reason),
  });
}

const eventKey = (paymentNo: string, reason: string): string => `attention-${paymentNo}-${reason}`;

/** Tells of payments flagged before that instant whose notification was never made: the process that flagged them died. */
export async function tellForgottenAttention(before: Date): Promise<void> {
  const forgotten = await select<{ payment_no: string; reason: AttentionReason }>(
    `SELECT p.payment_no, p.fail_reason AS reason FROM payments p
     LEFT JOIN notifications n ON n.event_key = CONVERT(CONCAT('attention-', p.payment_no, '-', p.fail_reason) USING ascii) COLLATE ascii_bin
     WHERE p.needs_attention = 1 AND p.updated_at < ? AND n.id IS NULL LIMIT 100`,
    [before],
  );
  for (const { payment_no, reason } of forgotten) await askForAttention(payment_no, reason);
}

/** Marks a payment as well, whose state stays as it is. */
export async function flagForAttention(paymentNo: string, reason: AttentionReason): Promise<void> {
  await flagPayment(paymentNo, reason);
  await askForAttention(paymentNo, reason);
}

/**
 * Changes what a person may change of a payment: its remark, and that it needs attention no more. The reason stays to be
 * read; should there be a new one, everybody is told again.
 *
 * @throws payment_record_not_found
 */
export async function revisePayment(
  reference: string,
  { remark, needs_attention }: { remark?: string | null; needs_attention?: false },
): Promise<void> {
  const { payment_no } = await findPayment(reference);
  const period = paymentPeriod(payment_no) as number;
  const told = Object.keys(texts).map((reason) => eventKey(payment_no, reason));
  await transact(async (t) => {
    const at = now();
    const key = [payment_no, period];
    if (remark !== undefined) {
      const sql = 'UPDATE payments SET remark = ?, updated_at = ? WHERE payment_no = ? AND period = ?';
      await change(sql, [remark || null, at, ...key], t);
    }
    if (needs_attention === undefined) return;
    const sql =
      'UPDATE payments SET needs_attention = 0, updated_at = ? WHERE payment_no = ? AND period = ? AND needs_attention = 1';
    await change(sql, [at, ...key], t);
    await change('UPDATE notifications SET event_key = NULL WHERE event_key IN (?)', [told], t);
  });
  await paymentTotals.changed(period);
}
