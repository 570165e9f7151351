// What the processes write to standard output.
import Joi from 'joi';

export interface LoggingEnvironment {
  LOG_LEVEL: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  SYSTEM_LOG_LEVEL: 'debug' | 'info' | 'warning' | 'error';
  LOG_RETENTION_DAYS: number;
}

export const loggingSchema = Joi.object<LoggingEnvironment, true>({
  LOG_LEVEL: Joi.string()
    .valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
    .default('info')
    .description('least severe level written to standard output'),
  SYSTEM_LOG_LEVEL: Joi.string()
    .valid('debug', 'info', 'warning', 'error')
    .default('warning')
    .description('least severe level kept in the system log table'),
  LOG_RETENTION_DAYS: Joi.number()
    .integer()
    .min(1)
    .default(180)
    .description('log entries older than this are deleted every night'),
});

export function loggingConfig(env: LoggingEnvironment) {
  return { level: env.LOG_LEVEL, systemLevel: env.SYSTEM_LOG_LEVEL, retentionDays: env.LOG_RETENTION_DAYS };
}
