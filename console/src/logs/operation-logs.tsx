// Operations of administrators.
import { code, count, custom, text, time, trace } from '../parts/cells.tsx';
import { Changes } from '../parts/changes.tsx';
import { integer, option, words } from '../parts/fields.tsx';
import { resource } from '../parts/resource.ts';
import { Tag } from '../parts/states.tsx';
import { Json } from '../parts/timeline.tsx';
import { CleanButton } from '../parts/clean.tsx';

export default resource('GET /api/admin/operation-logs', {
  name: 'operation-logs',
  title: ['操作日志', 'Operations'],
  label: 'title',
  labels: {
    module: ['模块', 'Module'],
    action: ['动作', 'Action'],
    method: ['方法', 'Method'],
    path: ['路径', 'Path'],
    duration_ms: ['耗时（毫秒）', 'Took (ms)'],
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
  period: true,
  sortable: ['duration_ms', 'created_at'],
  columns: {
    created_at: time(),
    username: text(110),
    title: text(180),
    status: custom<number>((value) => <Tag tone={value < 400 ? 'green' : 'red'}>{value}</Tag>, 76),
    path: code(240),
    ip: code(140),
    duration_ms: count(112),
    trace_id: trace(),
  },
  folded: ['ip', 'trace_id'],
  more: { module: text(), action: text(), method: text(), user_agent: text() },
  show: 'GET /api/admin/operation-logs/{id}',
  remove: 'DELETE /api/admin/operation-logs/{id}',
  removeMany: 'POST /api/admin/operation-logs/batch-delete',
  extra: () => <CleanButton route="POST /api/admin/operation-logs/clean" />,
  below: ({ row }) => (
    <>
      <Changes changes={row.changes} />
      <Json value={row.request} />
    </>
  ),
});
