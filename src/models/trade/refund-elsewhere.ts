// Refunds that were made elsewhere, at the company itself: until a person has looked, nothing more of the payment is
// refunded here.
import type { Transaction } from 'sequelize';
import { fail } from '../../lib/errors/app-error.js';
import type { Text } from '../../lib/values/language.js';
import { isOpen } from './payment-attention.js';
import { lockPayment } from './payment-attempt.js';

/** Why a refund is not sent. */
export const heldBack: Text = {
  zh: '渠道报告了本服务没有发起的退款，处理该支付的提醒后再发送',
  en: 'held back until somebody has looked at the refund that was not made here',
};

/** Locks the payment, so that what is flagged meanwhile counts. @throws payment_refunded_elsewhere */
export async function assertNoneElsewhere(paymentNo: string, t: Transaction): Promise<void> {
  await lockPayment(paymentNo, t);
  if (await isHeldBack(paymentNo, t)) fail('payment_refunded_elsewhere');
}

/** Whether nothing of a payment is refunded here. */
export const isHeldBack = (paymentNo: string, t?: Transaction): Promise<boolean> =>
  isOpen(paymentNo, 'refunded_elsewhere', t);
