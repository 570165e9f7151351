// Verified attempts of the inbox (payment_callbacks) as settling sees them: read, locked, marked.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { payments } from '../../lib/db.js';
import { paymentPeriod } from '../../lib/numbers.js';
import type { PaymentStatus } from './tables.js';
import { flagForAttention } from './payment-attention.js';
import type { CallbackKey } from './payment-callback.js';

/**
 * paid: applied now; already_paid: nothing changed; paid_needs_attention: the money is recorded, but its order could no
 * longer be paid; paid_twice: the payment was paid under another third-party number before, and this one is recorded;
 * payment_third_party_no_used: refused, the number belongs to another payment; gone: the attempt no longer exists.
 */
export type Settlement =
  'paid' | 'already_paid' | 'paid_needs_attention' | 'paid_twice' | 'payment_third_party_no_used' | 'gone';

/** An attempt to be settled; with the numbers it was stored under nothing need be read to settle it. */
export interface Unsettled extends CallbackKey {
  payment_no?: string;
  order_no?: string;
}

export interface Pending {
  type: string;
  state: string;
  verdict: string;
  payment_no: string;
  third_party_no: string;
  created_at: Date;
  order_no: string;
  payment_status: PaymentStatus;
  paid_by: string | null;
  /** The payment that the third-party number belongs to. */
  owner: string | null;
}

/** What settling an attempt looks at; undefined when it no longer exists. */
export async function readPending({ id, period }: CallbackKey): Promise<Pending | undefined> {
  const [row] = await payments.select<Pending>(
    `SELECT c.type, c.state, c.verdict, c.payment_no, c.third_party_no, c.created_at, p.order_no, p.status AS payment_status,
       p.third_party_no AS paid_by, n.payment_no AS owner
     FROM payment_callbacks c JOIN payments p ON p.payment_no = c.payment_no AND p.period = c.period
       LEFT JOIN third_party_numbers n ON n.type = c.type AND n.third_party_no = c.third_party_no
     WHERE c.id = ? AND c.period = ?`,
    [id, period],
  );
  return row;
}

/** Whether the attempt still waits; it does until the end of the transaction. */
export async function lockAttempt({ id, period }: CallbackKey, t: Transaction): Promise<boolean> {
  const [attempt] = await payments.select<{ state: string }>(
    'SELECT state FROM payment_callbacks WHERE id = ? AND period = ? FOR UPDATE',
    [id, period],
    t,
  );
  return attempt?.state === 'pending';
}

/** Of two concurrent runs the first sets the verdict. */
export async function markSettled(
  { id, period }: CallbackKey,
  result: Settlement,
  t?: Transaction,
): Promise<Settlement> {
  await payments.change(
    `UPDATE payment_callbacks SET state = 'settled', verdict = ?, settled_at = ?
     WHERE id = ? AND period = ? AND state = 'pending'`,
    [result, now(), id, period],
    t,
  );
  return result;
}

/** Keeps an attempt as refused whose number belongs to another payment, and flags its own. */
export async function refuse({ id, period }: CallbackKey, paymentNo: string): Promise<Settlement> {
  // The attempt comes last: dying in between leaves it pending, and the next run does both.
  await flagForAttention(paymentNo, 'third_party_no_used');
  await payments.change(
    `UPDATE payment_callbacks SET state = 'refused', verdict = 'payment_third_party_no_used'
     WHERE id = ? AND period = ? AND state = 'pending'`,
    [id, period],
  );
  return 'payment_third_party_no_used';
}

/**
 * Marks the other verified attempts for a payment that is paid, in one statement instead of one job each. Those under
 * another third-party number stay for a look of their own.
 */
export async function settleRepeats(paymentNo: string, thirdPartyNo: string): Promise<void> {
  const period = paymentPeriod(paymentNo) as number;
  await payments.change(
    `UPDATE payment_callbacks c JOIN payments p ON p.payment_no = c.payment_no AND p.period = c.period
     SET c.state = 'settled', c.verdict = 'already_paid', c.settled_at = ?
     WHERE c.payment_no = ? AND c.period = ? AND c.third_party_no = ? AND c.state = 'pending'
       AND p.status = 'paid' AND p.third_party_no = c.third_party_no`,
    [now(), paymentNo, period, thirdPartyNo],
  );
}
