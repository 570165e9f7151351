// operation_logs: what signed-in administrators did, also what was refused.
import Joi from 'joi';
import {
  escapeLike,
  listQuery,
  Where,
  type Criteria,
  type ListQuery,
  type Page,
} from '../../lib/input/list-query.js';
import { canonicalPart } from '../../lib/values/ip.js';
import { id, textFilter } from '../../lib/input/schema.js';
import { columnsOf, selection } from '../tables/selection.js';
import type { Listed } from '../tables/table.js';
import { getLog, type EntryOf } from './log.js';
import { OperationLog, type FieldChange } from './tables.js';

export type OperationEntry = EntryOf<OperationLog>;

const operationFilters = {
  admin_id: id(),
  username: textFilter(50),
  module: textFilter(50),
  action: textFilter(50),
  method: Joi.string().valid('POST', 'PUT', 'PATCH', 'DELETE'),
  path: textFilter(200).description('Part of the path of the request'),
  ip: textFilter(45),
  status: Joi.number().integer().description('HTTP status of the answer'),
  trace_id: textFilter(64),
  record: textFilter(200)
    .pattern(/^[\x21-\x7e]*$/)
    .description('Path of a record: its creation, its changes and its actions')
    .example('/api/admin/users/42'),
};

type OperationFilter = Criteria<typeof operationFilters> & ListQuery;

/** The query of the list. */
export const operationQuery = listQuery<OperationFilter>(
  ['id', 'status', 'duration_ms', 'created_at'],
  operationFilters,
);

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
export async function getOperation(id: number): Promise<OperationRecord> {
  return toRecord(await getLog(logs, id));
}

const toRecord = (row: Listed<OperationLog>): OperationRecord => ({
  ...row,
  admin: { id: row.admin_id, username: row.username },
  changes: row.changes ?? [],
});
