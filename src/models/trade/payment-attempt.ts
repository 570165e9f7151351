// Verified attempts of the inbox (payment_callbacks) as settlement reads, locks and marks them.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { payments } from '../../lib/database/db.js';
import { paymentPeriod } from '../../lib/numbers.js';
import { columnsOf, selection, type Expression, type RowOf } from '../tables/selection.js';
import { execute, over } from '../tables/sql.js';
import { Payment, PaymentCallback, ThirdPartyNumber } from './tables.js';
import { flagForAttention } from './payment-attention.js';
import type { CallbackKey } from './payment-callback.js';

/**
 * paid: applied now; already_paid: nothing changed; paid_needs_attention: the money is recorded, but its order could no
 * longer be paid; paid_twice: the payment was paid under another third-party number before, and this one is recorded;
 * payment_third_party_no_used: refused, the number belongs to another payment; gone: the attempt no longer exists.
 */
export type Settlement =
  'paid' | 'already_paid' | 'paid_needs_attention' | 'paid_twice' | 'payment_third_party_no_used' | 'gone';

/** An attempt to be settled. With its numbers given, settling it needs no read. */
export interface Unsettled extends CallbackKey {
  payment_no?: string;
  order_no?: string;
}

const payment = columnsOf(Payment, 'p', 'order_no', 'status', 'third_party_no');

const pending = {
  ...columnsOf(PaymentCallback, 'c', 'type', 'state', 'verdict', 'created_at'),
  // A verified attempt names both.
  ...(columnsOf(PaymentCallback, 'c', 'payment_no', 'third_party_no') as Record<
    'payment_no' | 'third_party_no',
    Expression<string>
  >),
  order_no: payment.order_no,
  payment_status: payment.status,
  paid_by: payment.third_party_no,
  /** The payment that the third-party number belongs to. */
  owner: columnsOf(ThirdPartyNumber, 'n', 'payment_no').payment_no as Expression<string | null>,
};

const attempts = selection(
  pending,
  'payment_callbacks c',
  `JOIN payments p ON p.payment_no = c.payment_no AND p.period = c.period
   LEFT JOIN third_party_numbers n ON n.type = c.type AND n.third_party_no = c.third_party_no`,
);

export type Pending = RowOf<typeof pending>;

const sql = over({ 'payment_callbacks c': PaymentCallback, 'payments p': Payment });

/** What settling an attempt depends on; undefined when it no longer exists. */
export const readPending = ({ id, period }: CallbackKey): Promise<Pending | undefined> =>
  attempts.one(sql('WHERE c.id = :id AND c.period = :period', { id, period }), { on: payments });

/** Whether the attempt is still pending; it stays so until the end of the transaction. */
export async function lockAttempt({ id, period }: CallbackKey, t: Transaction): Promise<boolean> {
  const attempt = await states.one(
    sql('WHERE c.id = :id AND c.period = :period FOR UPDATE', { id, period }),
    {
      t,
    },
  );
  return attempt?.state === 'pending';
}

const states = selection(columnsOf(PaymentCallback, 'c', 'state'), 'payment_callbacks c');

/** Of two concurrent runs the first sets the verdict. */
export async function markSettled(
  { id, period }: CallbackKey,
  result: Settlement,
  t?: Transaction,
): Promise<Settlement> {
  const mark = sql(
    `UPDATE payment_callbacks c SET c.state = 'settled', c.verdict = :result, c.settled_at = :at
     WHERE c.id = :id AND c.period = :period AND c.state = 'pending'`,
    { result, at: now(), id, period },
  );
  await execute(mark, { t, on: payments });
  return result;
}

/** Refuses an attempt whose number belongs to another payment, and flags its own payment. */
export async function refuse({ id, period }: CallbackKey, paymentNo: string): Promise<Settlement> {
  // The attempt is marked last: a crash in between leaves it pending, and the next run does both.
  await flagForAttention(paymentNo, 'third_party_no_used');
  const mark = sql(
    `UPDATE payment_callbacks c SET c.state = 'refused', c.verdict = 'payment_third_party_no_used'
     WHERE c.id = :id AND c.period = :period AND c.state = 'pending'`,
    { id, period },
  );
  await execute(mark, { on: payments });
  return 'payment_third_party_no_used';
}

/**
 * Settles the other verified attempts for a paid payment in one statement instead of one job each. Attempts under
 * another third-party number stay pending: each needs its own settlement.
 */
export async function settleRepeats(paymentNo: string, thirdPartyNo: string): Promise<void> {
  const period = paymentPeriod(paymentNo) as number;
  const repeats = sql(
    `UPDATE payment_callbacks c JOIN payments p ON p.payment_no = c.payment_no AND p.period = c.period
     SET c.state = 'settled', c.verdict = 'already_paid', c.settled_at = :at
     WHERE c.payment_no = :paymentNo AND c.period = :period AND c.third_party_no = :thirdPartyNo AND c.state = 'pending'
       AND p.status = 'paid' AND p.third_party_no = c.third_party_no`,
    { at: now(), paymentNo, period, thirdPartyNo },
  );
  await execute(repeats, { on: payments });
}
