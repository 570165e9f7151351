// Customers and their balances.
import { lazy } from 'react';
import { code, count, money, status, text, time } from '../parts/show/cells.tsx';
import {
  amount,
  choice,
  note,
  onOff,
  newPassword,
  status as statusFilter,
  words,
} from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { balanceTypes } from '../parts/show/trade-states.ts';

export default resource('GET /api/admin/users', {
  name: 'users',
  title: ['用户', 'Users'],
  one: ['用户', 'user'],
  empty: [
    '这里是下单和持有余额的顾客。新建一个用户后即可为其下单',
    'Customers who place orders and hold a balance. Create one to place an order for them',
  ],
  label: 'username',
  labels: {
    balance: ['余额', 'Balance'],
    last_login_at: ['最近登录', 'Last sign-in'],
    source: ['来源', 'Source'],
    id: ['用户编号', 'User ID'],
  },
  stale: ['users', 'user_balance_logs'],
  filters: { username: words(), nickname: words(), email: words(), phone: words(), status: statusFilter() },
  dateRange: true,
  sortable: ['username', 'balance', 'created_at'],
  columns: {
    id: count(80),
    username: code(130),
    nickname: text(100),
    balance: money(116),
    status: status(),
    email: text(146),
    phone: text(116),
    created_at: time(166),
  },
  more: { last_login_at: time(), updated_at: time() },
  show: 'GET /api/admin/users/{id}',
  create: {
    route: 'POST /api/admin/users',
    fields: {
      username: words(),
      password: newPassword(),
      nickname: words(),
      email: words(),
      phone: words(),
      status: onOff(),
    },
  },
  update: {
    route: 'PUT /api/admin/users/{id}',
    fields: { username: words(), nickname: words(), email: words(), phone: words(), status: onOff() },
  },
  actions: [
    {
      route: 'POST /api/admin/users/{id}/update-balance',
      text: ['调整余额', 'Adjust balance'],
      form: { type: choice(balanceTypes), amount: amount(), description: note(2) },
    },
    {
      route: 'PUT /api/admin/users/{id}',
      text: ['冻结', 'Freeze'],
      danger: true,
      when: (row) => row.status === 1,
      sure: [
        '冻结后该用户不能再下单，确定冻结？',
        'A frozen user can no longer place orders. Freeze this user?',
      ],
      body: { status: 0 },
    },
    {
      route: 'PUT /api/admin/users/{id}',
      text: ['解冻', 'Unfreeze'],
      when: (row) => row.status === 0,
      body: { status: 1 },
    },
    {
      route: 'PUT /api/admin/users/{id}/password',
      text: ['重置密码', 'Reset password'],
      form: { password: newPassword() },
    },
  ],
  remove: 'DELETE /api/admin/users/{id}',
  removable: ({ balance }) => Number(balance) === 0,
  exportTo: 'POST /api/admin/users/export',
  detail: lazy(() => import('./user.tsx')),
});
