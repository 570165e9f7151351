// Display names of the states of orders, payments and refunds, of balance changes, of channels, and of the times of payments.
import { states } from './states.tsx';

export const orderStates = states({
  pending: ['待支付', 'Pending', 'gold'],
  paid: ['已支付', 'Paid', 'green'],
  cancelled: ['已取消', 'Cancelled', 'grey'],
});

export const paymentStates = states({
  pending: ['待支付', 'Pending', 'gold'],
  paid: ['已支付', 'Paid', 'green'],
  failed: ['失败', 'Failed', 'red'],
  cancelled: ['已取消', 'Cancelled', 'grey'],
});

export const refundStates = states({
  waiting: ['待审批', 'Waiting for approval', 'gold'],
  pending: ['待发送', 'To be sent', 'gold'],
  processing: ['处理中', 'Processing', 'blue'],
  succeeded: ['已退款', 'Refunded', 'green'],
  failed: ['失败', 'Failed', 'red'],
  rejected: ['已驳回', 'Rejected', 'grey'],
});

export const destinations = states({
  channel: ['原路退回', 'Channel', 'blue'],
  balance: ['用户余额', 'Balance', 'green'],
});

export const balanceTypes = states({
  income: ['收入', 'Income', 'green'],
  expense: ['支出', 'Expense', 'red'],
  refund: ['退款', 'Refund', 'blue'],
});

/** Which time of an order a range is about. */
export const orderTimeFields = states({
  created_at: ['创建时间', 'creation', 'grey'],
  paid_at: ['支付时间', 'payment', 'grey'],
});

/** The same of a payment. */
export const paymentTimeFields = states({
  created_at: ['创建时间', 'creation', 'grey'],
  pay_time: ['支付时间', 'payment', 'grey'],
});

/** The same of a refund. */
export const refundTimeFields = states({
  created_at: ['创建时间', 'creation', 'grey'],
  finished_at: ['完成时间', 'end', 'grey'],
});

export const channels = states({
  mock: ['模拟', 'Mock', 'grey'],
  wechat: ['微信支付', 'WeChat Pay', 'green'],
  alipay: ['支付宝', 'Alipay', 'blue'],
});
