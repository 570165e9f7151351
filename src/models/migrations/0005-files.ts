// Files: stored files, attachments, and chunks of unfinished uploads.
import type { Migration } from './migration.js';

const times = `created_at DATETIME(3) NOT NULL, updated_at DATETIME(3) NOT NULL`;
const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

const tables = [
  // A row before a file: every stored file has one, so files without an owner are found without listing the storage.
  `CREATE TABLE IF NOT EXISTS stored_files (
    storage_key VARCHAR(100) ${ascii} NOT NULL PRIMARY KEY,
    state VARCHAR(10) ${ascii} NOT NULL,
    ${times},
    KEY ix_stored_files_state (state, updated_at)
  )`,
  `CREATE TABLE IF NOT EXISTS attachments (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    admin_id BIGINT UNSIGNED NOT NULL,
    storage_key VARCHAR(100) ${ascii} NOT NULL,
    filename VARCHAR(255) NOT NULL,
    display_name VARCHAR(255) NOT NULL,
    extension VARCHAR(16) ${ascii} NOT NULL,
    mime_type VARCHAR(100) ${ascii} NOT NULL,
    type VARCHAR(10) ${ascii} NOT NULL,
    size BIGINT UNSIGNED NOT NULL,
    sha256 CHAR(64) ${ascii} NOT NULL,
    ${times},
    UNIQUE KEY uq_attachments_key (storage_key),
    KEY ix_attachments_admin (admin_id, size),
    KEY ix_attachments_created (created_at)
  )`,
  // A client may choose chunk_id itself, so one is only unique among those of its administrator.
  `CREATE TABLE IF NOT EXISTS chunk_sessions (
    admin_id BIGINT UNSIGNED NOT NULL,
    chunk_id VARCHAR(64) ${ascii} NOT NULL,
    filename VARCHAR(255) NOT NULL,
    total_size BIGINT UNSIGNED NULL,
    chunk_size BIGINT UNSIGNED NULL,
    total_chunks INT UNSIGNED NOT NULL,
    sha256 CHAR(64) ${ascii} NULL,
    received_chunks INT UNSIGNED NOT NULL DEFAULT 0,
    received_bytes BIGINT UNSIGNED NOT NULL DEFAULT 0,
    status VARCHAR(10) ${ascii} NOT NULL DEFAULT 'uploading',
    error VARCHAR(50) ${ascii} NULL,
    attachment_id BIGINT UNSIGNED NULL,
    to_be_told TINYINT NOT NULL DEFAULT 0,
    ${times},
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (admin_id, chunk_id),
    KEY ix_chunk_sessions_status (status, updated_at),
    KEY ix_chunk_sessions_expiry (expires_at)
  )`,
  `CREATE TABLE IF NOT EXISTS chunks (
    admin_id BIGINT UNSIGNED NOT NULL,
    chunk_id VARCHAR(64) ${ascii} NOT NULL,
    chunk_index INT UNSIGNED NOT NULL,
    size BIGINT UNSIGNED NOT NULL,
    storage_key VARCHAR(100) ${ascii} NOT NULL,
    PRIMARY KEY (admin_id, chunk_id, chunk_index),
    CONSTRAINT fk_chunks_session FOREIGN KEY (admin_id, chunk_id)
      REFERENCES chunk_sessions (admin_id, chunk_id) ON DELETE CASCADE
  )`,
];

export const files: Migration = {
  name: '0005-files',
  async up(run) {
    for (const sql of tables) await run(sql);
  },
  async down(run) {
    for (const name of ['chunks', 'chunk_sessions', 'attachments', 'stored_files'])
      await run(`DROP TABLE IF EXISTS ${name}`);
  },
};
