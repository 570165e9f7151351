// The worker: concurrency per queue, intervals of sweeps, retention of notifications.
import Joi from 'joi';

export interface WorkerEnvironment {
  WORKER_CONCURRENCY: number;
  PAYMENT_LANES: number;
  SWEEP_SECONDS: number;
  SWEEP_AGE_SECONDS: number;
  BULK_NICE: number;
  JOB_LOCK_SECONDS: number;
  FAILED_JOB_RETENTION_DAYS: number;
  NOTIFICATION_RETENTION_DAYS: number;
}

export const workerSchema = Joi.object<WorkerEnvironment, true>({
  WORKER_CONCURRENCY: Joi.number()
    .integer()
    .min(1)
    .max(200)
    .default(8)
    .description('payment and maintenance jobs that one worker runs at once'),
  PAYMENT_LANES: Joi.number()
    .integer()
    .min(1)
    .max(64)
    .default(1)
    .description(
      'queues that payment jobs are spread over, each in a slot of its own of a Redis Cluster; the same for all processes',
    ),
  SWEEP_SECONDS: Joi.number()
    .integer()
    .min(1)
    .max(59)
    .default(30)
    .description('how often rows whose job is gone are queued again'),
  SWEEP_AGE_SECONDS: Joi.number()
    .integer()
    .min(0)
    .default(10)
    .description('an unsettled row must be this old before the sweeper takes it'),
  BULK_NICE: Joi.number()
    .integer()
    .min(0)
    .max(19)
    .default(10)
    .description('a worker without the payments queue gives way to others by this niceness; 0: it does not'),
  JOB_LOCK_SECONDS: Joi.number()
    .integer()
    .min(2)
    .max(60)
    .default(12)
    .description('a job whose worker has not been heard of for so long is taken up by another one'),
  FAILED_JOB_RETENTION_DAYS: Joi.number()
    .integer()
    .min(1)
    .default(90)
    .description('jobs that failed for good are kept for so long after they were last heard of'),
  NOTIFICATION_RETENTION_DAYS: Joi.number()
    .integer()
    .min(1)
    .default(180)
    .description('notifications older than this, read or not, are deleted every night'),
});

export function workerConfig(env: WorkerEnvironment) {
  return {
    concurrency: env.WORKER_CONCURRENCY,
    paymentLanes: env.PAYMENT_LANES,
    sweepSeconds: env.SWEEP_SECONDS,
    bulkNice: env.BULK_NICE,
    jobLockMs: env.JOB_LOCK_SECONDS * 1000,
    failedJobRetentionMs: env.FAILED_JOB_RETENTION_DAYS * 86_400_000,
    notificationRetentionMs: env.NOTIFICATION_RETENTION_DAYS * 86_400_000,
    sweepAgeMs: env.SWEEP_AGE_SECONDS * 1000,
  };
}
