// All payments, or those that need attention.
import { useQuery } from '@tanstack/react-query';
import { Badge, Segmented } from 'antd';
import { useSearchParams } from 'react-router';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';

const t = texts({
  'zh-CN': { tabs: '范围', all: '全部', attention: '需要处理' },
  'en-US': { tabs: 'Which', all: 'All', attention: 'Needs attention' },
});

export function AttentionTabs() {
  const [search, setSearch] = useSearchParams();
  const { data } = useQuery({
    queryKey: ['payments', 'attention'],
    queryFn: ({ signal }) =>
      call('GET /api/admin/payments', { query: { needs_attention: true, page_size: 1 }, signal }),
    meta: { scopes: ['payments'] },
  });
  const choose = (value: string) =>
    setSearch((before) => {
      const next = new URLSearchParams(before);
      next.delete('page');
      if (value === 'attention') next.set('needs_attention', 'true');
      else next.delete('needs_attention');
      return next;
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
