// Somebody else at the database of this test file: what it holds the server lets stand, however long the test needs it.
import { createConnection, type Connection } from 'mysql2/promise';
import { config } from '../../config/index.js';

/** A connection past the service; whoever opens it ends it. */
export function otherConnection(): Promise<Connection> {
  const { host, port, user, password, name: database } = config.database;
  return createConnection({ host, port, user, password, database, timezone: 'Z' });
}

/**
 * Runs a statement in a transaction that stays open, with the locks it takes.
 *
 * @returns how to let go
 */
export async function holding(sql: string, values: (string | number)[] = []): Promise<() => Promise<void>> {
  const connection = await otherConnection();
  await connection.query('START TRANSACTION');
  await connection.query(sql, values);
  return () => connection.end();
}
