// Changes of a record, from the operation log.
import { useQuery } from '@tanstack/react-query';
import { Empty } from 'antd';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { Changes } from './changes.tsx';
import { Problem } from './problem.tsx';
import { Timeline } from './timeline.tsx';

const t = texts({ 'zh-CN': { none: '还没有操作' }, 'en-US': { none: 'Nothing was done to it yet' } });

/**
 * @param path prefix of the routes that change it
 */
export function History({ path }: { path: string }) {
  const { data, error } = useQuery({
    queryKey: ['operation-logs', 'list', { path }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/operation-logs', { query: { path, page_size: 20 }, signal }),
    meta: { scopes: ['operation_logs'] },
  });
  if (error) return <Problem error={error} />;
  if (data?.list.length === 0) return <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.none} />;
  return (
    <Timeline
      points={(data?.list ?? []).map((entry) => ({
        key: String(entry.id),
        at: entry.created_at,
        tone: entry.status < 400 ? 'blue' : 'red',
        title: (
          <>
            <strong>{entry.username}</strong> {entry.title}
          </>
        ),
        children: <Changes changes={entry.changes} />,
      }))}
    />
  );
}
