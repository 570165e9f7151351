// Payment methods.
import { code, count, flag, text, time, badge, type Cell } from '../parts/show/cells.tsx';
import { choice, position, note, slug, trueOrFalse, words, yesOrNo } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { channels } from '../parts/show/trade-states.ts';
import { channelConfig } from './channel-config.tsx';
import { MethodTest } from './method-test.tsx';

/** Fields of a form, below the name and the type, which stays. */
const others = {
  config: channelConfig(),
  code: slug(),
  is_active: trueOrFalse(),
  sort: position(),
  description: note(),
};

const known = flag(136);

/** The mock channel alone is signed with a secret. */
const secret: Cell<boolean> = {
  ...known,
  render: (value, row) => (row['type'] === 'mock' ? known.render(value, row) : text().render(null, row)),
};

export default resource('GET /api/admin/payment-methods', {
  name: 'payment-methods',
  title: ['支付方式', 'Payment methods'],
  one: ['支付方式', 'payment method'],
  empty: [
    '顾客的付款方式。新建一个“模拟”方式即可试用',
    'How customers can pay. A mock method is enough for a trial',
  ],
  label: 'name',
  labels: {
    is_active: ['启用', 'Enabled'],
    has_shared_secret: ['签名密钥', 'Signing secret'],
    config: ['渠道配置', 'Configuration'],
  },
  filters: { name: words(), code: words(), type: choice(channels), is_active: yesOrNo() },
  columns: {
    name: text(),
    code: code(),
    type: badge(channels),
    is_active: flag(),
    has_shared_secret: secret,
    sort: count(110),
    created_at: time(),
  },
  folded: ['sort'],
  more: { description: text(), updated_at: time() },
  show: 'GET /api/admin/payment-methods/{id}',
  create: {
    route: 'POST /api/admin/payment-methods',
    fields: { name: words(), type: choice(channels), ...others },
  },
  update: {
    route: 'PUT /api/admin/payment-methods/{id}',
    fields: { name: words(), ...others },
  },
  remove: 'DELETE /api/admin/payment-methods/{id}',
  removable: ({ in_use }) => !in_use,
  below: MethodTest,
});
