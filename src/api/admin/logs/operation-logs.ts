// /operation-logs: what administrators did.
import { getOperation, listOperations, operationQuery } from '../../../models/logs/operation-log.js';
import { OperationLog } from '../../../models/logs/tables.js';
import { logRoutes } from '../../declare/log-routes.js';
import { shownTitle } from '../../declare/operation-log.js';
import {
  described,
  integer,
  json,
  keysOf,
  listOf,
  pageOf,
  record,
  resource,
  text,
} from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const item = resource('OperationLog', {
  ...described(keysOf(OperationLog), {
    status: ['HTTP status of the answer', 200],
    path: ['Path of the request', '/api/admin/orders'],
    record_key: ['Number or id of the record that was changed or made; null if there is none', '42'],
  }),
  admin: record({ id: integer(), username: text() }),
  changes: listOf(record({ field: text(), old: json(), new: json() })),
});

const titled = <T extends { title: string }>(entry: T): T => ({ ...entry, title: shownTitle(entry.title) });

export const routes = [
  route('GET', '/operation-logs', {
    name: 'listOperationLogs',
    summary: 'List operations of administrators',
    access: can('operation_log.index', '查看操作日志列表', 'List operation logs'),
    query: operationQuery,
    response: pageOf(item),
    async handle({ query }) {
      const page = await listOperations(query);
      return { ...page, list: page.list.map(titled) };
    },
  }),
  ...logRoutes('operation_logs', {
    title: { zh: '操作日志', en: 'operation logs' },
    item,
    find: async (id) => titled(await getOperation(id)),
  }),
];
