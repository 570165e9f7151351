// Records every change of state of orders and payments by triggers in the database.
import { db, select } from '../../../src/lib/database/db.js';

interface StateChange {
  number: string;
  before: string;
  after: string;
}

/** Starts recording. */
export async function watchStates(): Promise<void> {
  await db.query(
    `CREATE TABLE state_changes (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, number VARCHAR(40) NOT NULL,
     state_before VARCHAR(20) NOT NULL, state_after VARCHAR(20) NOT NULL, at DATETIME(3) NOT NULL, KEY (number)) ENGINE=InnoDB`,
  );
  for (const [table, number] of [
    ['orders', 'order_no'],
    ['payments', 'payment_no'],
  ]) {
    await db.query(
      `CREATE TRIGGER watch_${table} AFTER UPDATE ON ${table} FOR EACH ROW
       IF OLD.status <> NEW.status THEN
         INSERT INTO state_changes (number, state_before, state_after, at)
         VALUES (NEW.${number}, OLD.status, NEW.status, NEW.updated_at);
       END IF`,
    );
  }
}

/** The changes of one order or payment, or of all, oldest first. */
export function stateChanges(number = ''): Promise<StateChange[]> {
  return select<StateChange>(
    `SELECT number, state_before AS \`before\`, state_after AS \`after\` FROM state_changes
     WHERE ? IN ('', number) ORDER BY id`,
    [number],
  );
}
