// What placing a payment with its channel reads and leaves behind; it never moves a payment's state.
import { now } from '../../lib/clock.js';
import { change, select } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { Money } from '../../lib/money.js';
import { orderPeriod, paymentPeriod } from '../../lib/numbers.js';

/** What is to be paid. */
export interface Payable {
  amount: Money;
  /** When it can no longer be paid; null when it can for ever. */
  expireAt: Date | null;
}

interface OrderRow {
  amount: string;
  status: string;
  expire_at: Date | null;
}

/**
 * A waiting payment of an order that waits for it.
 *
 * @throws order_not_payable when one of them is paid, cancelled or expired
 */
export async function payablePayment(paymentNo: string, orderNo: string): Promise<Payable> {
  const [both] = await select<OrderRow & { payment_status: string }>(
    `SELECT o.amount, o.status, o.expire_at, p.status AS payment_status
     FROM orders o JOIN payments p ON p.payment_no = ? AND p.period = ?
     WHERE o.order_no = ? AND o.period = ? AND o.deleted_at IS NULL`,
    [paymentNo, paymentPeriod(paymentNo) ?? 0, orderNo, orderPeriod(orderNo) ?? 0],
  );
  return both?.payment_status === 'pending' ? toPayable(both) : fail('order_not_payable');
}

function toPayable({ amount, status, expire_at }: OrderRow): Payable {
  const isExpired = expire_at !== null && expire_at <= now();
  if (status !== 'pending' || isExpired) fail('order_not_payable');
  return { amount: Money.from(amount), expireAt: expire_at };
}

/**
 * Keeps why a waiting payment could not be placed, or that it now could be. What is noted for a person to look at
 * stays.
 *
 * @param reason up to 255 characters, null when it was placed
 */
export async function notePlacement(paymentNo: string, reason: string | null): Promise<void> {
  await change(
    `UPDATE payments SET fail_reason = ?, updated_at = ?
     WHERE payment_no = ? AND period = ? AND status = 'pending' AND needs_attention = 0`,
    [reason, now(), paymentNo, paymentPeriod(paymentNo) ?? 0],
  );
}
