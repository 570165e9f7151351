// What the processes report: log lines, metrics, spans.
import Joi from 'joi';
import { constant, urlOf } from './environment.js';

export interface WatchingEnvironment {
  LOG_LEVEL: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'silent';
  METRICS_PORT?: number;
  METRICS_HOST: string;
  METRICS_TOKEN?: string;
  NODE_APP_INSTANCE: number;
  OTEL_EXPORTER_OTLP_ENDPOINT?: string;
}

const shortestToken = 16;

export const watchingSettings: Joi.StrictSchemaMap<WatchingEnvironment> = {
  LOG_LEVEL: Joi.string()
    .valid('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent')
    .default('info')
    .description('least severe level written to standard output'),
  METRICS_PORT: Joi.number()
    .port()
    .description(
      'port of this process for /metrics, /healthz and /readyz, beside PORT; 0 takes a free one; none when empty',
    ),
  METRICS_HOST: Joi.string()
    .default('127.0.0.1')
    .description('address that port listens on; METRICS_TOKEN is needed where others can reach it'),
  METRICS_TOKEN: Joi.string()
    .min(shortestToken)
    .when('METRICS_HOST', {
      not: Joi.valid('127.0.0.1', '::1', 'localhost'),
      then: Joi.required().messages({
        'any.required': '{#label} must be set where METRICS_HOST lets others reach that port',
      }),
    })
    .description('bearer token that /metrics asks for; at least 16 characters'),
  NODE_APP_INSTANCE: Joi.number()
    .integer()
    .min(0)
    .default(0)
    .description('number of this instance, set by PM2; added to METRICS_PORT'),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf('http', 'https').description(
    'OTLP/HTTP collector of spans, such as http://127.0.0.1:4318; no spans when empty; OpenTelemetry reads its other variables itself',
  ),
};

export function watchingConfig(env: WatchingEnvironment) {
  const { METRICS_PORT: port } = env;
  return {
    logLevel: env.LOG_LEVEL,
    /** Undefined: no port is opened. */
    metricsPort: port === undefined || port === 0 ? port : port + env.NODE_APP_INSTANCE,
    metricsHost: env.METRICS_HOST,
    metricsToken: env.METRICS_TOKEN,
    /** A statement that takes longer is logged, without its values. */
    slowStatementMs: constant('SLOW_STATEMENT_MS', 1000),
    tracing: env.OTEL_EXPORTER_OTLP_ENDPOINT !== undefined,
  };
}
