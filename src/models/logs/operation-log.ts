// operation_logs: what signed-in administrators did, also what was refused.
import { escapeLike, Where, type ListQuery, type Page } from '../../lib/input/list-query.js';
import { canonicalPart } from '../../lib/values/ip.js';
import { columnsOf, selection } from '../tables/selection.js';
import type { Listed } from '../tables/table.js';
import { findLog, type EntryOf } from './log.js';
import { OperationLog, type FieldChange } from './tables.js';

export type OperationEntry = EntryOf<OperationLog>;

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
  /** Path of a record: its creation, its changes and its actions. */
  record?: string;
}

export const operationSortable = ['id', 'status', 'duration_ms', 'created_at'] as const;

type OperationRecord = Listed<OperationLog> & {
  admin: { id: number; username: string };
  changes: FieldChange[];
};

const logs = selection(columnsOf(OperationLog, 'l'), 'operation_logs l');

export async function listOperations(query: OperationFilter): Promise<Page<OperationRecord>> {
  const where = new Where()
    .equals('l.admin_id', query.admin_id)
    .contains('l.username', query.username)
    .contains('l.module', query.module)
    .contains('l.action', query.action)
    .equals('l.method', query.method)
    .contains('l.path', query.path)
    .contains('l.ip', canonicalPart(query.ip))
    .equals('l.status', query.status)
    .equalsAscii('l.trace_id', query.trace_id)
    .during('l.created_at', query, 'l.period');
  if (query.record) ofRecord(where, query.record);
  const page = await logs.page(query, where);
  return { ...page, list: page.list.map(toRecord) };
}

function ofRecord(where: Where, path: string): void {
  const end = path.lastIndexOf('/');
  const [list, key] = [path.slice(0, end), path.slice(end + 1)];
  const below = (start: string): string => `${escapeLike(start)}/%`;
  // The concatenation keeps MySQL from one wide range of paths, so that it unites two indexes.
  where.and(
    "(l.path = ? OR l.path LIKE ? OR (l.record_key = ? AND CONCAT(l.path, '/') LIKE ?))",
    ...[path, below(path), key, below(list)],
  );
}

/** @throws log_not_found */
export async function findOperation(id: number): Promise<OperationRecord> {
  return toRecord(await findLog(logs, id));
}

const toRecord = (row: Listed<OperationLog>): OperationRecord => ({
  ...row,
  admin: { id: row.admin_id, username: row.username },
  changes: row.changes ?? [],
});
