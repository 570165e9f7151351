// The service: its address, names and modules.
import Joi from 'joi';
import { list, words } from './environment.js';

export interface AppEnvironment {
  NODE_ENV: 'development' | 'test' | 'production';
  HOST?: string;
  PORT: number;
  APP_URL?: string;
  CORS_ORIGINS: string;
  TRUSTED_PROXIES: string;
  TRUSTED_PROXY_HOPS: number;
  APP_RESPONSE_TIME_FIELDS: string;
  MODULE_ORDERS_ENABLED: boolean;
  TENANT_CODE: string;
  JSON_MAX_KB: number;
  CONNECTIONS_MAX: number;
  CONNECTIONS_PER_ADDRESS: number;
  STREAMS_PER_ADMIN: number;
  DOCS_ENABLED?: boolean;
  CONSOLE_ENABLED: boolean;
  REQUEST_TIMEOUT_SECONDS: number;
  SHUTDOWN_SECONDS: number;
  STRICT_STARTUP: boolean;
}

export const appSchema = Joi.object<AppEnvironment, true>({
  NODE_ENV: Joi.string()
    .valid('development', 'test', 'production')
    .default('development')
    .description('development, test or production; production refuses weak settings'),
  HOST: Joi.string().description('address to listen on; 127.0.0.1, in production 0.0.0.0'),
  PORT: Joi.number().port().default(3000).description('port to listen on; 0 takes a free one'),
  APP_URL: Joi.string()
    .uri({ scheme: ['http', 'https'] })
    .description('public address of the service, base of every URL it gives away; http://localhost:PORT'),
  CORS_ORIGINS: list(isOrigin).description(
    'origins, comma separated, whose pages may call the API and open sockets',
  ),
  TRUSTED_PROXIES: list(isAddressOrBlock).description(
    'addresses or CIDR blocks of reverse proxies whose X-Forwarded-For is believed',
  ),
  TRUSTED_PROXY_HOPS: Joi.number()
    .integer()
    .min(1)
    .max(10)
    .default(5)
    .description('how many proxies in a row are believed at most'),
  APP_RESPONSE_TIME_FIELDS: list().description('more response fields to convert to the request time zone'),
  MODULE_ORDERS_ENABLED: Joi.boolean().default(true).description('offers the order endpoints and menu'),
  TENANT_CODE: Joi.string()
    .pattern(/^[a-z0-9][a-z0-9-]{0,31}$/)
    .allow('')
    .default('')
    .description(
      'tenant this deployment serves; its database, Redis keys, files and notify address carry it, and .env.<tenant> is read first',
    ),
  JSON_MAX_KB: Joi.number()
    .integer()
    .min(16)
    .default(1024)
    .description('largest JSON or form body in KiB; most routes take less by themselves'),
  CONNECTIONS_MAX: Joi.number()
    .integer()
    .min(10)
    .default(5000)
    .description('connections that one API process keeps open'),
  CONNECTIONS_PER_ADDRESS: Joi.number()
    .integer()
    .min(1)
    .default(500)
    .description('of these, for one address (IPv6: one /64); WebSockets and trusted proxies do not count'),
  STREAMS_PER_ADMIN: Joi.number()
    .integer()
    .min(1)
    .default(20)
    .description('event streams that one administrator may have open at one process'),
  DOCS_ENABLED: Joi.boolean().description(
    'serves /docs and /openapi.json; true outside production, false in production',
  ),
  CONSOLE_ENABLED: Joi.boolean()
    .default(true)
    .description('serves the web console at /console/, and leads / there'),
  REQUEST_TIMEOUT_SECONDS: Joi.number()
    .integer()
    .min(1)
    .default(30)
    .description('a request must have arrived within this time'),
  SHUTDOWN_SECONDS: Joi.number()
    .integer()
    .min(1)
    .max(60)
    .default(9)
    .description('running requests and jobs get this long after SIGTERM'),
  STRICT_STARTUP: Joi.boolean()
    .default(false)
    .description('refuse to start on settings that only deserve a warning'),
});

export function appConfig(env: AppEnvironment) {
  const production = env.NODE_ENV === 'production';
  return {
    production,
    strict: env.STRICT_STARTUP,
    host: env.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: env.PORT,
    url: (env.APP_URL ?? `http://localhost:${env.PORT}`).replace(/\/+$/, ''),
    corsOrigins: words(env.CORS_ORIGINS),
    trustedProxies: words(env.TRUSTED_PROXIES),
    trustedProxyHops: env.TRUSTED_PROXY_HOPS,
    responseTimeFields: words(env.APP_RESPONSE_TIME_FIELDS),
    ordersEnabled: env.MODULE_ORDERS_ENABLED,
    tenant: env.TENANT_CODE,
    jsonMaxBytes: env.JSON_MAX_KB * 1024,
    connectionsMax: env.CONNECTIONS_MAX,
    connectionsPerAddress: env.CONNECTIONS_PER_ADDRESS,
    streamsPerAdmin: env.STREAMS_PER_ADMIN,
    docsEnabled: env.DOCS_ENABLED ?? !production,
    consoleEnabled: env.CONSOLE_ENABLED,
    requestTimeoutMs: env.REQUEST_TIMEOUT_SECONDS * 1000,
    shutdownMs: env.SHUTDOWN_SECONDS * 1000,
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
