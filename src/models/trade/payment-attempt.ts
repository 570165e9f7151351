// Verified attempts of the inbox (payment_callbacks) as settlement reads, locks and marks them.
import type { Transaction } from 'sequelize';
import { change } from '../../lib/database/db.js';
import { now } from '../../lib/values/clock.js';
import { orderKey } from '../../lib/values/numbers.js';
import { columnsOf, selection, type Expression, type RowOf } from '../tables/selection.js';
import type { CallbackKey } from './payment-callback.js';
import { Order, Payment, PaymentCallback, ThirdPartyNumber } from './tables.js';

/**
 * paid: applied now; already_paid: nothing changed; paid_needs_attention: the money is recorded, but its order could no
 * longer be paid; paid_twice: the payment was paid under another third-party number before, and this one is recorded;
 * payment_third_party_no_used: refused, the number belongs to another payment; gone: the attempt no longer exists.
 */
export type Settlement =
  'paid' | 'already_paid' | 'paid_needs_attention' | 'paid_twice' | 'payment_third_party_no_used' | 'gone';

const attempt = {
  ...columnsOf(PaymentCallback, 'c', 'id', 'period', 'type', 'created_at', 'paid_at'),
  // A verified attempt names both.
  ...(columnsOf(PaymentCallback, 'c', 'payment_no', 'third_party_no') as Record<
    'payment_no' | 'third_party_no',
    Expression<string>
  >),
  order_no: columnsOf(Payment, 'p', 'order_no').order_no,
  /** The payment that the third-party number belongs to. */
  owner: columnsOf(ThirdPartyNumber, 'n', 'payment_no').payment_no as Expression<string | null>,
};

export type PaymentAttempt = RowOf<typeof attempt>;

const attempts = selection(
  attempt,
  'payment_callbacks c',
  `JOIN payments p ON p.payment_no = c.payment_no AND p.period = c.period
   LEFT JOIN third_party_numbers n ON n.type = c.type AND n.third_party_no = c.third_party_no`,
);

const lockedOrder = columnsOf(Order, 'o', 'order_no', 'period', 'status', 'deleted_at', 'cancelled_at');
const lockedAttempt = {
  ...columnsOf(Payment, 'p', 'payment_no', 'status', 'third_party_no', 'needs_attention'),
  ...columnsOf(PaymentCallback, 'c', 'state', 'verdict'),
};
const orders = selection(lockedOrder, 'orders o');
const locked = selection(
  lockedAttempt,
  'payments p',
  'STRAIGHT_JOIN payment_callbacks c ON c.payment_no = p.payment_no AND c.period = p.period',
);

export type LockedOrder = RowOf<typeof lockedOrder>;
/** A payment, with state and verdict of one of its attempts. */
export type LockedAttempt = RowOf<typeof lockedAttempt>;

/** What an attempt says; undefined when it no longer exists. */
export const readAttempt = (
  { id, period }: CallbackKey,
  t: Transaction,
): Promise<PaymentAttempt | undefined> =>
  attempts.first('WHERE c.id = :id AND c.period = :period', { id, period }, { t });

export const lockOrder = (order_no: string, t: Transaction): Promise<LockedOrder | undefined> =>
  orders.first('WHERE o.order_no = :order_no AND o.period = :period FOR UPDATE', orderKey(order_no), { t });

/** Locks the payment of an attempt, then the attempt. */
export const lockAttempt = (
  { id, period, payment_no }: PaymentAttempt,
  t: Transaction,
): Promise<LockedAttempt | undefined> =>
  locked.first(
    'WHERE p.payment_no = :payment_no AND p.period = :period AND c.id = :id FOR UPDATE',
    { id, period, payment_no },
    { t },
  );

export async function markAttempt(
  { id, period }: CallbackKey,
  state: 'settled' | 'refused',
  verdict: Settlement,
  t: Transaction,
): Promise<void> {
  await change(
    `UPDATE payment_callbacks c SET c.state = :state, c.verdict = :verdict, c.settled_at = :at
     WHERE c.id = :id AND c.period = :period AND c.state = 'pending'`,
    { state, verdict, at: state === 'settled' ? now() : null, id, period },
    t,
  );
}

/** Whether this further number, which the payment was also paid under, has been recorded before. */
export async function isKnownExtraNumber(
  { payment_no, period, third_party_no }: PaymentAttempt,
  t: Transaction,
): Promise<boolean> {
  const known = await extraNumbers.first(
    `WHERE c.payment_no = :payment_no AND c.period = :period AND c.third_party_no = :third_party_no
         AND c.verdict = 'paid_twice' LIMIT 1`,
    { payment_no, period, third_party_no },
    { t },
  );
  return known !== undefined;
}

/** How many further numbers the payment was paid under. @param max counted up to so many */
export async function countExtraNumbers(
  { payment_no, period }: PaymentAttempt,
  max: number,
  t: Transaction,
): Promise<number> {
  const rows = await extraNumbers.rows(
    `WHERE c.payment_no = :payment_no AND c.period = :period AND c.verdict = 'paid_twice' LIMIT :max`,
    {
      payment_no,
      period,
      max,
    },
    { t },
  );
  return rows.length;
}

const extraNumbers = selection(columnsOf(PaymentCallback, 'c', 'id'), 'payment_callbacks c');
