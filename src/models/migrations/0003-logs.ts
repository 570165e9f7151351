// Operation and login logs, one partition per month so that old months can be dropped at once.
import { partitionClause } from '../tables/partitions.js';
import type { Migration } from './migration.js';

const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

// `log_key` names an entry wherever it is written from: writing it twice leaves one row.
const tables = () => [
  `CREATE TABLE IF NOT EXISTS operation_logs (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    period INT UNSIGNED NOT NULL,
    log_key CHAR(26) ${ascii} NOT NULL,
    admin_id BIGINT UNSIGNED NOT NULL,
    username VARCHAR(50) NOT NULL,
    module VARCHAR(50) NOT NULL,
    action VARCHAR(50) NOT NULL,
    title VARCHAR(100) NOT NULL,
    method VARCHAR(10) NOT NULL,
    path VARCHAR(500) NOT NULL,
    ip VARCHAR(45) NOT NULL,
    user_agent VARCHAR(500) NOT NULL,
    request MEDIUMTEXT NULL,
    status SMALLINT UNSIGNED NOT NULL,
    duration_ms INT UNSIGNED NOT NULL,
    changes MEDIUMTEXT NULL,
    trace_id VARCHAR(64) ${ascii} NOT NULL,
    created_at DATETIME(3) NOT NULL,
    PRIMARY KEY (id, period),
    UNIQUE KEY uq_operation_logs_key (log_key, period),
    KEY ix_operation_logs_created (created_at),
    KEY ix_operation_logs_admin (admin_id),
    KEY ix_operation_logs_trace (trace_id)
  ) ${partitionClause()}`,
  `CREATE TABLE IF NOT EXISTS login_logs (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    period INT UNSIGNED NOT NULL,
    log_key CHAR(26) ${ascii} NOT NULL,
    admin_id BIGINT UNSIGNED NULL,
    username VARCHAR(50) NOT NULL,
    ip VARCHAR(45) NOT NULL,
    user_agent VARCHAR(500) NOT NULL,
    browser VARCHAR(50) NOT NULL,
    os VARCHAR(50) NOT NULL,
    device VARCHAR(10) ${ascii} NOT NULL,
    status TINYINT NOT NULL,
    outcome VARCHAR(50) ${ascii} NOT NULL,
    created_at DATETIME(3) NOT NULL,
    PRIMARY KEY (id, period),
    UNIQUE KEY uq_login_logs_key (log_key, period),
    KEY ix_login_logs_created (created_at, status),
    KEY ix_login_logs_admin (admin_id),
    KEY ix_login_logs_ip (ip)
  ) ${partitionClause()}`,
];

export const logs: Migration = {
  name: '0003-logs',
  async up(run) {
    for (const table of tables()) await run(table);
  },
  async down(run) {
    for (const name of ['login_logs', 'operation_logs']) await run(`DROP TABLE IF EXISTS ${name}`);
  },
};
