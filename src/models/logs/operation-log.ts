// operation_logs: what signed-in administrators did, also what was refused.
import { Where, type ListQuery, type Page } from '../../lib/list-query.js';
import { findLog, listLogs } from './log.js';

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

export const operationColumns = [
  ...['log_key', 'admin_id', 'username', 'module', 'action', 'title', 'method', 'path', 'ip', 'user_agent'],
  ...['request', 'status', 'duration_ms', 'changes', 'trace_id'],
] as (keyof OperationEntry)[];

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
