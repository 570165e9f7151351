// Payments a person must look at: marked on their row, told to every administrator once.
import { notify } from './notification.js';
import { flagPayment } from './payment.js';

export type AttentionReason = 'order_not_payable' | 'payment_amount_mismatch' | 'third_party_no_used';

const texts: Record<AttentionReason, string> = {
  order_not_payable:
    '款项已到账，但订单已无法支付 / the money arrived, but its order could no longer be paid',
  payment_amount_mismatch: '通知金额与支付金额不一致 / a callback carried another amount',
  third_party_no_used: '第三方交易号已被使用 / a third-party number was used before',
};

/** Tells every administrator, once per payment and reason, that a payment needs attention. */
export async function askForAttention(paymentNo: string, reason: AttentionReason): Promise<void> {
  await notify({
    type: 'system',
    title: '支付需要人工处理 / A payment needs attention',
    content: `${paymentNo}: ${texts[reason]}`,
    eventKey: `attention-${paymentNo}-${reason}`,
  });
}

/** Marks a payment as well, whose state stays as it is. */
export async function flagForAttention(paymentNo: string, reason: AttentionReason): Promise<void> {
  await flagPayment(paymentNo, reason);
  await askForAttention(paymentNo, reason);
}
