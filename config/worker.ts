// The worker: jobs at once, intervals of the sweeper.
import { constant } from './environment.js';

export function workerConfig() {
  return {
    /** Payment and maintenance jobs that one worker runs at once. */
    concurrency: 8,
    /** Rows whose job is gone are queued again this often. */
    sweepSeconds: constant('SWEEP_SECONDS', 30),
    /** An unsettled row must be this old before the sweeper takes it. */
    sweepAgeMs: constant('SWEEP_AGE_SECONDS', 10) * 1000,
    /** Niceness of a worker without the payments queue. */
    bulkNice: 10,
    /** A job whose worker has been silent this long is taken up by another one. */
    jobLockMs: constant('JOB_LOCK_SECONDS', 12) * 1000,
    /** Every queue gets an empty job this often … */
    canaryMs: constant('CANARY_SECONDS', 10) * 1000,
    /** … and a worker that ends none for this long exits. */
    hangMs: constant('HANG_SECONDS', 60) * 1000,
  };
}
