// Operations of administrators.
import type { Row } from '../contract/api.ts';
import { code, count, custom, text, time, trace } from '../parts/show/cells.tsx';
import { Changes } from '../parts/show/changes.tsx';
import { integer, option, words } from '../parts/form/fields.tsx';
import { PageLink } from '../parts/show/page-link.tsx';
import { resource } from '../parts/resource.ts';
import { Tag } from '../parts/show/states.tsx';
import { Json } from '../parts/show/timeline.tsx';
import { CleanUpButton } from '../parts/list/clean-up.tsx';

type Entry = Row<'GET /api/admin/operation-logs'>;

/** The room of records that have a page, by the segment of the API. */
const rooms: ReadonlyMap<string, string> = new Map([
  ...['orders', 'payments', 'refunds', 'payment-methods', 'users'].map((name) => [name, 'trade'] as const),
  ...['admins', 'roles', 'menus', 'permissions', 'departments'].map((name) => [name, 'access'] as const),
  ...['dictionaries', 'blacklists', 'notifications'].map((name) => [name, 'office'] as const),
]);

/** Leads to the record, where it has a page and the call did not delete it. */
function Path({ of: { path, method, record_key: key } }: { of: Entry }) {
  const [, , , segment = ''] = path.split('/');
  const room = rooms.get(segment);
  const shown = (
    <span className="cell-code" title={path}>
      {path}
    </span>
  );
  if (!room || !key || method === 'DELETE') return shown;
  return <PageLink to={`/${room}/${segment}/${key}`}>{shown}</PageLink>;
}

export default resource('GET /api/admin/operation-logs', {
  name: 'operation-logs',
  title: ['操作日志', 'Operation logs'],
  empty: ['管理员的每次改动都会记录在这里', 'Every change an administrator makes is recorded here'],
  label: 'title',
  labels: {
    created_at: ['时间', 'Time'],
    title: ['操作', 'Operation'],
    action: ['动作', 'Action'],
    duration_ms: ['耗时（毫秒）', 'Duration (ms)'],
    user_agent: ['浏览器', 'Browser'],
  },
  stale: ['operation_logs'],
  filters: {
    admin_id: option('admin'),
    username: words(),
    module: words(),
    path: words(),
    ip: words(),
    status: integer(100, 599),
    trace_id: words(),
  },
  dateRange: true,
  sortable: ['duration_ms', 'created_at'],
  columns: {
    created_at: time(),
    username: text(110),
    title: text(180),
    status: custom<number>((value) => <Tag tone={value < 400 ? 'green' : 'red'}>{value}</Tag>, 76),
    path: custom<string>((_, row) => <Path of={row as Entry} />, 240),
    ip: code(140),
    duration_ms: count(146),
    trace_id: trace(),
  },
  folded: ['ip', 'trace_id'],
  more: { module: text(), action: text(), method: text(), user_agent: text() },
  show: 'GET /api/admin/operation-logs/{id}',
  extra: () => <CleanUpButton route="POST /api/admin/operation-logs/clean" />,
  below: ({ row }) => (
    <>
      <Changes changes={row.changes} />
      <Json value={row.request} />
    </>
  ),
});
