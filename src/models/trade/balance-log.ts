// user_balance_logs: what changed the balances of users, and sums over it.
import type { Transaction } from 'sequelize';
import { reports } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import { pageSql, toPage, Where, type ListQuery, type Page, type TimeRange } from '../../lib/list-query.js';
import { Money } from '../../lib/money.js';
import { Totals } from '../tables/totals.js';

export const balanceChangeTypes = ['income', 'expense', 'refund'] as const;

export type BalanceChangeType = (typeof balanceChangeTypes)[number];

export interface BalanceLogCriteria extends TimeRange {
  user_id?: number;
  type?: BalanceChangeType;
  source?: string;
  operator_id?: number;
}

export type BalanceLogFilter = BalanceLogCriteria & ListQuery;

export const balanceLogSortable = ['id', 'amount', 'created_at'] as const;

export interface BalanceLogRecord {
  id: number;
  user_id: number;
  user: { id: number; username: string } | null;
  type: BalanceChangeType;
  amount: Money;
  balance_before: Money;
  balance_after: Money;
  source: string;
  source_id: string | null;
  description: string | null;
  request_id: string | null;
  operator_id: number | null;
  operator: { id: number; username: string } | null;
  created_at: Date;
}

/** Totals of balance log lists. */
export const balanceLogTotals = new Totals({
  table: 'user_balance_logs',
  scope: 'user_balance_logs',
  alias: 'l',
});

export async function listBalanceLogs(
  query: BalanceLogFilter,
  mark?: string,
): Promise<Page<BalanceLogRecord>> {
  const where = balanceLogsWhere(query);
  const [list, total] = await Promise.all([
    selectLogs(`${where.sql} ${pageSql(query, 'l')}`, where.values),
    balanceLogTotals.count(where, mark),
  ]);
  return toPage(query, list, total);
}

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
export async function findBalanceLog(id: number): Promise<BalanceLogRecord> {
  const [log] = await selectLogs('WHERE l.id = ?', [id]);
  return log ?? fail('balance_log_not_found');
}

/** The change that was made under that request_id. */
export async function findRequest(requestId: string, t?: Transaction): Promise<BalanceLogRecord | undefined> {
  const [log] = await selectLogs('WHERE l.request_id = ?', [requestId], t);
  return log;
}

export interface BalanceStatistics {
  total_income: Money;
  total_expense: Money;
  total_refund: Money;
  count: number;
  /** Of that user, or of all users together; now, whatever the time range. */
  current_balance: Money;
}

/** Sums of one user or of all, in a time range. @throws user_unknown */
export async function balanceStatistics(
  criteria: Pick<BalanceLogCriteria, 'user_id'> & TimeRange,
): Promise<BalanceStatistics> {
  const where = balanceLogsWhere(criteria);
  const own = new Where().equals('id', criteria.user_id);
  const [sums, [users]] = await Promise.all([
    reports.select<{ type: BalanceChangeType; amount: string; count: number }>(
      `SELECT l.type, SUM(l.amount) AS amount, COUNT(*) AS count FROM user_balance_logs l ${where.sql} GROUP BY l.type`,
      where.values,
    ),
    reports.select<{ known: number; balance: string }>(
      `SELECT COUNT(*) AS known, COALESCE(SUM(balance), 0) AS balance FROM users ${own.sql}`,
      own.values,
    ),
  ]);
  if (criteria.user_id !== undefined && users?.known === 0) fail('user_unknown', { field: 'user_id' });
  const of = (type: BalanceChangeType) => Money.from(sums.find((row) => row.type === type)?.amount ?? '0.00');
  return {
    total_income: of('income'),
    total_expense: of('expense'),
    total_refund: of('refund'),
    count: sums.reduce((count, row) => count + row.count, 0),
    current_balance: Money.from(users?.balance ?? '0.00'),
  };
}

interface LogRow extends Omit<
  BalanceLogRecord,
  'user' | 'operator' | 'amount' | 'balance_before' | 'balance_after'
> {
  username: string | null;
  operator_name: string | null;
  amount: string;
  balance_before: string;
  balance_after: string;
}

async function selectLogs(
  tail: string,
  values: Where['values'],
  t?: Transaction,
): Promise<BalanceLogRecord[]> {
  const rows = await reports.select<LogRow>(
    `SELECT l.id, l.user_id, u.username, l.type, l.amount, l.balance_before, l.balance_after, l.source, l.source_id,
       l.description, l.request_id, l.operator_id, a.username AS operator_name, l.created_at
     FROM user_balance_logs l LEFT JOIN users u ON u.id = l.user_id LEFT JOIN admins a ON a.id = l.operator_id ${tail}`,
    values,
    t,
  );
  return rows.map(({ username, operator_name, ...row }) => ({
    ...{ id: row.id, user_id: row.user_id, user: named(row.user_id, username), type: row.type },
    amount: Money.from(row.amount),
    balance_before: Money.from(row.balance_before),
    balance_after: Money.from(row.balance_after),
    ...{ source: row.source, source_id: row.source_id, description: row.description },
    ...{ request_id: row.request_id, operator_id: row.operator_id },
    ...{ operator: named(row.operator_id, operator_name), created_at: row.created_at },
  }));
}

function named(id: number | null, username: string | null): { id: number; username: string } | null {
  return id === null || username === null ? null : { id, username };
}
