// Reads rows of the database directly.
import { select, type SqlValue } from '../../src/lib/database/db.js';

/** The one row of a query. @throws Error when there is none */
export async function selectRow<T extends object>(sql: string, values: SqlValue[] = []): Promise<T> {
  const [row] = await select<T>(sql, values);
  if (!row) throw new Error(`no row: ${sql}`);
  return row;
}
