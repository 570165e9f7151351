// Refunds of payments.
import { Alert } from 'antd';
import { texts } from '../contract/texts.ts';
import { badge, code, flag, money, named, numberEnd, numberLink, text, time } from '../parts/show/cells.tsx';
import { choice, option, words, yesOrNo } from '../parts/form/fields.tsx';
import { userPicker } from '../parts/form/user-picker.tsx';
import { resource } from '../parts/resource.ts';
import { showAmount } from '../parts/show/money.ts';
import { answers } from '../parts/show/profile.ts';
import { nameOf } from '../parts/show/states.tsx';
import { destinations, refundStates, refundTimeFields } from '../parts/show/trade-states.ts';
import { RefundTabs } from './attention.tsx';
import { explained, handled } from './handled.ts';
import { adviceFor, meaningOf } from './verdicts.ts';

interface Props {
  row: { needs_attention: boolean; fail_reason: string | null };
}

function RefundAdvice({ row: { needs_attention, fail_reason } }: Props) {
  if (!needs_attention || !fail_reason) return null;
  return (
    <Alert
      className="drawer-lead"
      type="warning"
      showIcon
      title={meaningOf(fail_reason)}
      description={adviceFor(fail_reason)}
    />
  );
}

const t = texts({
  about: [
    (amount: string, user: string, to: string) => `向 ${user} 退款 ${amount}（${to}）`,
    (amount, user, to) => `${amount} to ${user} (${to})`,
  ],
});

interface Asked {
  amount: string;
  user: { username: string } | null;
  destination: string;
}

/** What is decided upon: how much, to whom, by which way. */
const about = ({ amount, user, destination }: Asked): string =>
  t.about(showAmount(amount), user?.username ?? '–', nameOf(destinations, destination));

export default resource('GET /api/admin/refunds', {
  name: 'refunds',
  title: ['退款', 'Refunds'],
  one: ['退款', 'refund'],
  empty: [
    '还没有退款。打开一笔已支付的支付记录，选择“退款”即可发起',
    'No refunds yet. To make one, open a paid payment and choose “Refund”',
  ],
  id: 'refund_no',
  label: 'refund_no',
  labels: {
    reason: ['退款原因', 'Reason'],
    fail_reason: ['处理说明', 'Explanation'],
    requester: ['申请人', 'Requested by'],
    approver: ['审批人', 'Decided by'],
    channel_refund_no: ['渠道退款号', 'Channel refund number'],
    code: ['渠道结果', 'Channel result'],
    sent_at: ['发送时间', 'Sent'],
    accepted_at: ['渠道受理时间', 'Accepted'],
    due_at: ['下次查询', 'Next check'],
  },
  stale: ['refunds'],
  above: RefundTabs,
  lead: RefundAdvice,
  hasSum: true,
  filters: {
    refund_no: words(),
    status: choice(refundStates),
    user_id: userPicker(),
    destination: choice(destinations),
    payment_no: words(),
    order_no: words(),
    payment_method_id: option('payment_method'),
    needs_attention: yesOrNo(),
    time_field: choice(refundTimeFields),
  },
  rare: ['payment_no', 'order_no', 'payment_method_id', 'needs_attention', 'time_field'],
  dateRange: true,
  sortable: ['amount', 'created_at', 'finished_at'],
  columns: {
    refund_no: numberEnd(122),
    payment_no: numberLink((number) => `/trade/payments/${number}`, 122),
    user: named('username', ({ id }) => `/trade/users/${id}`, 120),
    amount: money(124),
    status: badge(refundStates, 146),
    fail_reason: explained(104),
    destination: badge(destinations, 88),
    reason: text(150),
    requester: named('username', undefined, 104),
    approver: named('username', undefined, 104),
    needs_attention: flag(110),
    finished_at: time(),
    created_at: time(),
  },
  folded: ['destination', 'reason', 'requester', 'approver', 'needs_attention', 'finished_at'],
  more: {
    order_no: numberLink((number) => `/trade/orders/${number}`),
    payment_method: named('name'),
    channel_refund_no: code(),
    code: code(),
    sent_at: time(),
    accepted_at: time(),
    due_at: time(),
  },
  show: 'GET /api/admin/refunds/{id}',
  actions: [
    {
      route: 'POST /api/admin/refunds/{refund_no}/approve',
      text: ['批准', 'Approve'],
      sure: ['批准这笔退款？', 'Approve this refund?'],
      about,
      when: ({ status, requested_by }, { id }) => status === 'waiting' && requested_by !== id,
    },
    {
      route: 'POST /api/admin/refunds/{refund_no}/reject',
      text: ['驳回', 'Reject'],
      danger: true,
      when: ({ status, requested_by }, { id }) => status === 'waiting' && requested_by !== id,
      about,
      form: { reason: words() },
      labels: { reason: ['驳回理由', 'Why it is rejected'] },
    },
    {
      route: 'POST /api/admin/refunds/{refund_no}/reject',
      text: ['撤回', 'Withdraw'],
      danger: true,
      when: ({ status, requested_by }, { id }) => status === 'waiting' && requested_by === id,
      about,
      form: { reason: words() },
      labels: { reason: ['撤回理由', 'Why it is withdrawn'] },
    },
    {
      route: 'POST /api/admin/refunds/{refund_no}/query',
      text: ['查询渠道', 'Query the channel'],
      when: (refund, profile) =>
        (refund.status === 'pending' || refund.status === 'processing') && answers(profile, refund),
    },
    {
      route: 'PUT /api/admin/refunds/{id}',
      ...handled,
    },
  ],
  exportTo: 'POST /api/admin/refunds/export',
});
