// The processes of a test file without a service in its own: ended after its tests, and their database removed.
import test from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { killProcesses } from './processes.js';

/** Declares that this file starts processes. @param remove takes away what they use, once they have ended */
export function processesTest(remove?: () => unknown): void {
  test.after.always(async () => {
    await killProcesses();
    await remove?.();
    await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
    await closeDatabase();
  });
}
