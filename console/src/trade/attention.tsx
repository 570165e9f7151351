// All payments or refunds, or those that need attention, and the queue that such payments make up.
import { useQuery } from '@tanstack/react-query';
import { LeftOutlined, RightOutlined } from '@ant-design/icons';
import { Badge, Button, Segmented, Space } from 'antd';
import { useRef, type ReactNode } from 'react';
import { useSearchParams } from 'react-router';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { useEditQuery } from '../parts/list/edit-query.ts';
import { LinkButton } from '../parts/show/link-button.tsx';

const t = texts({
  'zh-CN': {
    tabs: '范围',
    all: '全部',
    attention: '需要处理',
    queue: '待处理的支付',
    previous: '上一笔待处理',
    next: '下一笔待处理',
    place: (at: number, total: number) => `第 ${at} 笔，共 ${total} 笔待处理`,
    left: (total: number) => `还有 ${total} 笔待处理`,
  },
  'en-US': {
    tabs: 'Which',
    all: 'All',
    attention: 'Needs attention',
    queue: 'Payments that need attention',
    previous: 'Previous that needs attention',
    next: 'Next that needs attention',
    place: (at: number, total: number) => `${at} of ${total} that need attention`,
    left: (total: number) => `${total} more need attention`,
  },
});

export const PaymentTabs = () => <Tabs of="payments" />;

export const RefundTabs = () => <Tabs of="refunds" />;

function Tabs({ of }: { of: 'payments' | 'refunds' }) {
  const [search] = useSearchParams();
  const editQuery = useEditQuery();
  const { data } = useQuery({
    queryKey: [of, 'attention'],
    queryFn: ({ signal }): Promise<{ total: number }> => {
      const asked = { query: { needs_attention: true, page_size: 1 }, signal };
      return of === 'payments'
        ? call('GET /api/admin/payments', asked)
        : call('GET /api/admin/refunds', asked);
    },
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

/** Where a payment is in the queue of those that need attention, and the ways to its neighbours. */
export function AttentionQueue({ payment }: { payment: { payment_no: string; needs_attention: boolean } }) {
  const { data } = useQuery({
    queryKey: ['payments', 'attention', 'queue'],
    queryFn: ({ signal }) =>
      call('GET /api/admin/payments', { query: { needs_attention: true, page_size: 100 }, signal }),
    meta: { scopes: ['payments'] },
  });
  // Its last place in the queue: once it is handled, the next one moves up to it.
  const place = useRef(0);
  const numbers = data?.list.map(({ payment_no }) => payment_no) ?? [];
  const at = numbers.indexOf(payment.payment_no);
  if (at >= 0) place.current = at;
  if (!data || data.total === 0) return null;
  const before = numbers[place.current - 1];
  const after = numbers[at >= 0 ? at + 1 : place.current];
  return (
    <Space.Compact role="group" aria-label={t.queue}>
      <QueueLink number={before} text={t.previous} icon={<LeftOutlined />} />
      {at >= 0 && <span className="queue-place">{t.place(at + 1, data.total)}</span>}
      {at < 0 && <span className="queue-place">{t.left(data.total)}</span>}
      <QueueLink number={after} text={t.next} icon={<RightOutlined />} />
    </Space.Compact>
  );
}

function QueueLink({ number, text, icon }: { number: string | undefined; text: string; icon: ReactNode }) {
  if (!number) return <Button icon={icon} aria-label={text} title={text} disabled />;
  return <LinkButton to={`/trade/payments/${number}`} icon={icon} aria-label={text} title={text} />;
}
