// system_logs: warnings and errors of API and worker.
import { Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { columnsOf, selection } from '../tables/selection.js';
import type { Listed } from '../tables/table.js';
import { findLog, type EntryOf } from './log.js';
import { SystemLog } from './tables.js';

export type SystemEntry = EntryOf<SystemLog>;

export interface SystemFilter extends ListQuery {
  level?: string;
  trace_id?: string;
  module?: string;
  message?: string;
}

export const systemSortable = ['id', 'level', 'created_at'] as const;

type SystemRecord = Listed<SystemLog>;

const logs = selection(columnsOf(SystemLog, 'l'), 'system_logs l');

export async function listSystemEntries(query: SystemFilter): Promise<Page<SystemRecord>> {
  const where = new Where()
    .equals('l.level', query.level)
    .equalsAscii('l.trace_id', query.trace_id)
    .contains('l.module', query.module)
    .contains('l.message', query.message)
    .during('l.created_at', query, 'l.period');
  return logs.page(query, where);
}

/** @throws log_not_found */
export const findSystemEntry = (id: number): Promise<SystemRecord> => findLog(logs, id);
