// Monitoring: the port of metrics and health checks, thresholds, traces.
import Joi from 'joi';

export interface MonitoringEnvironment {
  METRICS_PORT?: number;
  METRICS_HOST: string;
  METRICS_TOKEN?: string;
  NODE_APP_INSTANCE: number;
  SLOW_STATEMENT_MS: number;
}

const shortestToken = 16;

export const monitoringSchema = Joi.object<MonitoringEnvironment, true>({
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
    .when('METRICS_HOST', { not: Joi.valid('127.0.0.1', '::1', 'localhost'), then: Joi.required() })
    .description('bearer token that /metrics asks for; at least 16 characters'),
  NODE_APP_INSTANCE: Joi.number()
    .integer()
    .min(0)
    .default(0)
    .description('number of this instance, set by PM2; added to METRICS_PORT'),
  SLOW_STATEMENT_MS: Joi.number()
    .integer()
    .min(0)
    .default(1000)
    .description('a statement that takes longer is logged, without its values; 0: none is'),
});

export function monitoringConfig(env: MonitoringEnvironment) {
  const { METRICS_PORT: port } = env;
  return {
    /** Undefined: no port is opened. */
    metricsPort: port === undefined || port === 0 ? port : port + env.NODE_APP_INSTANCE,
    metricsHost: env.METRICS_HOST,
    metricsToken: env.METRICS_TOKEN,
    /** 0: none is slow. */
    slowStatementMs: env.SLOW_STATEMENT_MS,
  };
}
