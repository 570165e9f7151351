// The service: its address, names and modules.
import Joi from 'joi';
import { constant, list, urlOf, words } from './environment.js';

export interface AppEnvironment {
  NODE_ENV: 'development' | 'test' | 'production';
  HOST?: string;
  PORT: number;
  APP_URL?: string;
  CORS_ORIGINS: string;
  TRUSTED_PROXIES: string;
  APP_RESPONSE_TIME_FIELDS: string;
  MODULE_ORDERS_ENABLED: boolean;
  TENANT_CODE: string;
  DOCS_ENABLED?: boolean;
  CONSOLE_ENABLED: boolean;
  API_INSTANCES?: number;
  TENANTS: string;
}

export const appSettings: Joi.StrictSchemaMap<AppEnvironment> = {
  NODE_ENV: Joi.string()
    .valid('development', 'test', 'production')
    .default('development')
    .description('development, test or production, which refuses weak settings; in a release production'),
  HOST: Joi.string().description('address to listen on; 127.0.0.1, in production 0.0.0.0'),
  PORT: Joi.number().port().default(3000).description('port to listen on; 0 takes a free one'),
  APP_URL: urlOf('http', 'https')
    .pattern(/[?#]/, { invert: true })
    .message('{#label} must have neither ? nor #')
    .description('public address of the service, base of every URL it gives away; http://localhost:PORT'),
  CORS_ORIGINS: list(isOrigin).description(
    'origins, comma separated, whose pages may call the API and open sockets',
  ),
  TRUSTED_PROXIES: list(isAddressOrBlock).description(
    'addresses or CIDR blocks of reverse proxies whose X-Forwarded-For is believed',
  ),
  APP_RESPONSE_TIME_FIELDS: list().description('more response fields to convert to the request time zone'),
  MODULE_ORDERS_ENABLED: Joi.boolean().default(true).description('offers the order endpoints and menu'),
  TENANT_CODE: Joi.string()
    .pattern(/^[a-z0-9][a-z0-9-]{0,31}$/)
    .allow('')
    .default('')
    .description(
      'tenant this deployment serves; its database, Redis keys, files and notify URL carry it, and .env.<tenant> is read first',
    ),
  DOCS_ENABLED: Joi.boolean().description(
    'serves /docs and /openapi.json; true outside production, false in production',
  ),
  CONSOLE_ENABLED: Joi.boolean()
    .default(true)
    .description('serves the web console at /console/, and leads / there'),
  // ecosystem.config.js reads these two.
  API_INSTANCES: Joi.number().integer().min(1).description('APIs that PM2 runs; half the cores when empty'),
  TENANTS: list().description('tenants that PM2 runs processes for, such as acme,globex:3105'),
};

export function appConfig(env: AppEnvironment) {
  const production = env.NODE_ENV === 'production';
  return {
    production,
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: env.PORT,
    url: (env.APP_URL ?? `http://localhost:${env.PORT}`).replace(/\/+$/, ''),
    corsOrigins: words(env.CORS_ORIGINS),
    trustedProxies: words(env.TRUSTED_PROXIES),
    trustedProxyHops: constant('TRUSTED_PROXY_HOPS', 5),
    responseTimeFields: words(env.APP_RESPONSE_TIME_FIELDS),
    ordersEnabled: env.MODULE_ORDERS_ENABLED,
    tenant: env.TENANT_CODE,
    jsonMaxBytes: 1024 * 1024,
    connectionsMax: constant('CONNECTIONS_MAX', 5000),
    streamsPerAdmin: 20,
    docsEnabled: env.DOCS_ENABLED ?? !production,
    consoleEnabled: env.CONSOLE_ENABLED,
    shutdownMs: constant('SHUTDOWN_SECONDS', 9) * 1000,
  };
}

function isOrigin(word: string): boolean {
  return URL.canParse(word) && new URL(word).origin === word;
}

function isAddressOrBlock(word: string): boolean {
  return !Joi.string()
    .ip({ version: ['ipv4', 'ipv6'], cidr: 'optional' })
    .validate(word).error;
}
