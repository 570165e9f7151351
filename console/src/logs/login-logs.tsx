// Sign-in attempts.
import { code, numberBadge, text, time } from '../parts/cells.tsx';
import { CleanButton } from '../parts/clean.tsx';
import { numberChoice, option, words } from '../parts/fields.tsx';
import { resource } from '../parts/resource.ts';
import { states } from '../parts/states.tsx';

const outcomes = states({ 1: ['成功', 'Success', 'green'], 0: ['失败', 'Failed', 'red'] });

export default resource('GET /api/admin/login-logs', {
  name: 'login-logs',
  title: ['登录日志', 'Sign-ins'],
  label: 'username',
  labels: {
    browser: ['浏览器', 'Browser'],
    os: ['系统', 'System'],
    message: ['结果', 'Outcome'],
    user_agent: ['浏览器标识', 'User agent'],
  },
  stale: ['login_logs'],
  filters: { admin_id: option('admin'), username: words(), ip: words(), status: numberChoice(outcomes) },
  period: true,
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
  remove: 'DELETE /api/admin/login-logs/{id}',
  removeMany: 'POST /api/admin/login-logs/batch-delete',
  extra: () => <CleanButton route="POST /api/admin/login-logs/clean" />,
});
