// Payments a person must look at: marked on their row, told to every administrator once.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { change, select, transact } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { paymentPeriod } from '../../lib/numbers.js';
import { notify } from '../office/notification.js';
import { noteChanges } from '../tables/list-journal.js';
import { findPayment, flagPayment } from './payment.js';
import { announcing } from '../tables/versions.js';

export type AttentionReason =
  | 'order_not_payable'
  | 'payment_amount_mismatch'
  | 'third_party_no_used'
  | 'paid_twice'
  | 'notice_unverified';

const texts: Record<AttentionReason, string> = {
  order_not_payable:
    '款项已到账，但订单已无法支付 / the money arrived, but its order could no longer be paid',
  payment_amount_mismatch: '通知金额与支付金额不一致 / a callback carried another amount',
  third_party_no_used: '第三方交易号已被使用 / a third-party number was used before',
  paid_twice: '该支付被重复付款 / the payment was paid a second time',
  notice_unverified:
    '收到无法验证的支付通知，请到渠道核实 / a notice came that cannot be verified here; look at the channel',
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

export interface PaymentRevision {
  remark?: string | null;
  needs_attention?: false;
  /** The reason that the person clearing the flag has seen; needed with `needs_attention`. */
  fail_reason?: string;
}

/**
 * Changes what a person may change of a payment: its remark, and that it needs attention no more. The reason stays to be
 * read; should there be a new one, everybody is told again.
 *
 * @throws payment_record_not_found; payment_attention_changed when it now needs attention for another reason
 */
export async function revisePayment(
  reference: string,
  { remark, needs_attention, fail_reason }: PaymentRevision,
): Promise<void> {
  const { payment_no } = await findPayment(reference);
  const period = paymentPeriod(payment_no) as number;
  const told = Object.keys(texts).map((reason) => eventKey(payment_no, reason));
  const revise = async (t: Transaction): Promise<void> => {
    const at = now();
    const key = [payment_no, period];
    if (remark !== undefined) {
      const sql = 'UPDATE payments SET remark = ?, updated_at = ? WHERE payment_no = ? AND period = ?';
      await change(sql, [remark || null, at, ...key], t);
    }
    if (needs_attention === undefined) return;
    const [payment] = await select<{ needs_attention: number; fail_reason: string | null }>(
      'SELECT needs_attention, fail_reason FROM payments WHERE payment_no = ? AND period = ? FOR UPDATE',
      key,
      t,
    );
    if (payment?.needs_attention !== 1) return;
    if (payment.fail_reason !== fail_reason) fail('payment_attention_changed', { field: 'fail_reason' });
    const sql = 'UPDATE payments SET needs_attention = 0, updated_at = ? WHERE payment_no = ? AND period = ?';
    await change(sql, [at, ...key], t);
    const rows = { sql: 'r.payment_no = ? AND r.period = ?', values: key };
    await noteChanges('payments', rows, { needs_attention: 1 }, t);
    await change('UPDATE notifications SET event_key = NULL WHERE event_key IN (?)', [told], t);
  };
  await announcing(['payments'], () => transact(revise));
}
