// What to do about a payment that a person must look at.
import { texts } from '../contract/texts.ts';

const t = texts({
  'zh-CN': {
    paid: '请核对渠道账单：多付或重复支付的款项应在渠道后台退款，然后标记为已处理并写明退款单号。',
    open: '请在渠道后台核对这笔交易：若确已付款，请联系渠道补发回调或为顾客退款；处理后标记并写明原因。',
  },
  'en-US': {
    paid: 'Compare with the statement of the channel: refund there what was paid twice or too much, then mark it as handled with the number of the refund.',
    open: 'Look the trade up with the channel: if money did arrive, have the callback sent again or refund the customer; then mark it as handled with the reason.',
  },
});

export const adviceFor = (status: string): string => (status === 'paid' ? t.paid : t.open);
