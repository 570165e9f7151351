// How entries get into the logs. The entry of a write is stored by the transaction of the write, and again
// when its request has ended; every other one once.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/values/clock.js';
import { bulk, change, select, type SqlValue } from '../../lib/database/db.js';
import { isDatabaseDown } from '../../lib/database/errors.js';
import { storingEntries } from '../../lib/process/context.js';
import { logger } from '../../lib/watch/logger.js';
import { periodOf } from '../../lib/values/numbers.js';
import { announce } from '../../lib/redis/changes.js';
import { withPartition } from '../tables/partitions.js';
import { declarationOf, type Model, type TableClass } from '../tables/table.js';
import { logTables, type EntryOf } from './log.js';
import type { LoginEntry } from './login-log.js';
import type { OperationEntry } from './operation-log.js';
import type { SystemEntry } from './system-log.js';
import { LoginLog, OperationLog, SystemLog } from './tables.js';

export type LogItem =
  | { kind: 'operation'; entry: OperationEntry }
  | { kind: 'login'; entry: LoginEntry }
  | { kind: 'system'; entry: SystemEntry };

/** Stores the entry of a write within its transaction. */
export const storeWithWrite = (entry: OperationEntry, t: Transaction): Promise<void> =>
  insertEntries(OperationLog, [entry], t);

/** Whether the transaction that stored this entry was committed. */
export async function isStored(logKey: string): Promise<boolean> {
  const [row] = await select('SELECT 1 FROM operation_logs WHERE log_key = ? LIMIT 1', [logKey]);
  return row !== undefined;
}

/** Writes entries; known ones are replaced. One that no table takes is left out, the others are written. */
export async function writeEntries(items: readonly LogItem[]): Promise<void> {
  const months = items.map(({ entry }) => periodOf(new Date(entry.created_at)));
  try {
    const last = Math.max(periodOf(now()), ...months);
    await storingEntries(() => withPartition(logTables, last, () => writeTogether(items)));
  } catch (error) {
    if (isDatabaseDown(error)) throw error;
    if (items.length > 1) for (const item of items) await writeEntries([item]);
    else leaveOut(items[0], error);
    return;
  }
  announce(logTables);
}

function leaveOut(item: LogItem | undefined, error: unknown): void {
  const say = () => logger.error({ error, item }, 'a log entry that no table takes was left out');
  if (item?.kind === 'system') storingEntries(say);
  else say();
}

function writeTogether(items: readonly LogItem[]): Promise<void> {
  const of = <T>(wanted: LogItem['kind']): T[] =>
    items.flatMap(({ kind, entry }) => (kind === wanted ? [entry as T] : []));
  return bulk.transact(async (t) => {
    await insertEntries(OperationLog, of<OperationEntry>('operation'), t);
    await insertEntries(LoginLog, of<LoginEntry>('login'), t);
    await insertEntries(SystemLog, of<SystemEntry>('system'), t);
  });
}

// In one statement, each into the month of its created_at.
async function insertEntries<M extends Model>(
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
    const value = (name: string) => (entry[name as keyof typeof entry] ?? null) as SqlValue;
    return [periodOf(at), ...columns.map(value), at];
  });
  // Not INSERT IGNORE, which would also drop the entries of a month that has no partition yet.
  await change(
    `INSERT INTO ${table} (period, ${names.join(', ')}) VALUES ${entries.map(() => places).join(', ')}
     ON DUPLICATE KEY UPDATE ${columns.map((name) => `${name} = VALUES(${name})`).join(', ')}`,
    values,
    t,
  );
}
