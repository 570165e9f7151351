// What keeps copies and totals exact: a version per scope, and a journal of what changes in orders and payments.
import { passDone, type Migration } from './migration.js';

const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

// epoch: ten-second steps of the server's clock. sign: -1 for the row as it was, 1 for the row as it is now.
const journal = `seq BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    epoch INT UNSIGNED NOT NULL,
    sign TINYINT NOT NULL,
    id BIGINT UNSIGNED NOT NULL,
    period INT UNSIGNED NOT NULL`;

const versions = `CREATE TABLE IF NOT EXISTS versions (
    scope VARCHAR(40) ${ascii} NOT NULL PRIMARY KEY,
    version BIGINT UNSIGNED NOT NULL
  )`;

export const journals = [
  `CREATE TABLE IF NOT EXISTS order_changes (
    ${journal},
    order_no CHAR(35) ${ascii} NOT NULL,
    user_id BIGINT UNSIGNED NOT NULL,
    amount DECIMAL(18,2) NOT NULL,
    status VARCHAR(20) ${ascii} NOT NULL,
    remark VARCHAR(500) NULL,
    created_at DATETIME(3) NOT NULL,
    deleted_at DATETIME(3) NULL,
    KEY ix_order_changes_epoch (epoch)
  )`,
  `CREATE TABLE IF NOT EXISTS payment_changes (
    ${journal},
    payment_no CHAR(37) ${ascii} NOT NULL,
    order_no CHAR(35) ${ascii} NOT NULL,
    user_id BIGINT UNSIGNED NOT NULL,
    payment_method_id BIGINT UNSIGNED NOT NULL,
    status VARCHAR(20) ${ascii} NOT NULL,
    third_party_no VARCHAR(64) ${ascii} NULL,
    pay_time DATETIME(3) NULL,
    needs_attention TINYINT NOT NULL,
    created_at DATETIME(3) NOT NULL,
    KEY ix_payment_changes_epoch (epoch)
  )`,
];

export const exactLists: Migration = {
  name: '0010-exact-lists',
  async up(run) {
    for (const table of [versions, ...journals]) await run(table);
    await run('ALTER TABLE users ADD KEY ix_users_created (created_at)').catch(passDone);
    // Money that was reported before wins (payment-settlement.ts).
    await run('ALTER TABLE orders ADD COLUMN cancelled_at DATETIME(3) NULL').catch(passDone);
  },
  async down(run) {
    await run('ALTER TABLE orders DROP COLUMN cancelled_at').catch(passDone);
    await run('ALTER TABLE users DROP KEY ix_users_created').catch(passDone);
    for (const table of ['payment_changes', 'order_changes', 'versions'])
      await run(`DROP TABLE IF EXISTS ${table}`);
  },
};
