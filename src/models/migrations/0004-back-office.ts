// Dictionaries, the IP blacklist, notifications with their read state, and the system log.
import { partitionClause } from '../tables/partitions.js';
import type { Migration } from './migration.js';

const times = `created_at DATETIME(3) NOT NULL, updated_at DATETIME(3) NOT NULL`;
const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

const tables = () => [
  `CREATE TABLE IF NOT EXISTS dictionaries (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    parent_id BIGINT UNSIGNED NOT NULL DEFAULT 0,
    name VARCHAR(50) NOT NULL,
    code VARCHAR(50) NOT NULL,
    value VARCHAR(500) NULL,
    description VARCHAR(255) NULL,
    status TINYINT NOT NULL DEFAULT 1,
    sort INT NOT NULL DEFAULT 0,
    ${times},
    UNIQUE KEY uq_dictionaries_code (parent_id, code)
  )`,
  // The bounds are 16 bytes of IPv6, IPv4 mapped into ::ffff:0:0/96, so that equal ranges are found whatever their spelling.
  `CREATE TABLE IF NOT EXISTS blacklists (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    ip VARCHAR(100) ${ascii} NOT NULL,
    first_ip BINARY(16) NOT NULL,
    last_ip BINARY(16) NOT NULL,
    remark VARCHAR(255) NULL,
    status TINYINT NOT NULL DEFAULT 1,
    ${times},
    UNIQUE KEY uq_blacklists_range (first_ip, last_ip)
  )`,
  // receiver_id NULL: for every administrator, stored once.
  `CREATE TABLE IF NOT EXISTS notifications (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    type VARCHAR(20) ${ascii} NOT NULL,
    title VARCHAR(150) NOT NULL,
    content TEXT NOT NULL,
    sender_id BIGINT UNSIGNED NULL,
    receiver_id BIGINT UNSIGNED NULL,
    event_key VARCHAR(100) ${ascii} NULL,
    created_at DATETIME(3) NOT NULL,
    UNIQUE KEY uq_notifications_event (event_key),
    KEY ix_notifications_receiver (receiver_id, created_at)
  )`,
  `CREATE TABLE IF NOT EXISTS notification_reads (
    admin_id BIGINT UNSIGNED NOT NULL,
    notification_id BIGINT UNSIGNED NOT NULL,
    read_at DATETIME(3) NOT NULL,
    PRIMARY KEY (admin_id, notification_id),
    CONSTRAINT fk_notification_reads_admin FOREIGN KEY (admin_id) REFERENCES admins (id) ON DELETE CASCADE
  )`,
  // Everything up to that instant counts as read: "read all" is one row, however many notifications there are.
  `CREATE TABLE IF NOT EXISTS notification_marks (
    admin_id BIGINT UNSIGNED NOT NULL PRIMARY KEY,
    read_until DATETIME(3) NOT NULL,
    CONSTRAINT fk_notification_marks_admin FOREIGN KEY (admin_id) REFERENCES admins (id) ON DELETE CASCADE
  )`,
  `CREATE TABLE IF NOT EXISTS system_logs (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    period INT UNSIGNED NOT NULL,
    log_key CHAR(26) ${ascii} NOT NULL,
    level VARCHAR(10) ${ascii} NOT NULL,
    module VARCHAR(50) NOT NULL,
    message VARCHAR(1000) NOT NULL,
    context MEDIUMTEXT NULL,
    trace_id VARCHAR(64) ${ascii} NOT NULL,
    created_at DATETIME(3) NOT NULL,
    PRIMARY KEY (id, period),
    UNIQUE KEY uq_system_logs_key (log_key, period),
    KEY ix_system_logs_created (created_at),
    KEY ix_system_logs_trace (trace_id)
  ) ${partitionClause()}`,
];

export const backOffice: Migration = {
  name: '0004-back-office',
  async up(run) {
    for (const sql of tables()) await run(sql);
  },
  async down(run) {
    const names = 'system_logs notification_marks notification_reads notifications blacklists dictionaries';
    for (const name of names.split(' ')) await run(`DROP TABLE IF EXISTS ${name}`);
  },
};
