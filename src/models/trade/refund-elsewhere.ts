// Refunds that were made elsewhere, at the company itself: until a person has looked, nothing more of the payment is
// refunded here.
import type { Transaction } from 'sequelize';
import { fail } from '../../lib/errors/app-error.js';
import { isOpen } from './payment-attention.js';
import { lockPayment } from './payment-attempt.js';

/** Locks the payment, so that what is flagged meanwhile counts. @throws payment_refunded_elsewhere */
export async function assertNoneElsewhere(paymentNo: string, t: Transaction): Promise<void> {
  await lockPayment(paymentNo, t);
  if (await isOpen(paymentNo, 'refunded_elsewhere', t)) fail('payment_refunded_elsewhere');
}
