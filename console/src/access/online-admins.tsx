// Active sessions.
import { code, flag, text, time } from '../parts/show/cells.tsx';
import { words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { states } from '../parts/show/states.tsx';

const current = states({ true: ['当前会话', 'This session', 'blue'], false: ['其他', 'Other', 'grey'] });

export default resource('GET /api/admin/online-admins', {
  name: 'online-admins',
  title: ['在线管理员', 'Online administrators'],
  label: 'username',
  labels: {
    last_active: ['最近活动', 'Last active'],
    is_current: ['会话', 'Session'],
  },
  // A sign-in is announced by its entry in the log.
  stale: ['identity', 'login_logs'],
  filters: { username: words(), ip: words() },
  sortable: ['ip', 'created_at'],
  columns: {
    username: code(140),
    nickname: text(130),
    ip: code(140),
    browser: text(140),
    os: text(120),
    is_current: flag(110, current),
    last_active: time(),
    created_at: time(),
  },
  folded: ['created_at'],
  actions: [
    {
      route: 'DELETE /api/admin/online-admins/{id}',
      text: ['强制下线', 'End session'],
      danger: true,
      when: ({ is_current }) => !is_current,
      sure: ['该会话会立即结束，确定？', 'This session ends at once. Continue?'],
    },
  ],
});
