// Payments of orders.
import { lazy } from 'react';
import { badge, code, custom, flag, money, named, text, time } from '../parts/cells.tsx';
import { choice, integer, note, option, userPicker, words, yesOrNo } from '../parts/fields.tsx';
import { resource } from '../parts/resource.ts';
import { states } from '../parts/states.tsx';
import { AttentionTabs } from './attention.tsx';
import { paymentStates } from '../parts/payment-states.ts';
import { meaningOf } from './verdicts.ts';

const timeFields = states({
  created_at: ['按创建时间', 'By creation', 'grey'],
  pay_time: ['按支付时间', 'By payment', 'grey'],
});

export const payments = resource('GET /api/admin/payments', {
  name: 'payments',
  title: ['支付记录', 'Payments'],
  empty: ['还没有支付记录。在订单页发起支付', 'No payments yet. Create one from the page of an order'],
  id: 'payment_no',
  label: 'payment_no',
  labels: {
    payment_method: ['支付方式', 'Method'],
    payment_method_id: ['支付方式', 'Method'],
    third_party_no: ['第三方单号', 'Third-party number'],
    pay_time: ['支付时间', 'Paid'],
    needs_attention: ['需要处理', 'Needs attention'],
    fail_reason: ['原因', 'Reason'],
    pending_longer_than: ['等待超过（分钟）', 'Pending longer than (min)'],
    time_field: ['时间范围', 'Period applies'],
  },
  stale: ['payments', 'orders'],
  above: AttentionTabs,
  filters: {
    payment_no: words(),
    order_no: words(),
    third_party_no: words(),
    payment_method_id: option('payment_method'),
    user_id: userPicker(),
    status: choice(paymentStates),
    needs_attention: yesOrNo(),
    pending_longer_than: integer(1, 5_256_000),
    time_field: choice(timeFields),
  },
  period: true,
  sortable: ['amount', 'created_at', 'pay_time'],
  columns: {
    payment_no: code(298),
    order_no: code(284),
    payment_method: named('name', undefined, 126),
    amount: money(112),
    status: badge(paymentStates, 84),
    needs_attention: flag(110),
    fail_reason: custom((reason) => (reason ? meaningOf(reason) : '–'), 140),
    third_party_no: code(200),
    pay_time: time(),
    created_at: time(),
  },
  folded: ['order_no', 'needs_attention', 'third_party_no', 'pay_time'],
  more: { remark: text(), updated_at: time() },
  show: 'GET /api/admin/payments/{id}',
  actions: [
    {
      route: 'PUT /api/admin/payments/{id}',
      text: ['修改备注', 'Change the remark'],
      form: { remark: note() },
    },
    {
      route: 'PUT /api/admin/payments/{id}',
      text: ['标记为已处理', 'Mark as handled'],
      when: ({ needs_attention }) => needs_attention,
      form: { remark: note() },
      body: ({ fail_reason }) => ({ needs_attention: false, fail_reason: fail_reason ?? '' }),
    },
  ],
  exportTo: 'POST /api/admin/payments/export',
  detail: lazy(() => import('./payment.tsx')),
});

export default payments;
