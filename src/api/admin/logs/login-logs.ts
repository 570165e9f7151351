// /login-logs: sign-in attempts.
import { getLogin, listLogins, loginQuery } from '../../../models/logs/login-log.js';
import { LoginLog } from '../../../models/logs/tables.js';
import { logRoutes } from '../../declare/log-routes.js';
import { described, keysOf, pageOf, resource, text } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const item = resource('LoginLog', {
  ...described(keysOf(LoginLog), {
    status: ['0 failure, 1 success'],
    admin_id: ['The administrator of that name; null when there is none'],
  }),
  message: text().description('Outcome, in the language of the request'),
});

export const routes = [
  route('GET', '/login-logs', {
    name: 'listLoginLogs',
    summary: 'List attempts to sign in',
    access: can('login_log.index', '查看登录日志列表', 'List login logs'),
    query: loginQuery,
    response: pageOf(item),
    handle: ({ query }) => listLogins(query),
  }),
  ...logRoutes('login_logs', {
    title: { zh: '登录日志', en: 'login logs' },
    item,
    find: getLogin,
  }),
];
