// Jobs that have failed for good: kept until they have succeeded, were dropped, or are old.
import type { Migration } from './migration.js';

const ascii = `CHARACTER SET ascii COLLATE ascii_bin`;

// job_key: the work, whichever of its jobs failed. state: failed, retried (queued again), done.
const table = `CREATE TABLE IF NOT EXISTS failed_jobs (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY,
    queue VARCHAR(30) ${ascii} NOT NULL,
    job VARCHAR(60) NOT NULL,
    job_key VARCHAR(255) ${ascii} NOT NULL,
    payload MEDIUMTEXT NOT NULL,
    error VARCHAR(2000) NOT NULL,
    attempts INT UNSIGNED NOT NULL,
    failures INT UNSIGNED NOT NULL DEFAULT 1,
    trace_id VARCHAR(64) NOT NULL,
    state VARCHAR(10) ${ascii} NOT NULL,
    failed_at DATETIME(3) NOT NULL,
    retried_at DATETIME(3) NULL,
    created_at DATETIME(3) NOT NULL,
    updated_at DATETIME(3) NOT NULL,
    UNIQUE KEY uq_failed_jobs_key (job_key),
    KEY ix_failed_jobs_state (state, queue),
    KEY ix_failed_jobs_job (job, state),
    KEY ix_failed_jobs_updated (updated_at)
  )`;

export const failedJobs: Migration = {
  name: '0015-failed-jobs',
  up: (run) => run(table),
  down: (run) => run('DROP TABLE IF EXISTS failed_jobs'),
};
