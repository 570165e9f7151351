// Customers and their balances.
import { lazy } from 'react';
import { texts } from '../contract/texts.ts';
import { code, money, status, text, time } from '../parts/show/cells.tsx';
import {
  amount,
  choice,
  note,
  onOff,
  newPassword,
  newUsername,
  status as statusFilter,
  words,
} from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { fromCents, showAmount, toCents } from '../parts/show/money.ts';
import { balanceTypes } from '../parts/show/trade-states.ts';

const t = texts({
  deduct: ['扣除', 'Deduct'],
  add: ['增加', 'Add'],
  deductSure: [
    (user: string, amount: string, from: string, to: string) =>
      `从 ${user} 扣除 ${amount}：${from} → ${to}？`,
    (user, amount, from, to) => `Deduct ${amount} from ${user}: ${from} → ${to}?`,
  ],
  addSure: [
    (user: string, amount: string, from: string, to: string) =>
      `为 ${user} 增加 ${amount}：${from} → ${to}？`,
    (user, amount, from, to) => `Add ${amount} to ${user}: ${from} → ${to}?`,
  ],
});

interface Account {
  username: string;
  balance: string;
}

/** Both balances in words, before money moves. */
function sureOf({ username, balance }: Account, { type, amount }: { type: string; amount: string }) {
  const danger = type === 'expense';
  const after = toCents(balance) + (danger ? -toCents(amount) : toCents(amount));
  const say = danger ? t.deductSure : t.addSure;
  const title = say(username, showAmount(amount), showAmount(balance), showAmount(fromCents(after)));
  return { title, button: danger ? t.deduct : t.add, danger };
}

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
    id: ['用户编号', 'User ID'],
  },
  stale: ['users', 'user_balance_logs'],
  filters: { username: words(), nickname: words(), email: words(), phone: words(), status: statusFilter() },
  dateRange: true,
  sortable: ['username', 'balance', 'created_at'],
  columns: {
    // As files of imports name it: without commas.
    id: { ...text(80), align: 'right' },
    username: code(124),
    nickname: text(124),
    balance: money(124),
    status: status(),
    email: { ...text(124), grows: true },
    phone: text(132),
    created_at: time(166),
  },
  more: { last_login_at: time(), updated_at: time() },
  show: 'GET /api/admin/users/{id}',
  create: {
    route: 'POST /api/admin/users',
    fields: {
      username: newUsername(),
      password: newPassword(),
      nickname: words(),
      email: words(),
      phone: words(),
      status: onOff(),
    },
  },
  update: {
    route: 'PUT /api/admin/users/{id}',
    fields: { username: newUsername(), nickname: words(), email: words(), phone: words(), status: onOff() },
  },
  actions: [
    {
      route: 'POST /api/admin/users/{id}/update-balance',
      text: ['调整余额', 'Adjust balance'],
      about: ({ username, balance }) => `${username} · ${showAmount(balance)}`,
      form: { type: choice(balanceTypes), amount: amount(), description: note(2) },
      ask: sureOf,
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
