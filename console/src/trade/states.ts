// Display names of states.
import { states } from '../parts/states.tsx';

export const orderStates = states({
  pending: ['待支付', 'Pending', 'gold'],
  paid: ['已支付', 'Paid', 'green'],
  cancelled: ['已取消', 'Cancelled', 'grey'],
});

export const balanceTypes = states({
  income: ['收入', 'Income', 'green'],
  expense: ['支出', 'Expense', 'red'],
  refund: ['退款', 'Refund', 'blue'],
});
