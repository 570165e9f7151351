// What the processes write to standard output.
import Joi from 'joi';

export interface LoggingEnvironment {
  LOG_LEVEL: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
}

export const loggingSchema = Joi.object<LoggingEnvironment, true>({
  LOG_LEVEL: Joi.string()
    .valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
    .default('info')
    .description('least severe level written to standard output'),
});

export function loggingConfig(env: LoggingEnvironment) {
  return { level: env.LOG_LEVEL };
}
