// What the three log tables have in common: pages, deletion, retention by month partitions.
import { config } from '../../../config/index.js';
import { change } from '../../lib/database/db.js';
import { fail } from '../../lib/errors.js';
import type { ListQuery, Page, Where } from '../../lib/input/list-query.js';
import { monthlyPage } from '../tables/month-pages.js';
import { removeOld } from '../tables/retention.js';
import type { Selection } from '../tables/selection.js';
import type { Attributes, Model } from '../tables/table.js';
import { Totals } from '../tables/totals.js';
import { announcing, changing } from '../tables/versions.js';

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

/** An entry before it is in its log: JSON stays text, and the time is ISO 8601 in UTC. */
export type EntryOf<M extends Model> = {
  [K in Exclude<keyof Attributes<M>, 'id' | 'period'>]: K extends 'created_at'
    ? string
    : K extends 'request' | 'changes'
      ? string | null
      : Attributes<M>[K];
};

/** A page of a log; its rows have the alias `l`. */
export async function listLogs<R extends { id: number }>(
  table: LogTable,
  logs: Selection<R>,
  where: Where,
  query: ListQuery,
  mark: string | undefined,
): Promise<Page<R>> {
  const months = await logTotals[table].months(where, mark);
  return monthlyPage(
    { table, alias: 'l', rows: (tail, values) => logs.rows(tail, values) },
    where,
    query,
    months,
    { matching: () => logTotals[table].keys(where, mark) },
  );
}

/** @throws log_not_found */
export async function findLog<R extends object>(logs: Selection<R>, id: number): Promise<R> {
  return (await logs.first('WHERE l.id = ?', [id])) ?? fail('log_not_found');
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
  return announcing([table], () => removeOld(table, days, { scope: table }));
}

/** Applies LOG_RETENTION_DAYS to every log. */
export async function pruneLogs(): Promise<void> {
  for (const table of logTables) await cleanLogs(table, config.logging.retentionDays);
}
