// Verification of callbacks: the same for a new one, a replayed one and a test.
import type { Channel, Notification } from '../../lib/channels/channel.js';
import { isEnabled } from '../../lib/channels/index.js';
import type { ErrorSlug } from '../../lib/error-catalogue/index.js';
import {
  recordAttempt,
  recordVerified,
  type Attempt,
  type CalledPayment,
} from '../../models/trade/callback-intake.js';
import type { Accepted } from './callback-settlement.js';

/** A verified callback. */
export interface Believed {
  notification: Notification;
  payment: CalledPayment;
}

/** A callback as it is read. */
export interface Claimed {
  fields: Record<string, unknown>;
  /** What it claims; undefined when it is no success notice, or its channel reads none. */
  notification: Notification | undefined;
  /** The payment it names. */
  payment: CalledPayment | undefined;
}

/** Verifies a callback. @returns the slug of the refusal when it fails */
export function judge(channel: Channel, { fields, notification, payment }: Claimed): Believed | ErrorSlug {
  const { type } = channel;
  if (!isEnabled(type)) return 'payment_gateway_disabled';
  if (!channel.read || !channel.isAuthentic) return 'payment_gateway_not_implemented';
  if (!notification) return 'payment_notify_invalid';
  if (!payment || payment.methodType !== type) return 'payment_not_found';
  const { amount, config } = payment;
  if (!config) return 'payment_secret_unreadable';
  if (!channel.isAuthentic(fields, { paymentNo: notification.paymentNo, amount, config }))
    return 'payment_sign_invalid';
  if (notification.amounts.some((given) => !given.equals(amount))) return 'payment_amount_mismatch';
  return { notification, payment };
}

/** Whether the payment was paid by that very callback before. */
export const isPaidBy = ({ notification, payment }: Believed): boolean =>
  payment.status === 'paid' && payment.thirdPartyNo === notification.thirdPartyNo;

/**
 * Stores a verified callback, to be settled.
 *
 * @returns undefined when its third-party number belongs to another payment; its own is then flagged
 */
export async function acceptCallback(
  believed: Believed,
  attempt: Omit<Attempt, 'paymentNo' | 'thirdPartyNo' | 'state' | 'verdict'>,
): Promise<Accepted | undefined> {
  const { paymentNo, thirdPartyNo } = believed.notification;
  const numbers = { paymentNo, orderNo: believed.payment.orderNo };
  const kept = { ...attempt, paymentNo, thirdPartyNo };
  if (isPaidBy(believed)) {
    await recordAttempt({ ...kept, state: 'settled', verdict: 'already_paid' });
    return { ...numbers, callback: undefined };
  }
  const callback = await recordVerified({ ...kept, state: 'pending', verdict: 'verified' });
  return callback && { ...numbers, callback };
}
