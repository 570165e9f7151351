// What placing a payment with its channel reads and leaves behind; it never moves a payment's state.
import { now } from '../lib/clock.js';
import { change, select } from '../lib/db.js';
import { orderPeriod, paymentPeriod } from '../lib/numbers.js';

/** When the order can no longer be paid; null when it can for ever. */
export async function orderExpiry(orderNo: string): Promise<Date | null> {
  const [order] = await select<{ expire_at: Date | null }>(
    'SELECT expire_at FROM orders WHERE order_no = ? AND period = ?',
    [orderNo, orderPeriod(orderNo) ?? 0],
  );
  return order?.expire_at ?? null;
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
