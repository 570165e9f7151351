// Checks whether a key is the one this database was made with.
import type { Migration } from './migration.js';

const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

// digest: HMAC-SHA-256 of a constant under the key, in hex; nothing about the key can be learnt from it.
const table = `CREATE TABLE IF NOT EXISTS key_checks (
    name VARCHAR(20) ${ascii} NOT NULL PRIMARY KEY,
    digest CHAR(64) ${ascii} NOT NULL,
    created_at DATETIME(3) NOT NULL,
    updated_at DATETIME(3) NOT NULL
  )`;

export const keyChecks: Migration = {
  name: '0017-key-checks',
  up: (run) => run(table),
  down: (run) => run('DROP TABLE IF EXISTS key_checks'),
};
