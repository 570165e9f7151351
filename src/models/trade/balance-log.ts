// user_balance_logs: what changed the balances of users, and sums over it.
import Joi from 'joi';
import type { Transaction } from 'sequelize';
import { reports } from '../../lib/database/db.js';
import { fail } from '../../lib/errors/app-error.js';
import {
  listQuery,
  Where,
  type Criteria,
  type ListQuery,
  type Page,
  type TimeRange,
} from '../../lib/input/list-query.js';
import { id, textFilter } from '../../lib/input/schema.js';
import { Money } from '../../lib/values/money.js';
import { Admin } from '../access/tables.js';
import { cachedCounts } from '../tables/count.js';
import { columnsOf, computed, joined, selection, sumOf, type RowOf } from '../tables/selection.js';
import { BalanceLog, balanceChangeTypes, User, type BalanceChangeType } from './tables.js';

export const balanceLogFilters = {
  user_id: id(),
  type: Joi.string().valid(...balanceChangeTypes),
  source: textFilter(20),
  operator_id: id(),
};

export type BalanceLogCriteria = Criteria<typeof balanceLogFilters>;

type BalanceLogFilter = BalanceLogCriteria & ListQuery;

/** The query of the list. */
export const balanceLogQuery = listQuery<BalanceLogFilter>(['id', 'amount', 'created_at'], balanceLogFilters);

const shown = {
  ...columnsOf(BalanceLog, 'l'),
  user: joined(columnsOf(User, 'u', 'id', 'username')),
  operator: joined(columnsOf(Admin, 'a', 'id', 'username')),
};

const logs = selection(
  shown,
  'user_balance_logs l',
  'LEFT JOIN users u ON u.id = l.user_id LEFT JOIN admins a ON a.id = l.operator_id',
);

/** A balance change in answers. */
export type BalanceLogRecord = RowOf<typeof shown>;

export const listBalanceLogs = (query: BalanceLogFilter): Promise<Page<BalanceLogRecord>> =>
  logs.page(query, balanceLogsWhere(query));

/** The condition of a list over `user_balance_logs l`. */
export function balanceLogsWhere(criteria: BalanceLogCriteria): Where {
  return new Where()
    .equals('l.user_id', criteria.user_id)
    .equals('l.type', criteria.type)
    .equalsAscii('l.source', criteria.source)
    .equals('l.operator_id', criteria.operator_id)
    .during('l.created_at', criteria);
}

/** @throws balance_log_not_found */
export async function getBalanceLog(id: number): Promise<BalanceLogRecord> {
  const log = await logs.first('WHERE l.id = :id', { id }, { on: reports });
  return log ?? fail('balance_log_not_found');
}

/** The change that was made under that request_id. */
export const findRequest = (requestId: string, t?: Transaction): Promise<BalanceLogRecord | undefined> =>
  logs.first('WHERE l.request_id = :requestId', { requestId }, { t, on: reports });

interface BalanceStatistics {
  total_income: Money;
  total_expense: Money;
  total_refund: Money;
  count: number;
  /** Present balance of that user, or of all users together, whatever the time range. */
  current_balance: Money;
}

const sums = selection(
  {
    type: columnsOf(BalanceLog, 'l').type,
    amount: sumOf(columnsOf(BalanceLog, 'l').amount),
    count: computed<number>('COUNT(*)'),
  },
  'user_balance_logs l',
);

const balances = selection(
  { known: computed<number>('COUNT(*)'), balance: sumOf(columnsOf(User, 'u', 'balance').balance) },
  'users u',
);

/** Sums of one user or of all, in a time range. @throws user_unknown */
export async function balanceStatistics(
  criteria: Pick<BalanceLogCriteria, 'user_id'> & TimeRange,
): Promise<BalanceStatistics> {
  const where = balanceLogsWhere(criteria);
  const own = new Where().equals('u.id', criteria.user_id);
  const [all, users] = await Promise.all([
    sums.rows(`${where.sql} GROUP BY l.type`, where.values, { on: cachedCounts }),
    balances.first(own.sql, own.values, { on: cachedCounts }),
  ]);
  if (criteria.user_id !== undefined && users?.known === 0) fail('user_unknown', { field: 'user_id' });
  const of = (type: BalanceChangeType) => all.find((row) => row.type === type)?.amount ?? Money.zero;
  return {
    total_income: of('income'),
    total_expense: of('expense'),
    total_refund: of('refund'),
    count: all.reduce((count, row) => count + row.count, 0),
    current_balance: users?.balance ?? Money.zero,
  };
}
