// The only code that makes a payment and its order paid (spec.md, States and transitions, rule 1).
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { change, payments, type Statement } from '../../lib/db.js';
import { orderPeriod, paymentPeriod } from '../../lib/numbers.js';
import { journalStatement, noteChanges } from '../tables/list-journal.js';
import type { OrderStatus } from './order-record.js';
import { cancelPayments, type PaymentStatus } from './payment.js';
import { askForAttention, flagForAttention, type AttentionReason } from './payment-attention.js';
import type { CallbackKey } from './payment-callback.js';
import { claimNumber } from './third-party-number.js';
import { announcing } from '../tables/versions.js';

/**
 * paid: applied now; already_paid: nothing changed; paid_needs_attention: the money is recorded, but its order could no
 * longer be paid; paid_twice: the payment was paid under another third-party number before, and this one is recorded;
 * payment_third_party_no_used: refused, the number belongs to another payment; gone: the attempt no longer exists.
 */
export type Settlement =
  'paid' | 'already_paid' | 'paid_needs_attention' | 'paid_twice' | 'payment_third_party_no_used' | 'gone';

interface Pending {
  type: string;
  state: string;
  verdict: string;
  payment_no: string;
  third_party_no: string;
  created_at: Date;
  order_no: string;
  payment_status: PaymentStatus;
  needs_attention: number;
  paid_by: string | null;
  /** The payment that the third-party number belongs to. */
  owner: string | null;
}

/** What a settled attempt asks people to look at. */
const reasons: Partial<Record<string, AttentionReason>> = {
  paid_needs_attention: 'order_not_payable',
  paid_twice: 'paid_twice',
};

/**
 * Applies a verified callback: in one transaction the payment and its order become paid, the order's other payments are
 * cancelled and the attempt is marked. Repeating it, also at the same time, changes nothing more. Locks in the order
 * order → payment.
 */
