// Display names of states.
import { states } from '../parts/show/states.tsx';

export const balanceTypes = states({
  income: ['收入', 'Income', 'green'],
  expense: ['支出', 'Expense', 'red'],
  refund: ['退款', 'Refund', 'blue'],
});
