// All payments or refunds, or those that need attention, and the queue that such payments make up.
import { useQuery } from '@tanstack/react-query';
import { LeftOutlined, RightOutlined } from '@ant-design/icons';
import { Badge, Button, Segmented, Space } from 'antd';
import type { ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { call, type Query } from '../contract/api.ts';
import { plural, texts } from '../contract/texts.ts';
import { useEditQuery } from '../parts/list/edit-query.ts';
import { LinkButton } from '../parts/show/link-button.tsx';

const t = texts({
  tabs: ['范围', 'Which'],
  all: ['全部', 'All'],
  attention: ['需要处理', 'Needs attention'],
  queue: ['需要处理的支付', 'Payments that need attention'],
  previous: ['上一笔需要处理的支付', 'Previous that needs attention'],
  next: ['下一笔需要处理的支付', 'Next that needs attention'],
  place: [
    (at: number, total: number) => `第 ${at} 笔，共 ${total} 笔需要处理`,
    (at, total) => `${at} of ${total} that ${plural(total, 'needs', 'need')} attention`,
  ],
  left: [
    (total: number) => `还有 ${total} 笔需要处理`,
    (total) => `${total} more ${plural(total, 'needs', 'need')} attention`,
  ],
});

export const PaymentTabs = () => <Tabs of="payments" />;

export const RefundTabs = () => <Tabs of="refunds" />;

function Tabs({ of }: { of: 'payments' | 'refunds' }) {
  const [search] = useSearchParams();
  const editQuery = useEditQuery();
  const query = { needs_attention: 'true' };
  const { data } = useQuery({
    queryKey: [of, 'count', query],
    queryFn: ({ signal }) => call(`GET /api/admin/${of}`, { query: { ...query, page_size: '1' }, signal }),
    meta: { scopes: [of] },
  });
  const choose = (value: string) =>
    editQuery((query) => {
      query.delete('page');
      if (value === 'attention') query.set('needs_attention', 'true');
      else query.delete('needs_attention');
    });
  return (
    <div>
      <Segmented
        aria-label={t.tabs}
        value={search.get('needs_attention') === 'true' ? 'attention' : 'all'}
        onChange={choose}
        options={[
          { value: 'all', label: t.all },
          {
            value: 'attention',
            label: (
              <span>
                {t.attention} <Badge count={data?.total ?? 0} size="small" />
              </span>
            ),
          },
        ]}
      />
    </div>
  );
}

type Asked = Partial<Query<'GET /api/admin/payments'>>;

/** The payments that need attention from one of them on, which is the first unless it has been handled. */
function useQueue(name: string, asked: Asked) {
  return useQuery({
    queryKey: ['payments', 'attention', name, asked],
    queryFn: ({ signal }) =>
      call('GET /api/admin/payments', { query: { needs_attention: true, page_size: 20, ...asked }, signal }),
    meta: { scopes: ['payments'] },
    placeholderData: (before) => before,
  });
}

interface Queued {
  payment_no: string;
  needs_attention: boolean;
  created_at: string;
}

/** Where a payment is in the queue of those that need attention, newest first, and the ways to its neighbours. */
export function AttentionQueue({ payment: { payment_no, created_at } }: { payment: Queued }) {
  const { data: all } = useQueue('count', { page_size: 1 });
  const { data: newer } = useQueue('newer', { start_time: created_at, order_by: 'created_at:asc,id:asc' });
  const { data: older } = useQueue('older', { end_time: created_at, order_by: 'created_at:desc,id:desc' });
  if (!all || !newer || !older || all.total === 0) return null;
  const placeIn = ({ list }: typeof older) => list.findIndex((one) => one.payment_no === payment_no);
  const at = placeIn(older);
  const before = newer.list[placeIn(newer) + 1]?.payment_no;
  const after = older.list[at + 1]?.payment_no;
  return (
    <Space.Compact role="group" aria-label={t.queue}>
      <QueueLink number={before} text={t.previous} icon={<LeftOutlined />} />
      <span className="queue-place">
        {at < 0 ? t.left(all.total) : t.place(all.total - older.total + at + 1, all.total)}
      </span>
      <QueueLink number={after} text={t.next} icon={<RightOutlined />} />
    </Space.Compact>
  );
}

function QueueLink({ number, text, icon }: { number: string | undefined; text: string; icon: ReactNode }) {
  if (!number) return <Button icon={icon} aria-label={text} title={text} disabled />;
  // The arrow at the top leads back to where the queue was entered.
  return <LinkButton to={`/trade/payments/${number}`} replace icon={icon} aria-label={text} title={text} />;
}