export async function settle(callback: CallbackKey): Promise<Settlement> {
  const pending = await readPending(callback);
  if (!pending) return 'gone';
  if (pending.state === 'refused') return pending.verdict as Settlement;
  if (pending.state === 'settled') {
    // The first run may have died before notifying. Notifications are idempotent by their key.
    await tell(pending.payment_no, pending.verdict);
    return 'already_paid';
  }
  // Claimed when the attempt was stored, but for attempts of releases before that.
  const owner = pending.owner ?? (await claimNumber(pending));
  if (owner !== pending.payment_no) return refuse(callback, pending.payment_no);
  // Paid is final, so the many repeats of one callback need no lock to find out.
  const isRepeat = pending.payment_status === 'paid' && pending.paid_by === pending.third_party_no;
  if (isRepeat) return markSettled(callback, 'already_paid');
  const result = await announcing(['orders', 'payments'], async () =>
    (await payTogether(callback, pending))
      ? ('paid' as const)
      : payments.transact((t) => payWithCare(callback, pending, t)),
  );
  await tell(pending.payment_no, result);
  return result;
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

async function readPending({ id, period }: CallbackKey): Promise<Pending | undefined> {
  const [row] = await payments.select<Pending>(
    `SELECT c.type, c.state, c.verdict, c.payment_no, c.third_party_no, c.created_at, p.order_no, p.status AS payment_status,
       p.needs_attention, p.third_party_no AS paid_by, n.payment_no AS owner
     FROM payment_callbacks c JOIN payments p ON p.payment_no = c.payment_no AND p.period = c.period
       LEFT JOIN third_party_numbers n ON n.type = c.type AND n.third_party_no = c.third_party_no
     WHERE c.id = ? AND c.period = ?`,
    [id, period],
  );
  return row;
}

async function tell(paymentNo: string, verdict: string): Promise<void> {
  const reason = reasons[verdict];
  if (reason) await askForAttention(paymentNo, reason);
}

// The usual case, in one round trip: one conditional statement moves payment, order and attempt together, or nothing at all;
// what follows from it happens only if it moved them.
async function payTogether({ id, period }: CallbackKey, pending: Pending): Promise<boolean> {
  const { payment_no, order_no, payment_status, needs_attention } = pending;
  if (payment_status === 'paid') return false;
  const at = now();
  const paymentMonth = paymentPeriod(payment_no) as number;
  const orderMonth = orderPeriod(order_no) as number;
  const pay: Statement = {
    sql: `UPDATE orders o
        JOIN payments p ON p.payment_no = ? AND p.period = ? AND p.order_no = o.order_no
        JOIN payment_callbacks c ON c.id = ? AND c.period = ? AND c.payment_no = p.payment_no
      SET o.status = 'paid', o.paid_at = c.created_at, o.payment_no = p.payment_no, o.updated_at = ?,
        p.status = 'paid', p.third_party_no = c.third_party_no, p.pay_time = c.created_at, p.notify_data = c.body,
        p.needs_attention = 0, p.fail_reason = NULL, p.updated_at = ?,
        c.state = 'settled', c.verdict = 'paid', c.settled_at = ?
      WHERE o.order_no = ? AND o.period = ? AND o.status = 'pending' AND o.deleted_at IS NULL
        AND p.status = ? AND p.needs_attention = ? AND c.state = 'pending'`,
    values: [
      ...[payment_no, paymentMonth, id, period, at, at, at],
      ...[order_no, orderMonth, payment_status, needs_attention],
    ],
  };
  const cancelOthers: Statement = {
    sql: `UPDATE payments SET status = 'cancelled', updated_at = ?
      WHERE order_no = ? AND period >= ? AND status = 'pending' AND @moved > 0`,
    values: [at, order_no, orderMonth],
  };
  // Of a pending order no payment had been cancelled before.
  const touched: Statement = {
    sql: `r.order_no = ? AND r.period >= ? AND @moved > 0
      AND (r.payment_no = ? OR (r.status = 'cancelled' AND r.updated_at = ?))`,
    values: [order_no, orderMonth, payment_no, at],
  };
  const own = (value: string | number | null, other: string): Statement => ({
    sql: `IF(r.payment_no = ?, ?, ${other})`,
    values: [payment_no, value],
  });
  const [moved] = await payments.packet([
    pay,
    { sql: 'SET @moved = ROW_COUNT()', values: [] },
    cancelOthers,
    journalStatement(
      'orders',
      { sql: 'r.order_no = ? AND r.period = ? AND @moved > 0', values: [order_no, orderMonth] },
      { status: 'pending' },
    ),
    journalStatement('payments', touched, {
      status: own(payment_status, `'pending'`),
      third_party_no: own(null, 'r.third_party_no'),
      pay_time: own(null, 'r.pay_time'),
      needs_attention: own(needs_attention, 'r.needs_attention'),
    }),
  ]);
  return (moved?.affectedRows ?? 0) > 0;
}

interface LockedOrder {
  status: OrderStatus;
  deleted_at: Date | null;
  cancelled_at: Date | null;
}

interface LockedPayment {
  status: PaymentStatus;
  third_party_no: string | null;
  needs_attention: number;
}

// Whatever the usual case does not cover, step by step under locks.
async function payWithCare(callback: CallbackKey, pending: Pending, t: Transaction): Promise<Settlement> {
  const { payment_no, order_no, third_party_no, created_at } = pending;
  const orderKey: Key = [order_no, orderPeriod(order_no) as number];
  const key: Key = [payment_no, paymentPeriod(payment_no) as number];
  const [order] = await payments.select<LockedOrder>(
    'SELECT status, deleted_at, cancelled_at FROM orders WHERE order_no = ? AND period = ? FOR UPDATE',
    orderKey,
    t,
  );
  const [payment] = await payments.select<LockedPayment>(
    'SELECT status, third_party_no, needs_attention FROM payments WHERE payment_no = ? AND period = ? FOR UPDATE',
    key,
    t,
  );
  const isDone = !(await lockAttempt(callback, t)) || payment?.third_party_no === third_party_no;
  if (!payment || isDone) return markSettled(callback, 'already_paid', t);
  if (payment.status === 'paid') return payTwice(callback, { key, third_party_no, payment }, t);
  const isPayable = order !== undefined && canBePaid(order, created_at);
  const at = now();
  await change(
    `UPDATE payments p JOIN payment_callbacks c ON c.id = ? AND c.period = ?
     SET p.status = 'paid', p.third_party_no = c.third_party_no, p.pay_time = c.created_at, p.notify_data = c.body,
       p.needs_attention = ?, p.fail_reason = ?, p.updated_at = ?
     WHERE p.payment_no = ? AND p.period = ?`,
    [
      ...[callback.id, callback.period, isPayable ? 0 : 1, isPayable ? null : 'order_not_payable', at],
      ...key,
    ],
    t,
  );
  const { status, needs_attention } = payment;
  const before = { status, needs_attention, third_party_no: null, pay_time: null };
  await noteChanges('payments', paymentRow(key), before, t);
  if (!isPayable) return markSettled(callback, 'paid_needs_attention', t);
  await change(
    `UPDATE orders SET status = 'paid', paid_at = ?, payment_no = ?, cancelled_at = NULL, updated_at = ?
     WHERE order_no = ? AND period = ?`,
    [created_at, payment_no, at, ...orderKey],
    t,
  );
  const orderRow = { sql: 'r.order_no = ? AND r.period = ?', values: orderKey };
  await noteChanges('orders', orderRow, { status: order.status }, t);
  await cancelPayments({ order_no, period: orderKey[1] }, t);
  return markSettled(callback, 'paid', t);
}

/** Whether the attempt still waits; it does until the end of the transaction. */
async function lockAttempt({ id, period }: CallbackKey, t: Transaction): Promise<boolean> {
  const [attempt] = await payments.select<{ state: string }>(
    'SELECT state FROM payment_callbacks WHERE id = ? AND period = ? FOR UPDATE',
    [id, period],
    t,
  );
  return attempt?.state === 'pending';
}

// Money that was reported before the order was cancelled, or expired, came in time.
function canBePaid({ status, deleted_at, cancelled_at }: LockedOrder, reportedAt: Date): boolean {
  if (deleted_at !== null) return false;
  return (
    status === 'pending' || (status === 'cancelled' && cancelled_at !== null && cancelled_at > reportedAt)
  );
}

// The customer was charged twice: the payment keeps its first number, a person gives the second sum back.
async function payTwice(
  callback: CallbackKey,
  { key, third_party_no, payment }: { key: Key; third_party_no: string; payment: LockedPayment },
  t: Transaction,
): Promise<Settlement> {
  const [known] = await payments.select(
    `SELECT id FROM payment_callbacks
     WHERE payment_no = ? AND period = ? AND third_party_no = ? AND verdict = 'paid_twice' LIMIT 1`,
    [...key, third_party_no],
    t,
  );
  if (known) return markSettled(callback, 'already_paid', t);
  await change(
    `UPDATE payments SET needs_attention = 1, fail_reason = 'paid_twice', updated_at = ? WHERE payment_no = ? AND period = ?`,
    [now(), ...key],
    t,
  );
  if (payment.needs_attention === 0)
    await noteChanges('payments', paymentRow(key), { needs_attention: 0 }, t);
  return markSettled(callback, 'paid_twice', t);
}

/** Number and month of a payment. */
type Key = [string, number];

const paymentRow = (key: Key): Statement => ({
  sql: 'r.payment_no = ? AND r.period = ?',
  values: key,
});

// The first of two concurrent runs sets the verdict.
async function markSettled(
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

// The attempt comes last: dying in between leaves it pending, and the next run does both.
async function refuse({ id, period }: CallbackKey, paymentNo: string): Promise<Settlement> {
  await flagForAttention(paymentNo, 'third_party_no_used');
  await payments.change(
    `UPDATE payment_callbacks SET state = 'refused', verdict = 'payment_third_party_no_used'
     WHERE id = ? AND period = ? AND state = 'pending'`,
    [id, period],
  );
  return 'payment_third_party_no_used';
}
