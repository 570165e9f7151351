// Orders.
import { lazy } from 'react';
import { badge, code, money, named, text, time } from '../parts/cells.tsx';
import { amount, choice, integer, note, userPicker, words } from '../parts/fields.tsx';
import { lines } from '../parts/lines.tsx';
import { resource } from '../parts/resource.ts';
import { ImportLink } from './import-link.tsx';
import { orderStates } from './states.ts';

export const orders = resource('GET /api/admin/orders', {
  name: 'orders',
  title: ['订单', 'Orders'],
  empty: ['还没有订单。新建一个，或从文件导入', 'No orders yet. Create one, or import a file'],
  id: 'order_no',
  label: 'order_no',
  labels: {
    keyword: ['关键词', 'Search'],
    min_amount: ['最低金额', 'Least amount'],
    max_amount: ['最高金额', 'Most amount'],
    paid_at: ['支付时间', 'Paid'],
    expire_at: ['过期时间', 'Expires'],
    payment_no: ['支付单号', 'Payment'],
    details: ['商品明细', 'Lines'],
    expire_in_seconds: ['多少秒后过期', 'Expires after seconds'],
  },
  stale: ['orders', 'payments'],
  filters: {
    keyword: words(),
    order_no: words(),
    status: choice(orderStates),
    user_id: userPicker(),
    min_amount: amount(),
    max_amount: amount(),
  },
  period: true,
  sortable: ['amount', 'created_at', 'paid_at'],
  columns: {
    order_no: code(284),
    user: named('username', ({ id }) => `/trade/users/${id}`, 112),
    amount: money(116),
    status: badge(orderStates, 84),
    paid_at: time(),
    created_at: time(),
  },
  more: { remark: text(200), expire_at: time(), payment_no: code(), updated_at: time() },
  show: 'GET /api/admin/orders/{id}',
  create: {
    route: 'POST /api/admin/orders',
    wide: true,
    fields: {
      user_id: userPicker(),
      details: lines(),
      remark: note(),
      expire_in_seconds: integer(1, 31_536_000),
    },
  },
  actions: [
    {
      route: 'PUT /api/admin/orders/{id}',
      text: ['修改备注', 'Change the remark'],
      form: { remark: note() },
    },
    {
      route: 'PUT /api/admin/orders/{id}',
      text: ['取消订单', 'Cancel the order'],
      when: ({ status }) => status === 'pending',
      sure: ['取消后不能再支付，确定取消？', 'A cancelled order cannot be paid. Cancel it?'],
      danger: true,
      body: { status: 'cancelled' },
    },
  ],
  remove: 'DELETE /api/admin/orders/{id}',
  exportTo: 'POST /api/admin/orders/export',
  extra: ImportLink,
  detail: lazy(() => import('./order.tsx')),
});

export default orders;
