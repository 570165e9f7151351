// Payments of orders.
import { lazy } from 'react';
import { badge, code, flag, money, named, numberEnd, numberLink, text, time } from '../parts/show/cells.tsx';
import { choice, integer, note, option, words, yesOrNo } from '../parts/form/fields.tsx';
import { userPicker } from '../parts/form/user-picker.tsx';
import { resource } from '../parts/resource.ts';
import { paymentStates, paymentTimeFields } from '../parts/show/trade-states.ts';
import { PaymentTabs } from './attention.tsx';
import { explained, handled } from './handled.ts';

export default resource('GET /api/admin/payments', {
  name: 'payments',
  title: ['支付记录', 'Payments'],
  one: ['支付', 'payment'],
  empty: [
    '这里是订单的支付。在订单页点“发起支付”即可开始',
    'Payments of orders. Open an order and choose “Start payment” to begin',
  ],
  id: 'payment_no',
  label: 'payment_no',
  labels: {
    pay_time: ['支付时间', 'Paid'],
    fail_reason: ['原因', 'Reason'],
    refunded_amount: ['已退款', 'Refunded'],
  },
  stale: ['payments', 'orders'],
  above: PaymentTabs,
  hasSum: true,
  filters: {
    payment_no: words(),
    status: choice(paymentStates),
    user_id: userPicker(),
    payment_method_id: option('payment_method'),
    order_no: words(),
    third_party_no: words(),
    needs_attention: yesOrNo(),
    assignee_id: option('admin'),
    pending_longer_than: integer(1, 5_256_000),
    time_field: choice(paymentTimeFields),
  },
  rare: ['order_no', 'third_party_no', 'needs_attention', 'assignee_id', 'pending_longer_than', 'time_field'],
  dateRange: true,
  sortable: ['amount', 'created_at', 'pay_time'],
  columns: {
    payment_no: numberEnd(122),
    order_no: numberLink((number) => `/trade/orders/${number}`, 122),
    user: named('username', ({ id }) => `/trade/users/${id}`, 148),
    amount: money(124),
    status: badge(paymentStates, 84),
    fail_reason: explained(138),
    assignee: named('username', undefined, 104),
    payment_method: named('name', undefined, 126),
    needs_attention: flag(110),
    third_party_no: code(200),
    pay_time: time(),
    created_at: time(),
  },
  folded: ['assignee', 'payment_method', 'needs_attention', 'third_party_no', 'pay_time'],
  more: { refunded_amount: money(), remark: text(), updated_at: time() },
  show: 'GET /api/admin/payments/{id}',
  actions: [
    {
      route: 'PUT /api/admin/payments/{id}',
      text: ['修改备注', 'Edit note'],
      form: { remark: note() },
    },
    {
      route: 'PUT /api/admin/payments/{id}',
      text: ['由我处理', 'Assign to me'],
      many: true,
      when: ({ needs_attention, assignee_id }, { id }) => needs_attention && assignee_id !== id,
      body: (_, { id }) => ({ assignee_id: id }),
      overwrites: 'assignee_id',
    },
    {
      route: 'PUT /api/admin/payments/{id}',
      text: ['不再由我处理', 'Release'],
      when: ({ needs_attention, assignee_id }, { id }) => needs_attention && assignee_id === id,
      body: { assignee_id: null },
    },
    {
      route: 'PUT /api/admin/payments/{id}',
      ...handled,
      form: { remark: { ...note(), isRequired: true } },
    },
  ],
  exportTo: 'POST /api/admin/payments/export',
  detail: lazy(() => import('./payment.tsx')),
});
