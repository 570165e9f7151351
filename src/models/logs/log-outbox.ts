// log_outbox: log entries before they are in the log tables. The entry of a write is stored by the transaction of the write,
// every other one as soon as it is made; the job write-logs moves them on in batches.
import type { Transaction } from 'sequelize';
import { now } from '../../lib/clock.js';
import { bulk, change, insert, select } from '../../lib/database/db.js';
import { isDatabaseDown } from '../../lib/database/errors.js';
import { logger } from '../../lib/logger.js';
import { announce } from '../../lib/redis/marks.js';
import { periodOf } from '../../lib/numbers.js';
import { logTables } from './log.js';
import { insertLogs } from './log-writing.js';
import type { LoginEntry } from './login-log.js';
import type { OperationEntry } from './operation-log.js';
import { withPartition } from '../tables/partitions.js';
import type { SystemEntry } from './system-log.js';
import { LoginLog, OperationLog, OutboxEntry, SystemLog } from './tables.js';
import { execute, over } from '../tables/sql.js';

export type LogItem =
  | { kind: 'operation'; entry: OperationEntry }
  | { kind: 'login'; entry: LoginEntry }
  | { kind: 'system'; entry: SystemEntry };

const batchSize = 500;
/** The request of a write that has not ended after so long has died; its entry goes on as it is. */
const maxRequestSeconds = 120;

/** Stores the entry of a write within its transaction; what the request comes to is told later under the same key. */
export async function storeWithWrite(entry: OperationEntry, t: Transaction): Promise<void> {
  const { sql, values } = storing(entry);
  await insert(sql, values, t);
}

/** The statement of `storeWithWrite`. */
export const storing = (entry: OperationEntry) => ({
  sql: `INSERT INTO log_outbox (log_key, kind, entry, is_final, stored_at) VALUES (?, 'operation', ?, 0, NOW(3))
    ON DUPLICATE KEY UPDATE is_final = is_final`,
  values: [entry.log_key, JSON.stringify(entry)],
});

/** Whether the transaction that stored this entry was committed. */
export async function isStored(logKey: string): Promise<boolean> {
  const [row] = await select(
    `SELECT 1 FROM log_outbox WHERE log_key = ? UNION ALL SELECT 1 FROM operation_logs WHERE log_key = ? LIMIT 1`,
    [logKey, logKey],
  );
  return row !== undefined;
}

/** Stores entries in one statement; the one of a write is completed. */
export async function storeItems(items: readonly LogItem[]): Promise<void> {
  await change(
    `INSERT INTO log_outbox (log_key, kind, entry, is_final, stored_at)
     VALUES ${items.map(() => '(?, ?, ?, 1, NOW(3))').join(', ')}
     ON DUPLICATE KEY UPDATE entry = VALUES(entry), is_final = 1`,
    items.flatMap(({ kind, entry }) => [entry.log_key, kind, JSON.stringify(entry)]),
  );
}

/** Whether entries lie here that a job should have moved. */
export async function areWaiting(): Promise<boolean> {
  const [row] = await select(`SELECT id FROM log_outbox WHERE ${dueSql} LIMIT 1`);
  return row !== undefined;
}

const dueSql = `(is_final = 1 OR stored_at < NOW(3) - INTERVAL ${maxRequestSeconds} SECOND)`;

interface OutboxRow {
  id: number;
  kind: LogItem['kind'];
  entry: string;
}

/** Moves everything that is due into the log tables. Safe to run at any time, by many. */
export async function moveLogs(signal: AbortSignal): Promise<void> {
  while (!signal.aborted && (await moveBatch(batchSize)) === batchSize);
}

async function moveBatch(size: number): Promise<number> {
  let moved: number | undefined;
  const batch: Batch = { rows: [], latest: periodOf(now()) };
  try {
    moved = await withPartition(
      logTables,
      () => batch.latest,
      () => move(size, batch),
    );
    return moved;
  } catch (error) {
    if (isDatabaseDown(error)) throw error;
    // One entry that no table takes must not keep the others here.
    if (size > 1) return moveOneByOne();
    const [culprit] = batch.rows;
    if (!culprit) throw error;
    await dropEntry(culprit, error);
    return 1;
  } finally {
    if (moved !== 0) await announce(logTables);
  }
}

/** What a batch was found to hold, also when moving it fails. */
interface Batch {
  rows: OutboxRow[];
  /** The latest month among them and now. */
  latest: number;
}

async function moveOneByOne(): Promise<number> {
  let moved = 0;
  while (moved < batchSize && (await moveBatch(1)) === 1) moved++;
  return moved;
}

function move(size: number, batch: Batch): Promise<number> {
  return bulk.transact(async (t) => {
    // Without locks: those on their way in are locked by the writes they belong to.
    const due = await bulk.select<{ id: number }>(
      `SELECT id FROM log_outbox WHERE ${dueSql} ORDER BY id LIMIT ${size}`,
      [],
      t,
    );
    if (due.length === 0) return 0;
    const ids = due.map(({ id }) => id);
    // Another worker may have moved some of them meanwhile.
    const rows = await bulk.select<OutboxRow>(
      'SELECT id, kind, entry FROM log_outbox WHERE id IN (?) ORDER BY id FOR UPDATE',
      [ids],
      t,
    );
    batch.rows = rows;
    const items = rows.map(({ kind, entry }): LogItem => ({ kind, entry: JSON.parse(entry) as never }));
    batch.latest = Math.max(batch.latest, ...items.map(({ entry }) => periodOf(new Date(entry.created_at))));
    const of = <T>(wanted: LogItem['kind']): T[] =>
      items.flatMap(({ kind, entry }) => (kind === wanted ? [entry as T] : []));
    await insertLogs(OperationLog, of<OperationEntry>('operation'), t);
    await insertLogs(LoginLog, of<LoginEntry>('login'), t);
    await insertLogs(SystemLog, of<SystemEntry>('system'), t);
    await execute(sql('DELETE FROM log_outbox WHERE id IN (:ids)', { ids }), { t, on: bulk });
    return due.length;
  });
}

// By its id: another worker may have left it out meanwhile, and what is first now is a good one.
async function dropEntry({ id, entry }: OutboxRow, error: unknown): Promise<void> {
  logger.error({ error, entry }, 'a log entry that no table takes was left out');
  await execute(sql('DELETE FROM log_outbox WHERE id = :id', { id }));
}

const sql = over({ log_outbox: OutboxEntry });
