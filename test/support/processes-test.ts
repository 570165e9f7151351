// The processes of a test file without a service in its own: ended after its tests, and their database removed.
import test from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { copyPreparedDatabase } from './prepared-database.js';
import { killProcesses } from './processes.js';

/**
 * Declares that this file starts processes, before its first hook.
 *
 * @param remove takes away what they use, once they have ended
 * @param options isEmpty: the first process creates the database, with settings of its own
 */
export function processesTest(remove?: () => unknown, { isEmpty = false } = {}): void {
  // Serial: the other hooks wait for it.
  test.serial.before(async () => {
    if (!isEmpty) await copyPreparedDatabase();
  });
  test.after.always(async () => {
    await killProcesses();
    await remove?.();
    await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
    await closeDatabase();
  });
}
