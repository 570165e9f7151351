// Sign-in attempts.
import { code, numberBadge, text, time } from '../parts/show/cells.tsx';
import { CleanUpButton } from '../parts/list/clean-up.tsx';
import { numberChoice, option, words } from '../parts/form/fields.tsx';
import { resource } from '../parts/resource.ts';
import { states } from '../parts/show/states.tsx';

const outcomes = states({ 1: ['成功', 'Success', 'green'], 0: ['失败', 'Failed', 'red'] });

export default resource('GET /api/admin/login-logs', {
  name: 'login-logs',
  title: ['登录日志', 'Login logs'],
  empty: ['每次登录，无论成败，都会记录在这里', 'Every sign-in, successful or not, is recorded here'],
  label: 'username',
  labels: {
    created_at: ['时间', 'Time'],
    message: ['结果', 'Outcome'],
    user_agent: ['浏览器标识', 'User agent'],
  },
  stale: ['login_logs'],
  filters: { admin_id: option('admin'), username: words(), ip: words(), status: numberChoice(outcomes) },
  dateRange: true,
  sortable: ['created_at'],
  columns: {
    created_at: time(),
    username: text(120),
    status: numberBadge(outcomes, 84),
    message: text(170),
    ip: code(130),
    browser: text(110),
    os: text(100),
  },
  more: { user_agent: text() },
  show: 'GET /api/admin/login-logs/{id}',
  extra: () => <CleanUpButton route="POST /api/admin/login-logs/clean" />,
});
