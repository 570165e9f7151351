// What people do about payments: remark, assignee, and clearing the reasons of a flag, each recorded.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { transact } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import { refuseField } from '../../lib/input/validation.js';
import { announce } from '../../lib/redis/changes.js';
import { paymentKey } from '../../lib/values/numbers.js';
import { Admin } from '../access/tables.js';
import { insertRow, updateRows } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import type { Listed } from '../tables/table.js';
import type { Operator } from './balance.js';
import { openEvents, renewEvents } from './payment-attention.js';
import { getPayment } from './payment.js';
import { Payment, PaymentHandling } from './tables.js';

const flagged = selection(columnsOf(Payment, 'p', 'needs_attention', 'fail_reason'), 'payments p');
const handlings = selection(columnsOf(PaymentHandling, 'h'), 'payment_handlings h');

/** Max handlings shown with a payment. */
const maxHandlings = 200;

/** The cleared reasons of a payment, oldest first. */
export const handlingsOf = (paymentNo: string): Promise<Listed<PaymentHandling>[]> =>
  handlings.rows(`WHERE h.payment_no = :paymentNo ORDER BY h.id LIMIT ${maxHandlings}`, { paymentNo });

export interface PaymentUpdate {
  remark?: string | null;
  /** False clears the flag; true, which a flagged payment is answered with, changes nothing. */
  needs_attention?: boolean;
  /** The reason that the person clearing the flag has seen; needed to clear it. */
  fail_reason?: string | null;
  /** The administrator who handles it; null for nobody. */
  assignee_id?: number | null;
}

/**
 * Updates remark and assignee of a payment, or clears the reason of its flag. While an earlier reason has not been
 * cleared, the flag stays with that one. The last reason stays readable, who cleared it is recorded, and a new flag is
 * notified again.
 *
 * @throws payment_record_not_found; admin_unknown; payment_attention_changed when the reason has changed;
 * value_not_acceptable for a flag that only the service sets
 */
export async function updatePayment(
  reference: string,
  { remark, needs_attention, fail_reason, assignee_id }: PaymentUpdate,
  by: Operator,
): Promise<void> {
  const { payment_no, assignee_id: assigned } = await getPayment(reference);
  const key = paymentKey(payment_no);
  const revise = async (t: Transaction): Promise<void> => {
    const updated_at = now();
    if (remark !== undefined) await updateRows(Payment, { remark: remark || null, updated_at }, key, t);
    // An unchanged assignee may be sent back, even one who has been disabled since.
    if (assignee_id !== undefined && assignee_id !== assigned) {
      if (assignee_id !== null) await assertEnabled(assignee_id, t);
      await updateRows(Payment, { assignee_id, updated_at }, key, t);
    }
    if (needs_attention === undefined) return;
    const payment = await flagged.first(
      'WHERE p.payment_no = :payment_no AND p.period = :period FOR UPDATE',
      key,
      { t },
    );
    if (needs_attention && !payment?.needs_attention)
      refuseField('value_not_acceptable', 'needs_attention', 'any.only');
    if (needs_attention || !payment?.needs_attention) return;
    if (fail_reason == null || payment.fail_reason !== fail_reason)
      fail('payment_attention_changed', { field: 'fail_reason' });
    const handled = { payment_no, reason: fail_reason, remark: remark || null };
    await insertRow(
      PaymentHandling,
      { ...handled, admin_id: by.adminId, username: by.username, created_at: updated_at },
      t,
    );
    const open = await openEvents(payment_no, t);
    // The oldest of several: a later one may have arrived since somebody looked.
    const seen = open.findLast(({ reason }) => reason === fail_reason);
    if (seen) await renewEvents([seen], t);
    const next = open.find((event) => event !== seen);
    const flag = next ? { fail_reason: next.reason } : { needs_attention: false };
    await updateRows(Payment, { ...flag, updated_at }, key, t);
  };
  await transact(revise);
  announce(['payments']);
}

async function assertEnabled(adminId: number, transaction: Transaction): Promise<void> {
  const admin = await Admin.findOne({ where: { id: adminId, status: 1 }, attributes: ['id'], transaction });
  if (!admin) fail('admin_unknown', { field: 'assignee_id' });
}
