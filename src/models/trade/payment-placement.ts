// What placing a payment with its channel reads and writes; it never changes a payment's status.
import type { Channel } from '../../lib/channels/channel.js';
import { now } from '../../lib/values/clock.js';
import { fail } from '../../lib/errors/app-error.js';
import type { Money } from '../../lib/values/money.js';
import { orderPeriod, paymentKey } from '../../lib/values/numbers.js';
import { columnsOf, selection, type RowOf } from '../tables/selection.js';
import { updateRows } from '../tables/rows.js';
import { beingPaid } from './payment-callback.js';
import { Order, Payment } from './tables.js';

/** What is to be paid. */
export interface Payable {
  amount: Money;
  /** When it can no longer be paid; null: never. */
  expireAt: Date | null;
}

const shown = {
  ...columnsOf(Order, 'o', 'amount', 'status', 'expire_at'),
  payment_status: columnsOf(Payment, 'p', 'status').status,
  is_being_paid: beingPaid,
};

const payables = selection(shown, 'orders o', 'JOIN payments p');

/**
 * What is to be paid by a pending payment of a pending order.
 *
 * @throws order_not_payable when one of them is paid, cancelled or expired; order_being_paid
 */
export async function payablePayment(paymentNo: string, orderNo: string): Promise<Payable> {
  const both = await payables.first(
    `WHERE p.payment_no = :payment_no AND p.period = :period AND o.order_no = :order_no AND o.period = :month
         AND o.deleted_at IS NULL`,
    { ...paymentKey(paymentNo), order_no: orderNo, month: orderPeriod(orderNo) ?? 0 },
  );
  return both?.payment_status === 'pending' ? toPayable(both, now()) : fail('order_not_payable');
}

/**
 * What is to be paid for an order.
 *
 * @param at an order whose time is up by then can no longer be paid
 * @throws order_not_payable, order_being_paid
 */
export function toPayable({ amount, status, expire_at, is_being_paid }: OrderToPay, at: Date): Payable {
  const isExpired = expire_at !== null && expire_at <= at;
  if (status !== 'pending' || isExpired) fail('order_not_payable');
  if (is_being_paid) fail('order_being_paid');
  return { amount, expireAt: expire_at };
}

type OrderToPay = Omit<RowOf<typeof shown>, 'payment_status'>;

/**
 * Checks the limits of the channel, beyond which the customer would only see its error page.
 *
 * @throws payment_beyond_channel, order_expires_too_soon
 */
export function assertFitsChannel({ placingLimits }: Channel, { amount, expireAt }: Payable): void {
  if (!placingLimits) return;
  const { minAmount: min, maxAmount: max, minMs } = placingLimits;
  const isBeyond = amount.cents < min.cents || (max !== undefined && amount.cents > max.cents);
  if (isBeyond)
    fail('payment_beyond_channel', { params: { min: min.toString(), max: max?.toString() ?? '∞' } });
  if (expireAt && expireAt.getTime() < now().getTime() + minMs) fail('order_expires_too_soon');
}

/**
 * Records why a pending payment could not be placed, or that it was. The reason of an attention flag stays.
 *
 * @param reason up to 255 characters, null when it was placed
 */
export async function recordPlacement(paymentNo: string, reason: string | null): Promise<void> {
  await updateRows(
    Payment,
    { fail_reason: reason, updated_at: now() },
    { ...paymentKey(paymentNo), status: 'pending', needs_attention: false },
  );
}
