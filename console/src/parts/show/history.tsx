// Who did what to a record, from the operation log, down to its creation.
import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { call, type Row } from '../../contract/api.ts';
import { plural, texts } from '../../contract/texts.ts';
import type { Resource } from '../resource.ts';
import { Changes } from './changes.tsx';
import { showCount } from './money.ts';
import { Problem } from './problem.tsx';
import { useMay } from './profile.ts';
import { Timeline, type Point } from './timeline.tsx';

const t = texts({
  title: ['操作记录', 'History'],
  none: ['暂无修改', 'No edits yet'],
  created: ['创建', 'Created'],
  createdIt: ['创建了此记录', 'created it'],
  changed: ['修改', 'changed it'],
  deleted: ['删除', 'deleted it'],
  adjusted: ['调整了余额', 'adjusted the balance'],
  reset: ['重置了密码', 'reset the password'],
  refused: [(what: string) => `${what}，被拒绝`, (what) => `${what} – refused`],
  older: [
    (count: string, _: number) => `更早的 ${count} 条见操作日志`,
    (count, exact) => `${count} older ${plural(exact, 'one is', 'ones are')} in the operation log`,
  ],
});

type Entry = Row<'GET /api/admin/operation-logs'>;

interface Props {
  resource: Resource;
  /** Its number or id in the paths of the API. */
  id: string;
  createdAt: string;
}

export function History({ resource, id, createdAt }: Props) {
  const may = useMay();
  if (!may('GET /api/admin/operation-logs')) return null;
  return (
    <section className="panel">
      <h2>{t.title}</h2>
      <Entries resource={resource} id={id} createdAt={createdAt} />
    </section>
  );
}

function Entries({ resource, id, createdAt }: Props) {
  const base = resource.list.split(' ')[1] ?? '';
  const path = `${base}/${id}`;
  const { data, error, refetch } = useQuery({
    queryKey: ['operation-logs', 'list', { record: path }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/operation-logs', { query: { record: path, page_size: 50 }, signal }),
    meta: { scopes: ['operation_logs'] },
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Skeleton active />;
  // Records that an import made have no such entry.
  const creation = data.list.find((entry) => entry.path === base && entry.method === 'POST');
  const own = data.list.filter((entry) => entry !== creation);
  const older = data.total - data.list.length;
  return (
    <>
      {own.length === 0 && <span className="soft">{t.none}</span>}
      <Timeline
        points={[
          ...own.map((entry) => pointOf(entry, resource, base)),
          {
            key: 'created',
            at: createdAt,
            tone: 'green',
            title: (
              <>
                {creation && <strong>{creation.username} </strong>}
                {creation ? t.createdIt : t.created}
              </>
            ),
          },
        ]}
      />
      {older > 0 && <span className="soft">{t.older(showCount(older), older)}</span>}
    </>
  );
}

function pointOf(entry: Entry, resource: Resource, base: string): Point {
  const isRefused = entry.status >= 400;
  // Behind the list: the record, by its number or its id, and an action of it.
  const [, action] = entry.path.slice(base.length + 1).split('/');
  const what = verbs.get(action ?? entry.method)?.() ?? `· ${entry.title}`;
  return {
    key: String(entry.id),
    at: entry.created_at,
    tone: isRefused ? 'red' : 'blue',
    title: (
      <>
        <strong>{entry.username}</strong> {isRefused ? t.refused(what) : what}
      </>
    ),
    children: <Changes changes={entry.changes} resource={resource} />,
  };
}

/** By method, or by the end of a longer path. */
const verbs: ReadonlyMap<string, () => string> = new Map([
  ['PUT', () => t.changed],
  ['DELETE', () => t.deleted],
  ['update-balance', () => t.adjusted],
  ['password', () => t.reset],
]);
