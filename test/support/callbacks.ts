// Payment callbacks as tests send them, and the rows they change.
import { select } from '../../src/lib/database/db.js';
import type { Client } from './client.js';
import type { MadePayment } from './factories.js';
import { selectRow } from './rows.js';

/** Everything that a callback may change, and the verdicts of all attempts. */
export async function trace(admin: Client, { payment_no, order_no }: MadePayment) {
  const { status, third_party_no, pay_time, needs_attention, fail_reason, callbacks } = (
    await admin.get(`/payments/${payment_no}`)
  ).data;
  const order = await selectRow<{ status: string }>(
    'SELECT status, paid_at, payment_no FROM orders WHERE order_no = ?',
    [order_no],
  );
  const verdicts = callbacks.map(({ verdict }: { verdict: string }) => verdict);
  return { payment: { status, third_party_no, pay_time, needs_attention, fail_reason }, order, verdicts };
}

/** Of each notification about a payment, whether it has been sent. */
export async function notificationsOf({ payment_no }: { payment_no: string }): Promise<boolean[]> {
  const sql =
    'SELECT undelivered_since IS NULL AS isSent FROM notifications WHERE content LIKE ? ORDER BY id';
  const rows = await select<{ isSent: number }>(sql, [`${payment_no}:%`]);
  return rows.map(({ isSent }) => isSent === 1);
}

/** The rows of a payment that no callback has changed, without its attempts. */
export const untouched = {
  payment: {
    status: 'pending',
    third_party_no: null,
    pay_time: null,
    needs_attention: false,
    fail_reason: null,
  },
  order: { status: 'pending', paid_at: null, payment_no: null },
};
