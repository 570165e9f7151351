// What the three log tables have in common: pages, deletion, retention by month partitions.
import { config } from '../../../config/index.js';
import { change, select, type SqlValue } from '../../lib/db.js';
import { fail } from '../../lib/errors.js';
import type { ListQuery, Page, Where } from '../../lib/list-query.js';
import { monthlyPage } from '../tables/month-pages.js';
import { removeOld } from '../tables/retention.js';
import { Totals } from '../tables/totals.js';
import { changing } from '../tables/versions.js';

export const logTables = ['operation_logs', 'login_logs', 'system_logs'] as const;

export type LogTable = (typeof logTables)[number];

/** Exact totals of each log, month by month. */
export const logTotals: Record<LogTable, Totals> = {
  operation_logs: totalsOf('operation_logs'),
  login_logs: totalsOf('login_logs'),
  system_logs: totalsOf('system_logs'),
};

function totalsOf(table: LogTable): Totals {
  return new Totals({ table, scope: table, alias: 'l', month: 'l.period' });
}

/** A page of a log; `columns` are selected from the alias `l`, the id among them. */
export async function listLogs<T extends { id: number }>(
  table: LogTable,
  columns: string,
  where: Where,
  query: ListQuery,
  mark: string | undefined,
): Promise<Page<T>> {
  const rows = (tail: string, values: SqlValue[]): Promise<T[]> =>
    select<T>(`SELECT ${columns} FROM ${table} l ${tail}`, values);
  const months = await logTotals[table].months(where, mark);
  return monthlyPage({ table, alias: 'l', rows }, where, query, months);
}

/** @throws log_not_found */
export async function findLog<T extends object>(table: LogTable, columns: string, id: number): Promise<T> {
  const [row] = await select<T>(`SELECT ${columns} FROM ${table} l WHERE l.id = ?`, [id]);
  return row ?? fail('log_not_found');
}

/** Deletes entries. @returns how many there were */
export function removeLogs(table: LogTable, ids: readonly number[]): Promise<number> {
  return changing([table], (t) => change(`DELETE FROM ${table} WHERE id IN (?)`, [ids], t));
}

/**
 * Deletes everything older than that many days.
 *
 * @returns how many entries were deleted
 */
export async function cleanLogs(table: LogTable, days: number): Promise<number> {
  try {
    return await removeOld(table, days);
  } finally {
    await changing([table], () => Promise.resolve());
  }
}

/** Applies LOG_RETENTION_DAYS to every log. */
export async function pruneLogs(): Promise<void> {
  for (const table of logTables) await cleanLogs(table, config.logging.retentionDays);
}
