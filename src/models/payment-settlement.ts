// The only code that makes a payment and its order paid (spec.md, States and transitions, rule 1).
import type { Transaction } from 'sequelize';
import { now } from '../lib/clock.js';
import { change, isDuplicate, select, transact } from '../lib/db.js';
import { AppError, fail } from '../lib/errors.js';
import { orderPeriod, paymentPeriod } from '../lib/numbers.js';
import { orderTotals } from './order.js';
import { paymentTotals } from './payment.js';
import { askForAttention, flagForAttention } from './payment-attention.js';
import type { CallbackKey } from './payment-callback.js';

/**
 * paid: applied now; already_paid: nothing changed; paid_needs_attention: the money is recorded, but its order could no
 * longer be paid; third_party_no_used: refused, the number paid another payment; gone: the attempt no longer exists.
 */
export type Settlement = 'paid' | 'already_paid' | 'paid_needs_attention' | 'third_party_no_used' | 'gone';

interface Pending {
  type: string;
  state: string;
  verdict: string;
  payment_status: string;
  payment_no: string;
  third_party_no: string;
  body: string;
  created_at: Date;
  order_no: string;
}

/**
 * Applies a verified callback: in one transaction the payment and its order become paid and the attempt is marked.
 * Repeating it, also at the same time, changes nothing more. Locks in the order order → payment.
 */
export async function settle(callback: CallbackKey): Promise<Settlement> {
  const pending = await readPending(callback);
  if (!pending) return 'gone';
  if (pending.state === 'refused') return pending.verdict as Settlement;
  if (pending.state === 'settled') {
    // The run that did it may have died before it told anybody; telling twice is known by its key.
    if (pending.verdict === 'paid_needs_attention')
      await askForAttention(pending.payment_no, 'order_not_payable');
    return 'already_paid';
  }
  // Paid is final, so the many repeats of one callback need no lock to find out.
  if (pending.payment_status === 'paid') return markSettled(callback, 'already_paid');
  try {
    const result = await transact((t) => apply(callback, pending, t));
    await Promise.all([
      paymentTotals.changed(paymentPeriod(pending.payment_no) as number),
      orderTotals.changed(orderPeriod(pending.order_no) as number),
    ]);
    if (result === 'paid_needs_attention') await askForAttention(pending.payment_no, 'order_not_payable');
    return result;
  } catch (error) {
    if (!(error instanceof AppError) || error.slug !== 'third_party_no_used') throw error;
    await refuse(callback, pending.payment_no);
    return 'third_party_no_used';
  }
}

/**
 * Marks the other verified attempts for a payment that is paid, in one statement instead of one job each. Those under
 * another third-party number stay for a look of their own.
 */
export async function settleRepeats(paymentNo: string, thirdPartyNo: string): Promise<void> {
  const period = paymentPeriod(paymentNo) as number;
  await change(
    `UPDATE payment_callbacks c JOIN payments p ON p.payment_no = c.payment_no AND p.period = c.period
     SET c.state = 'settled', c.verdict = 'already_paid', c.settled_at = ?
     WHERE c.payment_no = ? AND c.period = ? AND c.third_party_no = ? AND c.state = 'pending'
       AND p.status = 'paid' AND p.third_party_no = c.third_party_no`,
    [now(), paymentNo, period, thirdPartyNo],
  );
}

async function readPending({ id, period }: CallbackKey): Promise<Pending | undefined> {
  const [row] = await select<Pending>(
    `SELECT c.type, c.state, c.verdict, c.payment_no, c.third_party_no, c.body, c.created_at, p.order_no,
       p.status AS payment_status
     FROM payment_callbacks c JOIN payments p ON p.payment_no = c.payment_no AND p.period = c.period
     WHERE c.id = ? AND c.period = ?`,
    [id, period],
  );
  return row;
}

