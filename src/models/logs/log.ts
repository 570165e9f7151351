// What the three log tables have in common: pages, deletion, retention by month partitions.
import { config } from '../../../config/index.js';
import { change } from '../../lib/database/db.js';
import { announce } from '../../lib/redis/changes.js';
import { fail } from '../../lib/errors/app-error.js';
import { removeOld } from '../tables/retention.js';
import type { Selection } from '../tables/selection.js';
import type { Attributes, Model } from '../tables/table.js';

export const logTables = ['operation_logs', 'login_logs', 'system_logs'] as const;

export type LogTable = (typeof logTables)[number];

/** An entry before it is in its log: JSON stays text, and the time is ISO 8601 in UTC. */
export type EntryOf<M extends Model> = {
  [K in Exclude<keyof Attributes<M>, 'id' | 'period'>]: K extends 'created_at'
    ? string
    : K extends 'request' | 'changes' | 'context'
      ? string | null
      : Attributes<M>[K];
};

/** @throws log_not_found */
export async function getLog<R extends object>(logs: Selection<R>, id: number): Promise<R> {
  return (await logs.first('WHERE l.id = ?', [id])) ?? fail('log_not_found');
}

/** Deletes entries. @returns how many there were */
export async function deleteLogs(table: LogTable, ids: readonly number[]): Promise<number> {
  const removed = await change(`DELETE FROM ${table} WHERE id IN (?)`, [ids]);
  announce([table]);
  return removed;
}

/** Deletes everything older than that many days. @returns how many entries were deleted */
export async function cleanLogs(table: LogTable, days: number): Promise<number> {
  const removed = await removeOld(table, days);
  announce([table]);
  return removed;
}

/** Applies LOG_RETENTION_DAYS to every log. */
export async function pruneLogs(): Promise<void> {
  for (const table of logTables) await cleanLogs(table, config.retention.logDays);
}
