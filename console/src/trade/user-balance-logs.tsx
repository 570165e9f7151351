// Changes of balances.
import { badge, code, money, named, text, time } from '../parts/show/cells.tsx';
import { choice, option, words } from '../parts/form/fields.tsx';
import { userPicker } from '../parts/form/user-picker.tsx';
import { resource } from '../parts/resource.ts';
import { balanceTypes } from '../parts/show/trade-states.ts';

export default resource('GET /api/admin/user-balance-logs', {
  name: 'user-balance-logs',
  title: ['余额记录', 'Balance changes'],
  empty: ['用户余额的每次变动都会记录在这里', 'Every change of a balance is recorded here'],
  labels: {
    source_id: ['来源编号', 'Source number'],
    balance_before: ['变动前', 'Before'],
    balance_after: ['变动后', 'After'],
    request_id: ['请求号', 'Request'],
  },
  stale: ['user_balance_logs'],
  filters: {
    user_id: userPicker(),
    type: choice(balanceTypes),
    source: words(),
    operator_id: option('admin'),
  },
  dateRange: true,
  sortable: ['amount', 'created_at'],
  columns: {
    user: named('username', ({ id }) => `/trade/users/${id}`, 112),
    type: badge(balanceTypes, 84),
    amount: money(124),
    balance_before: money(),
    balance_after: money(124),
    source: text(110),
    description: text(180),
    operator: named('username', undefined, 110),
    created_at: time(),
  },
  folded: ['balance_before', 'source'],
  more: { source_id: code(), request_id: code() },
  exportTo: 'POST /api/admin/user-balance-logs/export',
});
