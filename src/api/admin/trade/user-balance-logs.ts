// /user-balance-logs: changes of users' balances.
import Joi from 'joi';
import { AppError, fail } from '../../../lib/errors/app-error.js';
import { timeKeys, type TimeRange } from '../../../lib/input/list-query.js';
import { id } from '../../../lib/input/schema.js';
import { changeBalance, changed, type BalanceChange } from '../../../models/trade/balance.js';
import {
  balanceLogQuery,
  balanceStatistics,
  getBalanceLog,
  listBalanceLogs,
} from '../../../models/trade/balance-log.js';
import { exportRoutes } from '../../declare/export-routes.js';
import { balanceChanged, balanceChangeKeys, balanceLog } from '../../declare/records.js';
import { amount, integer, pageOf, record } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

export const routes = [
  route('GET', '/user-balance-logs', {
    name: 'listUserBalanceLogs',
    summary: 'List balance changes',
    access: can('user_balance_log.index', '查看余额记录列表', 'List balance changes'),
    query: balanceLogQuery,
    response: pageOf(balanceLog),
    handle: ({ query }) => listBalanceLogs(query),
  }),
  route('POST', '/user-balance-logs', {
    name: 'createUserBalanceLog',
    summary: 'Change the balance of a user',
    description: 'As `POST /users/{id}/update-balance`, with the user in the body.',
    access: can('user_balance_log.store', '记录余额变动', 'Record balance changes'),
    body: Joi.object<BalanceChange & { user_id: number }, true>({
      ...balanceChangeKeys,
      user_id: id().required(),
    }),
    fails: [
      'balance_limit_exceeded',
      'balance_log_not_found',
      'insufficient_balance',
      'request_id_reused',
      'user_not_found',
      'user_unknown',
    ],
    response: balanceChanged,
    async handle({ admin, body: { user_id, ...wanted } }) {
      try {
        return await changeBalance(user_id, wanted, admin);
      } catch (error) {
        if (error instanceof AppError && error.slug === 'user_not_found')
          fail('user_unknown', { field: 'user_id' });
        throw error;
      }
    },
    repeat: async (id) => changed(await getBalanceLog(id)),
  }),
  ...exportRoutes('user_balance_logs', { zh: '余额记录', en: 'balance changes' }),
  route('GET', '/user-balance-logs/statistics', {
    name: 'showUserBalanceStatistics',
    summary: 'Get sums of balance changes of one user or of all',
    description: '`current_balance` is the present balance, whatever the time range.',
    access: can('user_balance_log.statistics', '统计余额变动', 'Sum balance changes'),
    query: Joi.object<{ user_id?: number } & TimeRange, true>({ ...timeKeys(), user_id: id() }),
    fails: ['user_unknown'],
    response: record({
      total_income: amount(),
      total_expense: amount(),
      total_refund: amount(),
      count: integer().description('Number of changes').example(12),
      current_balance: amount(),
    }),
    handle: ({ query }) => balanceStatistics(query),
  }),
  route('GET', '/user-balance-logs/{id}', {
    name: 'showUserBalanceLog',
    summary: 'Show a balance change',
    access: can('user_balance_log.show', '查看余额记录', 'Show balance changes'),
    fails: ['balance_log_not_found'],
    response: balanceLog,
    handle: ({ params }) => getBalanceLog(params.id),
  }),
];
