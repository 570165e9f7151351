// How entries get into the three log tables.
import type { Transaction } from 'sequelize';
import { change, type SqlValue } from '../../lib/database/db.js';
import { periodOf } from '../../lib/numbers.js';
import { declarationOf, type Model, type TableClass } from '../tables/table.js';
import type { EntryOf } from './log.js';

/**
 * Writes entries in one statement, each into the month of its created_at; what is known under its key is replaced by what
 * is known now.
 */
export async function insertLogs<M extends Model>(
  log: TableClass<M>,
  entries: readonly (EntryOf<M> & { created_at: string })[],
  t: Transaction,
): Promise<void> {
  if (entries.length === 0) return;
  const { name: table, columns: declared } = declarationOf(log);
  const columns = [...declared.keys()].filter((name) => !['id', 'period', 'created_at'].includes(name));
  const names = [...columns, 'created_at'];
  const places = `(${['?', ...names.map(() => '?')].join(', ')})`;
  const values = entries.flatMap((entry) => {
    const at = new Date(entry.created_at);
    return [periodOf(at), ...columns.map((name) => entry[name as keyof typeof entry] as SqlValue), at];
  });
  // Not INSERT IGNORE, which would also drop the entries of a month that has no partition yet.
  await change(
    `INSERT INTO ${table} (period, ${names.join(', ')}) VALUES ${entries.map(() => places).join(', ')}
     ON DUPLICATE KEY UPDATE ${columns.map((name) => `${name} = VALUES(${name})`).join(', ')}`,
    values,
    t,
  );
}
