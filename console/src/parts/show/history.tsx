// Who did what to a record, from the operation log, down to its creation.
import { useQuery } from '@tanstack/react-query';
import { call, type Row } from '../../contract/api.ts';
import { texts } from '../../contract/texts.ts';
import type { Resource } from '../resource.ts';
import { Changes } from './changes.tsx';
import { Problem } from './problem.tsx';
import { useMay } from './profile.ts';
import { Timeline, type Point } from './timeline.tsx';

const t = texts({
  'zh-CN': {
    title: '操作记录',
    none: '创建后还没有改动',
    created: '创建',
    changed: '修改',
    deleted: '删除',
    refused: (what: string) => `${what}，被拒绝`,
  },
  'en-US': {
    title: 'History',
    none: 'No changes since it was created',
    created: 'Created',
    changed: 'changed it',
    deleted: 'deleted it',
    refused: (what: string) => `${what} – refused`,
  },
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
  const { data, error } = useQuery({
    queryKey: ['operation-logs', 'list', { path }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/operation-logs', { query: { path, page_size: 50 }, signal }),
    meta: { scopes: ['operation_logs'] },
  });
  const creator = useCreator(base, createdAt);
  if (error) return <Problem error={error} />;
  if (!data) return null;
  // The filter also finds longer paths: 123 contains 12.
  const own = data.list.filter((entry) => entry.path === path || entry.path.startsWith(`${path}/`));
  return (
    <>
      {own.length === 0 && <span className="soft">{t.none}</span>}
      <Timeline
        points={[
          ...own.map((entry) => pointOf(entry, resource, path)),
          {
            key: 'created',
            at: createdAt,
            tone: 'green',
            title: (
              <>
                {creator && <strong>{creator} </strong>}
                {t.created}
              </>
            ),
          },
        ]}
      />
    </>
  );
}

function pointOf(entry: Entry, resource: Resource, path: string): Point {
  const isRefused = entry.status >= 400;
  const what = entry.path === path ? (verbs.get(entry.method)?.() ?? entry.title) : entry.title;
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

const verbs: ReadonlyMap<string, () => string> = new Map([
  ['PUT', () => t.changed],
  ['DELETE', () => t.deleted],
]);

const nearMs = 1500;

/** Who created it: the only one who created such a record at that moment. */
function useCreator(base: string, createdAt: string): string | undefined {
  const at = Date.parse(createdAt);
  const { data } = useQuery({
    queryKey: ['operation-logs', 'creation', base, createdAt],
    queryFn: ({ signal }) =>
      call('GET /api/admin/operation-logs', {
        query: {
          path: base,
          method: 'POST',
          page_size: 20,
          start_time: new Date(at - nearMs).toISOString(),
          end_time: new Date(at + nearMs).toISOString(),
        },
        signal,
      }),
    meta: { scopes: ['operation_logs'] },
    staleTime: 60_000,
  });
  const made = (data?.list ?? []).filter(({ path, status }) => path === base && status < 400);
  return made.length === 1 ? made[0]?.username : undefined;
}
