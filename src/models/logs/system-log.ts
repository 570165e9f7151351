// system_logs: warnings and errors of API and worker.
import { Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { findLog, listLogs } from './log.js';

export interface SystemEntry {
  /** ULID; an entry written twice stays one row. */
  log_key: string;
  level: 'debug' | 'info' | 'warning' | 'error';
  /** The process it comes from: api or worker. */
  module: string;
  message: string;
  /** Masked JSON of the line's fields. */
  context: string | null;
  trace_id: string;
  /** ISO 8601 in UTC. */
  created_at: string;
}

export const systemColumns: (keyof SystemEntry)[] = [
  ...(['log_key', 'level', 'module', 'message', 'context', 'trace_id'] as const),
];

export interface SystemFilter extends ListQuery {
  level?: string;
  trace_id?: string;
  module?: string;
  message?: string;
}

export const systemSortable = ['id', 'level', 'created_at'] as const;

export interface SystemRecord extends Omit<SystemEntry, 'log_key' | 'context' | 'created_at'> {
  id: number;
  context: unknown;
  created_at: Date;
}

const shown = 'l.id, l.level, l.module, l.message, l.context, l.trace_id, l.created_at';

export async function listSystemEntries(query: SystemFilter, mark?: string): Promise<Page<SystemRecord>> {
  const where = new Where()
    .equals('l.level', query.level)
    .equalsAscii('l.trace_id', query.trace_id)
    .contains('l.module', query.module)
    .contains('l.message', query.message)
    .during('l.created_at', query);
  const page = await listLogs<StoredEntry>('system_logs', shown, where, query, mark);
  return { ...page, list: page.list.map(toRecord) };
}

/** @throws log_not_found */
export async function findSystemEntry(id: number): Promise<SystemRecord> {
  return toRecord(await findLog<StoredEntry>('system_logs', shown, id));
}

type StoredEntry = SystemRecord & { context: string | null };

// A context over the limit was cut when it was written and is shown as text.
function toRecord(row: StoredEntry): SystemRecord {
  if (row.context === null) return row;
  try {
    return { ...row, context: JSON.parse(row.context) as unknown };
  } catch {
    return row;
  }
}
