// Customers and their balances.
import { lazy } from 'react';
import { code, money, status, text, time } from '../parts/cells.tsx';
import { amount, choice, note, onOff, secret, status as statusFilter, words } from '../parts/fields.tsx';
import { resource } from '../parts/resource.ts';
import { balanceTypes } from './states.ts';

export default resource('GET /api/admin/users', {
  name: 'users',
  title: ['用户', 'Users'],
  empty: ['还没有用户', 'No users yet'],
  label: 'username',
  labels: {
    balance: ['余额', 'Balance'],
    last_login_at: ['最近登录', 'Last sign-in'],
    source: ['来源', 'Source'],
  },
  stale: ['users', 'user_balance_logs'],
  filters: { username: words(), nickname: words(), email: words(), phone: words(), status: statusFilter() },
  period: true,
  sortable: ['username', 'balance', 'created_at'],
  columns: {
    username: code(140),
    nickname: text(104),
    balance: money(120),
    status: status(),
    email: text(190),
    phone: text(120),
    created_at: time(),
  },
  more: { last_login_at: time(), updated_at: time() },
  show: 'GET /api/admin/users/{id}',
  create: {
    route: 'POST /api/admin/users',
    fields: {
      username: words(),
      password: secret(),
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
      text: ['调整余额', 'Change the balance'],
      form: { type: choice(balanceTypes), amount: amount(), description: note(2) },
    },
    {
      route: 'PUT /api/admin/users/{id}',
      text: ['冻结', 'Freeze'],
      danger: true,
      when: (row) => row.status === 1,
      sure: ['冻结后该用户不能再下单，确定冻结？', 'A frozen user cannot order any more. Freeze?'],
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
      text: ['重置密码', 'Set a new password'],
      form: { password: secret() },
    },
  ],
  remove: 'DELETE /api/admin/users/{id}',
  exportTo: 'POST /api/admin/users/export',
  detail: lazy(() => import('./user.tsx')),
});