async function apply(callback: CallbackKey, pending: Pending, t: Transaction): Promise<Settlement> {
  const { payment_no, order_no, type, third_party_no, body, created_at } = pending;
  if (await payTogether(callback, pending, t)) {
    await takeThirdPartyNumber(type, third_party_no, payment_no, t);
    return 'paid';
  }
  const [order] = await select<{ status: string; deleted_at: Date | null }>(
    'SELECT status, deleted_at FROM orders WHERE order_no = ? AND period = ? FOR UPDATE',
    [order_no, orderPeriod(order_no) as number],
    t,
  );
  const payable = order?.status === 'pending' && order.deleted_at === null;
  const at = now();
  const applied = await change(
    `UPDATE payments SET status = 'paid', third_party_no = ?, pay_time = ?, notify_data = ?, needs_attention = ?,
       fail_reason = ?, updated_at = ?
     WHERE payment_no = ? AND period = ? AND status IN ('pending', 'failed', 'cancelled')`,
    [
      ...[third_party_no, created_at, body, payable ? 0 : 1, payable ? null : 'order_not_payable', at],
      ...[payment_no, paymentPeriod(payment_no) as number],
    ],
    t,
  );
  const result = applied === 0 ? 'already_paid' : payable ? 'paid' : 'paid_needs_attention';
  if (applied > 0) {
    await takeThirdPartyNumber(type, third_party_no, payment_no, t);
    if (payable) await payOrder(order_no, payment_no, created_at, t);
  }
  return markSettled(callback, result, t);
}

// The usual case: one conditional statement moves payment, order and attempt together, or nothing at all.
async function payTogether({ id, period }: CallbackKey, pending: Pending, t: Transaction): Promise<boolean> {
  const { payment_no, order_no } = pending;
  const at = now();
  const moved = await change(
    `UPDATE orders o
       JOIN payments p ON p.payment_no = ? AND p.period = ? AND p.order_no = o.order_no
       JOIN payment_callbacks c ON c.id = ? AND c.period = ? AND c.payment_no = p.payment_no
     SET o.status = 'paid', o.paid_at = c.created_at, o.payment_no = p.payment_no, o.updated_at = ?,
       p.status = 'paid', p.third_party_no = c.third_party_no, p.pay_time = c.created_at, p.notify_data = c.body,
       p.needs_attention = 0, p.fail_reason = NULL, p.updated_at = ?,
       c.state = 'settled', c.verdict = 'paid', c.settled_at = ?
     WHERE o.order_no = ? AND o.period = ? AND o.status = 'pending' AND o.deleted_at IS NULL
       AND p.status IN ('pending', 'failed', 'cancelled') AND c.state = 'pending'`,
    [
      ...[payment_no, paymentPeriod(payment_no) as number, id, period, at, at, at],
      ...[order_no, orderPeriod(order_no) as number],
    ],
    t,
  );
  return moved > 0;
}

// Of two runs at the same time the first one says what the attempt came to.
async function markSettled(
  { id, period }: CallbackKey,
  result: Settlement,
  t?: Transaction,
): Promise<Settlement> {
  await change(
    `UPDATE payment_callbacks SET state = 'settled', verdict = ?, settled_at = ?
     WHERE id = ? AND period = ? AND state = 'pending'`,
    [result, now(), id, period],
    t,
  );
  return result;
}

async function payOrder(orderNo: string, paymentNo: string, paidAt: Date, t: Transaction): Promise<void> {
  await change(
    `UPDATE orders SET status = 'paid', paid_at = ?, payment_no = ?, updated_at = ?
     WHERE order_no = ? AND period = ? AND status = 'pending'`,
    [paidAt, paymentNo, now(), orderNo, orderPeriod(orderNo) as number],
    t,
  );
}

async function takeThirdPartyNumber(
  type: string,
  number: string,
  paymentNo: string,
  t: Transaction,
): Promise<void> {
  try {
    await change(
      'INSERT INTO third_party_numbers (type, third_party_no, payment_no) VALUES (?, ?, ?)',
      [type, number, paymentNo],
      t,
    );
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    fail('third_party_no_used');
  }
}

// The attempt comes last: dying in between leaves it pending, and the next run does both.
async function refuse({ id, period }: CallbackKey, paymentNo: string): Promise<void> {
  await flagForAttention(paymentNo, 'third_party_no_used');
  await change(
    `UPDATE payment_callbacks SET state = 'refused', verdict = 'third_party_no_used'
     WHERE id = ? AND period = ? AND state = 'pending'`,
    [id, period],
  );
}
