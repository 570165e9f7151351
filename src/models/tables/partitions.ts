// Month partitions on `period` (YYYYMM), created with the table and added ahead of time.
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from '../../../config/index.js';
import { now } from '../../lib/values/clock.js';
import { select } from '../../lib/database/db.js';
import { errno } from '../../lib/database/errors.js';
import { openConnection } from '../../lib/database/connection.js';
import { logger } from '../../lib/watch/logger.js';
import { periodOf, shiftPeriod } from '../../lib/values/numbers.js';

export const partitionedTables = [
  'orders',
  'order_details',
  'payments',
  'payment_callbacks',
  'refunds',
  'operation_logs',
  'login_logs',
  'system_logs',
] as const;

export type PartitionedTable = (typeof partitionedTables)[number];

export const isPartitioned = (table: string): boolean =>
  (partitionedTables as readonly string[]).includes(table);

const monthsAhead = 3;
const duplicatePartition = new Set([1517, 1493]);

/** Whether a row was refused because its month has no partition. */
export const lacksPartition = (error: unknown): boolean => errno(error) === 1526;

/** The PARTITION BY clause of a new table: everything before last month, then month by month to three months ahead. */
export function partitionClause(): string {
  const current = periodOf(now());
  const parts = [`PARTITION p_before VALUES LESS THAN (${shiftPeriod(current, -1)})`];
  for (let months = -1; months <= monthsAhead; months++) parts.push(partition(shiftPeriod(current, months)));
  return `PARTITION BY RANGE (period) (${parts.join(', ')})`;
}

/**
 * Adds to every table the partitions up to so many months after the present one. Safe to run at any time, by many.
 *
 * @param ahead 1 is what a start needs: an ALTER may wait for a long reader
 */
export async function extendPartitions(ahead = monthsAhead): Promise<void> {
  for (const table of partitionedTables) await extendTable(table, shiftPeriod(periodOf(now()), ahead));
}

/**
 * Writes to a partitioned table; if the month has no partition, adds it and writes again.
 *
 * @param write the whole write, a transaction included
 */
export async function withPartition<T>(
  tables: readonly PartitionedTable[],
  period: number,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!lacksPartition(error)) throw error;
    for (const table of tables) await extendTable(table, period);
    return write();
  }
}

/**
 * Changes the partitions of a table over a separate connection. An open transaction blocks it, and later
 * statements queue behind it: so it waits at most a second.
 */
export async function alterPartitions(table: PartitionedTable, clause: string): Promise<void> {
  const connection = await openConnection({
    database: config.database.name,
    statementSeconds: config.database.bulkSeconds,
  });
  try {
    await connection.query('SET SESSION lock_wait_timeout = 1');
    await connection.query(`ALTER TABLE ${table} ${clause}`);
  } finally {
    connection.destroy();
  }
}

// In one statement, which waits for open transactions once.
async function extendTable(table: PartitionedTable, until: number): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const missing: number[] = [];
    for (let period = await lastBound(table); period <= until; period = shiftPeriod(period, 1))
      missing.push(period);
    if (missing.length === 0) return;
    try {
      await alterPartitions(table, `ADD PARTITION (${missing.map(partition).join(', ')})`);
      logger.info({ table, months: missing }, 'month partitions added');
      return;
    } catch (error) {
      if (attempt === 10) throw error;
      // Another process may have added some of them.
      if (!duplicatePartition.has(errno(error) ?? 0)) await sleep(200 + Math.random() * 800);
    }
  }
}

/** The last month up to which every table has partitions. */
export async function lastMonth(): Promise<number> {
  return shiftPeriod(Math.min(...(await Promise.all(partitionedTables.map(lastBound)))), -1);
}

/** The first month without a partition. */
async function lastBound(table: PartitionedTable): Promise<number> {
  const [row] = await select<{ last: string }>(
    `SELECT MAX(CAST(PARTITION_DESCRIPTION AS UNSIGNED)) AS last FROM information_schema.PARTITIONS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ?`,
    [table],
  );
  return Number(row?.last);
}

function partition(period: number): string {
  return `PARTITION p${period} VALUES LESS THAN (${shiftPeriod(period, 1)})`;
}
