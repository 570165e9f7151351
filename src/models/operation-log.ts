// operation_logs: what signed-in administrators did, also what was refused.
import { change } from '../lib/db.js';
import { Where, type ListQuery, type Page } from '../lib/list-query.js';
import { periodOf } from '../lib/numbers.js';
import { findLog, listLogs, logTotals, type LogTable } from './log.js';
import { withPartition } from './partitions.js';

export interface OperationEntry {
  /** ULID; an entry written twice stays one row. */
  log_key: string;
  admin_id: number;
  username: string;
  module: string;
  action: string;
  title: string;
  method: string;
  path: string;
  ip: string;
  user_agent: string;
  /** Masked JSON of query and body. */
  request: string | null;
  status: number;
  duration_ms: number;
  /** JSON of the fields that an update or delete changed, with old and new value. */
  changes: string | null;
  trace_id: string;
  /** ISO 8601 in UTC. */
  created_at: string;
}

const columns = [
  ...['log_key', 'admin_id', 'username', 'module', 'action', 'title', 'method', 'path', 'ip', 'user_agent'],
  ...['request', 'status', 'duration_ms', 'changes', 'trace_id'],
] as (keyof OperationEntry)[];

/** Writes a batch in one statement. */
export function writeOperations(entries: OperationEntry[]): Promise<void> {
  return writeLogs('operation_logs', columns, entries);
}

/** Writes log entries in one statement, each into the month of its created_at; known keys are passed over. */
export async function writeLogs<T extends { created_at: string }>(
  table: LogTable,
  names: (keyof T & string)[],
  entries: T[],
): Promise<void> {
  if (entries.length === 0) return;
  const all = [...names, 'created_at' as keyof T & string];
  const places = `(${['?', ...all.map(() => '?')].join(', ')})`;
  const values = entries.flatMap((entry) => {
    const at = new Date(entry.created_at);
    return [periodOf(at), ...names.map((name) => entry[name] as string | number | null), at];
  });
  const periods = [...new Set(entries.map(({ created_at }) => periodOf(new Date(created_at))))];
  // Not INSERT IGNORE, which would also drop the entries of a month that has no partition yet.
  await withPartition([table], Math.max(...periods), () =>
    change(
      `INSERT INTO ${table} (period, ${all.join(', ')}) VALUES ${entries.map(() => places).join(', ')}
       ON DUPLICATE KEY UPDATE log_key = VALUES(log_key)`,
      values,
    ),
  );
  await logTotals[table].changed(...periods);
}

export interface OperationFilter extends ListQuery {
  admin_id?: number;
  username?: string;
  module?: string;
  action?: string;
  method?: string;
  path?: string;
  ip?: string;
  status?: number;
  trace_id?: string;
}

export const operationSortable = ['id', 'status', 'duration_ms', 'created_at'] as const;

export interface OperationRecord extends Omit<
  OperationEntry,
  'log_key' | 'request' | 'changes' | 'created_at'
> {
  id: number;
  admin: { id: number; username: string };
  request: unknown;
  changes: unknown;
  created_at: Date;
}

const shown = `l.id, l.admin_id, l.username, l.module, l.action, l.title, l.method, l.path, l.ip, l.user_agent, l.request,
  l.status, l.duration_ms, l.changes, l.trace_id, l.created_at`;

export async function listOperations(query: OperationFilter, mark?: string): Promise<Page<OperationRecord>> {
  const where = new Where()
    .equals('l.admin_id', query.admin_id)
    .contains('l.username', query.username)
    .contains('l.module', query.module)
    .contains('l.action', query.action)
    .equals('l.method', query.method)
    .contains('l.path', query.path)
    .contains('l.ip', query.ip)
    .equals('l.status', query.status)
    .equalsAscii('l.trace_id', query.trace_id)
    .during('l.created_at', query);
  const page = await listLogs<StoredOperation>('operation_logs', shown, where, query, mark);
  return { ...page, list: page.list.map(toRecord) };
}

/** @throws log_not_found */
export async function findOperation(id: number): Promise<OperationRecord> {
  return toRecord(await findLog<StoredOperation>('operation_logs', shown, id));
}

type StoredOperation = Omit<OperationRecord, 'admin'> & { request: string | null; changes: string | null };

function toRecord(row: StoredOperation): OperationRecord {
  return {
    ...row,
    admin: { id: row.admin_id, username: row.username },
    request: row.request === null ? null : JSON.parse(row.request),
    changes: row.changes === null ? [] : JSON.parse(row.changes),
  };
}
