// Retention of records.
import Joi from 'joi';

export interface RetentionEnvironment {
  LOG_RETENTION_DAYS: number;
  NOTIFICATION_RETENTION_DAYS: number;
  EXPORT_RETENTION_DAYS: number;
  CALLBACK_RETENTION_DAYS: number;
}

/** 273 years. With many more an expiry would be beyond the last date of the database. */
const maxDays = 100_000;

const days = (min: number, usual: number, what: string) =>
  Joi.number()
    .integer()
    .min(min)
    .max(maxDays)
    .default(usual)
    .description(`days after which ${what} are deleted`);

export const retentionSettings: Joi.StrictSchemaMap<RetentionEnvironment> = {
  LOG_RETENTION_DAYS: days(1, 180, 'log entries'),
  NOTIFICATION_RETENTION_DAYS: days(1, 180, 'notifications, read or not,'),
  EXPORT_RETENTION_DAYS: days(1, 7, 'exported files'),
  CALLBACK_RETENTION_DAYS: days(430, 730, 'payment callbacks, which may come 13 months late,'),
};

const dayMs = 86_400_000;

export function retentionConfig(env: RetentionEnvironment) {
  return {
    logDays: env.LOG_RETENTION_DAYS,
    notificationMs: env.NOTIFICATION_RETENTION_DAYS * dayMs,
    exportMs: env.EXPORT_RETENTION_DAYS * dayMs,
    /** Of the failed rows of an import and the file they are in. */
    importMs: 30 * dayMs,
    /** Of jobs that failed for good, after their last change. */
    failedJobMs: 90 * dayMs,
    callbackDays: env.CALLBACK_RETENTION_DAYS,
    /** Of callbacks that prove nothing: not signed, not readable, for no payment. */
    refusedCallbackDays: 30,
  };
}
