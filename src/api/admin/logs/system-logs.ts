// /system-logs: warnings and errors of API and worker.
import { getSystemEntry, listSystemEntries, systemQuery } from '../../../models/logs/system-log.js';
import { SystemLog } from '../../../models/logs/tables.js';
import { logRoutes } from '../../declare/log-routes.js';
import { described, json, keysOf, pageOf, resource } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const item = resource('SystemLog', {
  ...described(keysOf(SystemLog), {
    module: ['Process: api or worker', 'worker'],
    message: ['Text of the log line', 'slow request'],
  }),
  context: json(),
});

export const routes = [
  route('GET', '/system-logs', {
    name: 'listSystemLogs',
    summary: 'List warnings and errors of the service',
    access: can('system_log.index', '查看系统日志列表', 'List system logs'),
    query: systemQuery,
    response: pageOf(item),
    handle: ({ query }) => listSystemEntries(query),
  }),
  ...logRoutes('system_logs', {
    title: { zh: '系统日志', en: 'system logs' },
    item,
    find: getSystemEntry,
  }),
];
