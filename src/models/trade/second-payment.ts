// A second payment of a paid payment: it is recorded, and a person refunds it.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { journalChanges } from '../tables/list-journal.js';
import { updateRows } from '../tables/rows.js';
import { columnsOf, selection } from '../tables/selection.js';
import { over } from '../tables/sql.js';
import { markSettled, type Settlement } from './payment-attempt.js';
import type { CallbackKey } from './payment-callback.js';
import { Payment, PaymentCallback } from './tables.js';

interface SecondPayment {
  /** Number and month of the payment. */
  key: { payment_no: string; period: number };
  third_party_no: string;
  payment: { needs_attention: boolean };
}

const sql = over({ 'payment_callbacks c': PaymentCallback });
const changed = over({ 'payments r': Payment });
const callbacks = selection(columnsOf(PaymentCallback, 'c', 'id'), 'payment_callbacks c');

/** How many further numbers a payment was paid under. @param most counted up to so many */
export async function countSeconds(key: SecondPayment['key'], most: number, t: Transaction): Promise<number> {
  const rows = await callbacks.where(
    sql(`WHERE c.payment_no = :payment_no AND c.period = :period AND c.verdict = 'paid_twice' LIMIT :most`, {
      ...key,
      most,
    }),
    { t },
  );
  return rows.length;
}

/** Flags a payment, whose row is locked, for another third-party number than the one it was paid under, which it keeps. */
export async function recordSecond(
  callback: CallbackKey,
  { key, third_party_no, payment }: SecondPayment,
  t: Transaction,
): Promise<Settlement> {
  const known = await callbacks.one(
    sql(
      `WHERE c.payment_no = :payment_no AND c.period = :period AND c.third_party_no = :third_party_no
         AND c.verdict = 'paid_twice' LIMIT 1`,
      { ...key, third_party_no },
    ),
    { t },
  );
  if (known) return markSettled(callback, 'already_paid', t);
  await updateRows(Payment, { needs_attention: true, fail_reason: 'paid_twice', updated_at: now() }, key, t);
  const rows = changed('r.payment_no = :payment_no AND r.period = :period', key);
  if (!payment.needs_attention) await journalChanges('payments', rows, { needs_attention: false }, t);
  return markSettled(callback, 'paid_twice', t);
}
