// operation_logs: what signed-in administrators did, also what was refused.
import { change } from '../lib/db.js';
import { periodOf } from '../lib/numbers.js';
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
  trace_id: string;
  /** ISO 8601 in UTC. */
  created_at: string;
}

const columns = [
  ...['log_key', 'admin_id', 'username', 'module', 'action', 'title', 'method', 'path', 'ip', 'user_agent'],
  ...['request', 'status', 'duration_ms', 'trace_id'],
] as (keyof OperationEntry)[];

/** Writes a batch in one statement. */
export function writeOperations(entries: OperationEntry[]): Promise<void> {
  return writeLogs('operation_logs', columns, entries);
}

/** Writes log entries in one statement, each into the month of its created_at; known keys are passed over. */
export async function writeLogs<T extends { created_at: string }>(
  table: 'operation_logs' | 'login_logs',
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
  const newest = Math.max(...entries.map(({ created_at }) => periodOf(new Date(created_at))));
  // Not INSERT IGNORE, which would also drop the entries of a month that has no partition yet.
  await withPartition([table], newest, () =>
    change(
      `INSERT INTO ${table} (period, ${all.join(', ')}) VALUES ${entries.map(() => places).join(', ')}
       ON DUPLICATE KEY UPDATE log_key = VALUES(log_key)`,
      values,
    ),
  );
}
