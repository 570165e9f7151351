// Warnings and errors of the service.
import { badge, text, time, trace } from '../parts/show/cells.tsx';
import { CleanUpButton } from '../parts/list/clean-up.tsx';
import { choice, words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { states } from '../parts/show/states.tsx';
import { Json } from '../parts/show/timeline.tsx';

const levels = states({
  error: ['错误', 'Error', 'red'],
  warning: ['警告', 'Warning', 'gold'],
  info: ['信息', 'Info', 'blue'],
  debug: ['调试', 'Debug', 'grey'],
});

export default resource('GET /api/admin/system-logs', {
  name: 'system-logs',
  title: ['系统日志', 'System logs'],
  empty: ['没有警告和错误', 'No warnings or errors'],
  label: 'message',
  labels: {
    created_at: ['时间', 'Time'],
    level: ['级别', 'Level'],
    message: ['内容', 'Message'],
  },
  stale: ['system_logs'],
  filters: { level: choice(levels), module: words(), message: words(), trace_id: words() },
  dateRange: true,
  sortable: ['created_at'],
  columns: {
    created_at: time(),
    level: badge(levels, 84),
    module: text(100),
    message: text(320),
    trace_id: trace(),
  },
  show: 'GET /api/admin/system-logs/{id}',
  remove: 'DELETE /api/admin/system-logs/{id}',
  removeMany: 'POST /api/admin/system-logs/batch-delete',
  extra: () => <CleanUpButton route="POST /api/admin/system-logs/clean" />,
  below: ({ row }) => <Json value={row.context} />,
});
