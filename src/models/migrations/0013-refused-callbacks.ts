// Stores each unverified callback once a day, with the number of its repeats.
import { passDone, type Migration } from './migration.js';

const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

export const refusedCallbacks: Migration = {
  name: '0013-refused-callbacks',
  async up(run) {
    await run(
      `ALTER TABLE payment_callbacks ADD COLUMN same_key CHAR(43) ${ascii} NULL,
         ADD COLUMN times INT UNSIGNED NOT NULL DEFAULT 1, ADD COLUMN last_at DATETIME(3) NULL`,
    ).catch(passDone);
    await run(
      'ALTER TABLE payment_callbacks ADD UNIQUE KEY uq_payment_callbacks_same (same_key, period)',
    ).catch(passDone);
  },
  async down(run) {
    await run('ALTER TABLE payment_callbacks DROP KEY uq_payment_callbacks_same').catch(passDone);
    await run(
      'ALTER TABLE payment_callbacks DROP COLUMN same_key, DROP COLUMN times, DROP COLUMN last_at',
    ).catch(passDone);
  },
};
