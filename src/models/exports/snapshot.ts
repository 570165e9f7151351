// A read over many statements that sees everything as of one instant, however long it takes.
import { config } from '../../../config/index.js';
import { literal, type SqlValue } from '../../lib/database/db.js';
import { DatabaseTimeout } from '../../lib/database/errors.js';
import { connectToSnapshot } from '../../lib/database/connection.js';
import type { DriverConnection } from '../../lib/database/deadline.js';
import type { Cell } from '../../lib/sheets/sheet.js';

export interface Snapshot {
  /** Rows of a SELECT as arrays; DECIMAL and DATETIME columns are texts, times in UTC. */
  rows(sql: string, values: readonly SqlValue[]): Promise<Cell[][]>;
  /** Also fails a read that is under way. */
  close: () => void;
}

/**
 * Opens one over a dedicated connection. While it is open the database keeps old versions of changed rows,
 * and ALTER TABLE waits for it: so it is for bulk work only and closed at its end.
 */
export async function openSnapshot(): Promise<Snapshot> {
  const statementSeconds = config.database.bulkSeconds;
  const connection = await connectToSnapshot({ statementSeconds, dateStrings: true });
  const { stream } = (connection as unknown as { connection: DriverConnection }).connection;
  let reads = 0;
  return {
    async rows(sql, values) {
      reads++;
      try {
        const [rows] = await connection.query({ sql, values: values.map(literal), rowsAsArray: true });
        return rows as unknown as Cell[][];
      } finally {
        reads--;
      }
    },
    close() {
      // destroy() waits for the answer, and the driver does not fail a read when the server goes away meanwhile.
      if (reads > 0) stream.destroy(new DatabaseTimeout('the snapshot was closed during a read'));
      else connection.destroy();
    },
  };
}
