// Deletion of old rows: whole months of partitioned tables at once, other rows in batches.
import { daysAgo } from '../../lib/values/clock.js';
import { bulk, select, type SqlValue } from '../../lib/database/db.js';
import { errno } from '../../lib/database/errors.js';
import { logger } from '../../lib/watch/logger.js';
import { periodOf } from '../../lib/values/numbers.js';
import { alterPartitions, type PartitionedTable } from './partitions.js';

const batchSize = 5000;
/** Error numbers of a partition that is not there. */
const isGone = new Set([1507, 1735]);

/**
 * Deletes rows created more than that many days ago.
 *
 * @param isDone SQL condition under which a row may go at all
 * @returns how many there were
 */
export async function removeOld(table: PartitionedTable, days: number, isDone = 'TRUE'): Promise<number> {
  const before = daysAgo(days);
  let dropped = 0;
  for (const { name } of await wholeMonths(table, periodOf(before))) {
    const rows = await dropMonth(table, name, before, isDone);
    // What blocks one month blocks the others, each for a second.
    if (rows === undefined) break;
    dropped += rows;
  }
  return dropped + (await removeOldRows(table, days, isDone));
}

/** The same in batches only: finding whole months would count their rows. */
export async function removeOldRows(table: PartitionedTable, days: number, isDone: string): Promise<number> {
  const before = daysAgo(days);
  return deleteAll(`DELETE FROM ${table} WHERE ${isDone} AND created_at < ? AND period <= ?`, [
    before,
    periodOf(before),
  ]);
}

/** Runs a DELETE in batches, so that nobody waits long for a row of it. @returns how many rows were deleted */
export async function deleteAll(sql: string, values: SqlValue[]): Promise<number> {
  let removed = 0;
  for (;;) {
    const batch = await bulk.change(`${sql} LIMIT ${batchSize}`, values);
    removed += batch;
    if (batch < batchSize) return removed;
  }
}

// The oldest partition holds everything before the first month and is never dropped.
function wholeMonths(table: PartitionedTable, month: number): Promise<{ name: string }[]> {
  return select<{ name: string }>(
    `SELECT PARTITION_NAME AS name FROM information_schema.PARTITIONS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND PARTITION_NAME <> 'p_before'
       AND CAST(PARTITION_DESCRIPTION AS UNSIGNED) <= ?`,
    [table, month],
  );
}

/**
 * A month may hold newer rows (a callback is in the month of its payment); its old rows are then deleted in batches.
 *
 * @returns how many rows it had; undefined when it could not be dropped
 */
async function dropMonth(
  table: PartitionedTable,
  name: string,
  before: Date,
  isDone: string,
): Promise<number | undefined> {
  try {
    const [rows] = await bulk.select<{ total: number; old: string | null }>(
      `SELECT COUNT(*) AS total, SUM(${isDone} AND created_at < ?) AS old FROM ${table} PARTITION (${name})`,
      [before],
    );
    if (!rows || Number(rows.old ?? 0) < rows.total) return 0;
    await alterPartitions(table, `DROP PARTITION ${name}`);
    return rows.total;
  } catch (error) {
    // Somebody else has dropped it meanwhile.
    if (isGone.has(errno(error) ?? 0)) return 0;
    logger.warn({ error, table }, 'dropping old months failed; their rows are deleted in batches');
    return undefined;
  }
}
