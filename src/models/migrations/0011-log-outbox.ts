// Log entries on their way into the log tables.
import type { Migration } from './migration.js';

const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

// is_final: 0 for the entry of a write that commits with it, until the request has ended and says the rest.
export const outbox = `CREATE TABLE IF NOT EXISTS log_outbox (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    log_key CHAR(26) ${ascii} NOT NULL,
    kind VARCHAR(10) ${ascii} NOT NULL,
    entry MEDIUMTEXT NOT NULL,
    is_final TINYINT NOT NULL,
    stored_at DATETIME(3) NOT NULL,
    UNIQUE KEY uq_log_outbox_key (log_key)
  )`;

export const logOutbox: Migration = {
  name: '0011-log-outbox',
  async up(run) {
    await run(outbox);
    // From now on keys belong to the permission they are used under, and every route that creates takes them.
    await run(`ALTER TABLE idempotency_keys MODIFY scope VARCHAR(64) ${ascii} NOT NULL`);
  },
  down: (run) => run('DROP TABLE IF EXISTS log_outbox'),
};
