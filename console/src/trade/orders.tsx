// Orders.
import { UploadOutlined } from '@ant-design/icons';
import { lazy } from 'react';
import { badge, code, money, named, numberEnd, text, time } from '../parts/show/cells.tsx';
import { amount, choice, minutes, note, words } from '../parts/form/fields.tsx';
import { lines } from '../parts/form/lines.tsx';
import { userPicker } from '../parts/form/user-picker.tsx';
import { resource } from '../parts/resource.ts';
import { permittedLink } from '../parts/show/permitted.tsx';
import { orderStates, orderTimeFields } from '../parts/show/trade-states.ts';

export default resource('GET /api/admin/orders', {
  name: 'orders',
  title: ['订单', 'Orders'],
  one: ['订单', 'order'],
  empty: [
    '这里是用户要支付的订单。新建一个，或从 CSV 文件导入；支付在订单页发起',
    'What users are to pay for. Create an order, or import a CSV file; its payment begins on its page',
  ],
  id: 'order_no',
  label: 'order_no',
  labels: {
    paid_at: ['支付时间', 'Paid'],
    cancelled_at: ['取消时间', 'Cancelled'],
    expire_at: ['过期时间', 'Expires'],
    details: ['商品明细', 'Lines'],
    expire_in_seconds: ['有效期（分钟，留空则永不过期）', 'Expires in (minutes; empty: never)'],
  },
  stale: ['orders', 'payments'],
  hasSum: true,
  filters: {
    order_no: words(),
    status: choice(orderStates),
    user_id: userPicker(),
    keyword: words(),
    min_amount: amount(),
    max_amount: amount(),
    time_field: choice(orderTimeFields),
  },
  rare: ['keyword', 'min_amount', 'max_amount', 'time_field'],
  dateRange: true,
  sortable: ['amount', 'created_at', 'paid_at'],
  columns: {
    order_no: numberEnd(150),
    user: named('username', ({ id }) => `/trade/users/${id}`, 150),
    amount: money(130),
    status: badge(orderStates, 84),
    paid_at: time(),
    created_at: time(),
  },
  more: {
    remark: text(200),
    expire_at: time(),
    cancelled_at: time(),
    payment_no: code(),
    updated_at: time(),
  },
  show: 'GET /api/admin/orders/{id}',
  create: {
    route: 'POST /api/admin/orders',
    wide: true,
    fields: {
      user_id: userPicker(),
      details: lines(),
      remark: note(),
      expire_in_seconds: minutes(525_600),
    },
  },
  actions: [
    {
      route: 'PUT /api/admin/orders/{id}',
      text: ['修改备注', 'Edit note'],
      form: { remark: note() },
    },
    {
      route: 'PUT /api/admin/orders/{id}',
      text: ['取消订单', 'Cancel order'],
      many: true,
      when: ({ status }) => status === 'pending',
      sure: ['取消后不能再支付，确定取消？', 'A cancelled order can no longer be paid. Cancel it?'],
      danger: true,
      body: { status: 'cancelled' },
    },
  ],
  remove: 'DELETE /api/admin/orders/{id}',
  removable: ({ status }) => status !== 'paid',
  exportTo: 'POST /api/admin/orders/export',
  extra: permittedLink(['POST /api/admin/orders/import', 'GET /api/admin/imports/{id}'], ['导入', 'Import'], {
    to: '/imports/imports/new',
    icon: <UploadOutlined />,
  }),
  detail: lazy(() => import('./order.tsx')),
});
