// How entries get into the three log tables.
import type { Transaction } from 'sequelize';
import { change } from '../../lib/db.js';
import { periodOf } from '../../lib/numbers.js';
import type { LogTable } from './log.js';

/**
 * Writes entries in one statement, each into the month of its created_at; what is known under its key is replaced by what
 * is known now.
 */
export async function insertLogs<T extends { log_key: string; created_at: string }>(
  table: LogTable,
  columns: readonly (keyof T & string)[],
  entries: readonly T[],
  t: Transaction,
): Promise<void> {
  if (entries.length === 0) return;
  const names = [...columns, 'created_at' as keyof T & string];
  const places = `(${['?', ...names.map(() => '?')].join(', ')})`;
  const values = entries.flatMap((entry) => {
    const at = new Date(entry.created_at);
    return [periodOf(at), ...columns.map((name) => entry[name] as string | number | null), at];
  });
  // Not INSERT IGNORE, which would also drop the entries of a month that has no partition yet.
  await change(
    `INSERT INTO ${table} (period, ${names.join(', ')}) VALUES ${entries.map(() => places).join(', ')}
     ON DUPLICATE KEY UPDATE ${columns.map((name) => `${name} = VALUES(${name})`).join(', ')}`,
    values,
    t,
  );
}
