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

export type SystemRecord = Omit<Listed<SystemLog>, 'context'> & { context: unknown };

const logs = selection(columnsOf(SystemLog, 'l'), 'system_logs l');

export async function listSystemEntries(query: SystemFilter): Promise<Page<SystemRecord>> {
  const where = new Where()
    .equals('l.level', query.level)
    .equalsAscii('l.trace_id', query.trace_id)
    .contains('l.module', query.module)
    .contains('l.message', query.message)
    .during('l.created_at', query);
  const page = await logs.page(query, where);
  return { ...page, list: page.list.map(toRecord) };
}

/** @throws log_not_found */
export async function findSystemEntry(id: number): Promise<SystemRecord> {
  return toRecord(await findLog(logs, id));
}

// A context over the limit was cut when it was written and is shown as text.
function toRecord(row: Listed<SystemLog>): SystemRecord {
  if (row.context === null) return row;
  try {
    return { ...row, context: JSON.parse(row.context) as unknown };
  } catch {
    return row;
  }
}
