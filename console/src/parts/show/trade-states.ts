// Display names of the states of orders and payments, and of channels.
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

export const channels = states({
  mock: ['模拟', 'Mock', 'grey'],
  wechat: ['微信支付', 'WeChat Pay', 'green'],
  alipay: ['支付宝', 'Alipay', 'blue'],
});
