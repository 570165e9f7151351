// A read over many statements that sees everything as of one instant, however long it takes.
import { config } from '../../config/index.js';
import { literal, type SqlValue } from '../lib/db.js';
import { logger } from '../lib/logger.js';
import type { Cell } from '../lib/sheet.js';

export interface Snapshot {
  /** Rows of a SELECT as arrays; DECIMAL and DATETIME columns are texts, times in UTC. */
  rows(sql: string, values: readonly SqlValue[]): Promise<Cell[][]>;
  close(): void;
}

/**
 * Opens one, over a connection of its own. While it is open the database keeps old versions of changed rows, and ALTER
 * TABLE waits for it: so it is for bulk work only and closed at its end.
 */
export async function openSnapshot(): Promise<Snapshot> {
  const { createConnection } = await import('mysql2/promise');
  const { host, port, user, password, name } = config.database;
  const connection = await createConnection({
    ...{ host, port, user, password, database: name, charset: 'utf8mb4_unicode_ci', timezone: 'Z' },
    ...{ dateStrings: true, supportBigNumbers: true, connectTimeout: 2000 },
  });
  // A statement that was running fails by itself; this is for the moments between two.
  connection.on('error', (error: unknown) => logger.warn({ error }, 'a snapshot lost its connection'));
  try {
    await connection.query('SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    await connection.query("SET SESSION time_zone = '+00:00', group_concat_max_len = 65536");
    await connection.query('START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY');
  } catch (error) {
    connection.destroy();
    throw error;
  }
  return {
    async rows(sql, values) {
      const [rows] = await connection.query({ sql, values: values.map(literal), rowsAsArray: true });
      return rows as unknown as Cell[][];
    },
    close: () => connection.destroy(),
  };
}
