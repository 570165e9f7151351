// Another client of the test's database, whose locks the server keeps as long as the test needs them.
import { setTimeout as sleep } from 'node:timers/promises';
import { createConnection, type Connection } from 'mysql2/promise';
import { config } from '../../config/index.js';
import { select } from '../../src/lib/database/db.js';

/** A connection past the service; its opener ends it. */
export function otherConnection(): Promise<Connection> {
  const { host, port, user, password, name: database } = config.database;
  return createConnection({ host, port, user, password, database, timezone: 'Z' });
}

/**
 * Runs a statement in a transaction that stays open, with the locks it takes.
 *
 * @returns a function that rolls it back
 */
export async function holding(sql: string, values: (string | number)[] = []): Promise<() => Promise<void>> {
  const connection = await otherConnection();
  await connection.query('START TRANSACTION');
  await connection.query(sql, values);
  return () => connection.end();
}

/** Locks the row of a payment. @returns a function that lets it go */
export const holdingPayment = ({ payment_no }: { payment_no: string }): Promise<() => Promise<void>> =>
  holding('SELECT id FROM payments WHERE payment_no = ? FOR UPDATE', [payment_no]);

/** Connections of this test file whose statement is under way. @param like pattern of its text */
export const connectionsAt = async (like: string): Promise<number[]> =>
  (
    await select<{ id: number }>(
      `SELECT id FROM information_schema.processlist
       WHERE db = DATABASE() AND id <> CONNECTION_ID() AND info LIKE ?`,
      [like],
    )
  ).map(({ id }) => id);

/** How many statements of this test file wait for the lock of a row. @param text which they have in them */
export async function lockWaits(text: string): Promise<number> {
  // InnoDB looks anew only when nobody has asked for 100 ms.
  await sleep(150);
  const rows = await select(
    `SELECT p.id FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
     WHERE t.trx_state = 'LOCK WAIT' AND p.db = DATABASE() AND p.info LIKE ?`,
    [`%${text}%`],
  );
  return rows.length;
}
