// Balance changes of users, and the exports and imports that administrators ask for.
import type { Migration } from './migration.js';

const times = `created_at DATETIME(3) NOT NULL, updated_at DATETIME(3) NOT NULL`;
const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

const tables = [
  // period: only counted by; a partitioned table could not promise that a request_id is unique.
  `CREATE TABLE IF NOT EXISTS user_balance_logs (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    period INT UNSIGNED NOT NULL,
    user_id BIGINT UNSIGNED NOT NULL,
    type VARCHAR(10) ${ascii} NOT NULL,
    amount DECIMAL(18,2) NOT NULL,
    balance_before DECIMAL(18,2) NOT NULL,
    balance_after DECIMAL(18,2) NOT NULL,
    source VARCHAR(20) ${ascii} NOT NULL,
    source_id VARCHAR(64) NULL,
    description VARCHAR(500) NULL,
    operator_id BIGINT UNSIGNED NULL,
    request_id VARCHAR(64) ${ascii} NULL,
    created_at DATETIME(3) NOT NULL,
    UNIQUE KEY uq_user_balance_logs_request (request_id),
    KEY ix_user_balance_logs_user (user_id),
    KEY ix_user_balance_logs_period (period),
    KEY ix_user_balance_logs_operator (operator_id),
    KEY ix_user_balance_logs_created (created_at)
  )`,
  // running_key: set while the export is waiting or running, so that the same request is not worked on twice.
  // storage_key: the file; while the export runs, the one that the latest run writes. notified_at: its owner was notified.
  `CREATE TABLE IF NOT EXISTS exports (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    admin_id BIGINT UNSIGNED NOT NULL,
    type VARCHAR(20) ${ascii} NOT NULL,
    format VARCHAR(4) ${ascii} NOT NULL,
    filter TEXT NOT NULL,
    language VARCHAR(5) ${ascii} NOT NULL,
    zone VARCHAR(64) ${ascii} NULL,
    running_key CHAR(64) ${ascii} NULL,
    status TINYINT NOT NULL DEFAULT 0,
    progress TINYINT UNSIGNED NOT NULL DEFAULT 0,
    processed_rows BIGINT UNSIGNED NOT NULL DEFAULT 0,
    total_rows BIGINT UNSIGNED NULL,
    filename VARCHAR(255) NOT NULL,
    storage_key VARCHAR(100) ${ascii} NULL,
    size BIGINT UNSIGNED NULL,
    error VARCHAR(50) ${ascii} NULL,
    ${times},
    finished_at DATETIME(3) NULL,
    notified_at DATETIME(3) NULL,
    expires_at DATETIME(3) NULL,
    UNIQUE KEY uq_exports_running (running_key),
    KEY ix_exports_admin (admin_id, created_at),
    KEY ix_exports_status (status, updated_at),
    KEY ix_exports_expiry (expires_at)
  )`,
  // position: how many data rows of the file are dealt with; it advances in the transaction that deals with them.
  // concluded: totals, file and notification have followed the end of the import. expires_at: the failed rows go then, and
  // the record as well when it was deleted.
  `CREATE TABLE IF NOT EXISTS imports (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    admin_id BIGINT UNSIGNED NOT NULL,
    type VARCHAR(20) ${ascii} NOT NULL,
    filename VARCHAR(255) NOT NULL,
    size BIGINT UNSIGNED NOT NULL,
    storage_key VARCHAR(100) ${ascii} NULL,
    encoding VARCHAR(10) ${ascii} NOT NULL,
    delimiter VARCHAR(1) ${ascii} NOT NULL,
    dry_run TINYINT NOT NULL DEFAULT 0,
    language VARCHAR(5) ${ascii} NOT NULL,
    status TINYINT NOT NULL DEFAULT 0,
    progress TINYINT UNSIGNED NOT NULL DEFAULT 0,
    position BIGINT UNSIGNED NOT NULL DEFAULT 0,
    total_rows BIGINT UNSIGNED NULL,
    success_count BIGINT UNSIGNED NOT NULL DEFAULT 0,
    failed_count BIGINT UNSIGNED NOT NULL DEFAULT 0,
    order_count BIGINT UNSIGNED NOT NULL DEFAULT 0,
    error VARCHAR(50) ${ascii} NULL,
    error_row BIGINT UNSIGNED NULL,
    concluded TINYINT NOT NULL DEFAULT 0,
    ${times},
    finished_at DATETIME(3) NULL,
    expires_at DATETIME(3) NULL,
    deleted_at DATETIME(3) NULL,
    KEY ix_imports_admin (admin_id, created_at),
    KEY ix_imports_open (concluded, updated_at),
    KEY ix_imports_expiry (expires_at)
  )`,
  // reason: a name of models/imports/import-reason.ts, put into words when it is read; detail fills its place.
  `CREATE TABLE IF NOT EXISTS import_errors (
    import_id BIGINT UNSIGNED NOT NULL,
    row_no BIGINT UNSIGNED NOT NULL,
    place SMALLINT UNSIGNED NOT NULL,
    field VARCHAR(20) ${ascii} NOT NULL,
    value VARCHAR(200) NOT NULL,
    reason VARCHAR(30) ${ascii} NOT NULL,
    detail VARCHAR(30) ${ascii} NOT NULL,
    PRIMARY KEY (import_id, row_no, place),
    CONSTRAINT fk_import_errors_import FOREIGN KEY (import_id) REFERENCES imports (id) ON DELETE CASCADE
  )`,
];

export const balancesExportsImports: Migration = {
  name: '0006-balances-exports-imports',
  async up(run) {
    for (const sql of tables) await run(sql);
  },
  async down(run) {
    for (const name of ['import_errors', 'imports', 'exports', 'user_balance_logs'])
      await run(`DROP TABLE IF EXISTS ${name}`);
  },
};
