// MySQL or MariaDB: its address, pool and timeouts.
import { isIP } from 'node:net';
import Joi from 'joi';
import { authority, constant, UnusableSettings, urlOf } from './environment.js';

export interface DatabaseEnvironment {
  DATABASE_URL?: string;
  DB_HOST: string;
  DB_PORT: number;
  DB_USER: string;
  DB_PASSWORD: string;
  DB_NAME: string;
  DB_TLS: boolean;
  DB_TLS_CA?: string;
  DB_POOL_SIZE: number;
}

export const databaseSettings: Joi.StrictSchemaMap<DatabaseEnvironment> = {
  DATABASE_URL: urlOf('mysql', 'mariadb')
    .messages({
      'string.uriCustomScheme': '{#label} must be of the form mysql://user:password@host:port/name',
    })
    .description('mysql://user:password@host:port/name; wins over the DB_ settings'),
  DB_HOST: Joi.string().default('127.0.0.1').description('database host'),
  DB_PORT: Joi.number().port().default(3306).description('database port'),
  DB_USER: Joi.string().default('root').description('database user'),
  DB_PASSWORD: Joi.string().allow('').default('').description('database password'),
  DB_NAME: Joi.string()
    .pattern(/^[A-Za-z0-9_]{1,48}$/)
    .default('back_office')
    .description('database name; created when missing and the user may create it'),
  DB_TLS: Joi.boolean()
    .default(false)
    .description('connects over TLS only, to a server whose certificate is good for its host name'),
  DB_TLS_CA: Joi.string().description(
    'file (PEM) with the authority of that certificate; relative to the project, absolute in production; those of Node.js when empty',
  ),
  DB_POOL_SIZE: Joi.number()
    .integer()
    .min(2)
    .max(200)
    .default(10)
    .description(
      'connections per process for requests and jobs; a third as many more, at least 4, for long work',
    ),
};

const maxName = 64;

export function databaseConfig(env: DatabaseEnvironment, tenant: string) {
  const url = env.DATABASE_URL ? new URL(env.DATABASE_URL) : undefined;
  const common = url ? decodeURIComponent(url.pathname.slice(1)) || env.DB_NAME : env.DB_NAME;
  const port = url ? Number(url.port || 3306) : env.DB_PORT;
  const name = tenant ? `${common}_${tenant.replaceAll('-', '_')}` : common;
  if (name.length > maxName) {
    throw new UnusableSettings([`"DB_NAME" with the tenant is over ${maxName} characters`]);
  }
  // A parameter as ?ssl-mode=REQUIRED would have no effect.
  if (name.includes('/') || url?.search) {
    throw new UnusableSettings(['"DATABASE_URL" must end with the name of a database; TLS is "DB_TLS"']);
  }
  return {
    host: (url?.hostname ?? env.DB_HOST).replace(/^\[|\]$/g, ''),
    port,
    user: url ? decodeURIComponent(url.username) : env.DB_USER,
    password: url ? decodeURIComponent(url.password) : env.DB_PASSWORD,
    name,
    tls: env.DB_TLS ? tlsOptions(url?.hostname ?? env.DB_HOST, env.DB_TLS_CA) : undefined,
    poolSize: env.DB_POOL_SIZE,
    acquireTimeoutMs: constant('DB_ACQUIRE_TIMEOUT_MS', 5000),
    lockWaitSeconds: constant('DB_LOCK_WAIT_SECONDS', 1),
    statementSeconds: constant('DB_STATEMENT_SECONDS', 2),
    reportSeconds: 6,
    bulkSeconds: constant('DB_BULK_SECONDS', 30),
    startupWaitMs: constant('DB_STARTUP_WAIT_SECONDS', 60) * 1000,
  };
}

function tlsOptions(host: string, file?: string) {
  // The driver would verify the certificate of an address against "localhost".
  if (isIP(host.replace(/^\[|\]$/g, '')) !== 0)
    throw new UnusableSettings(['"DB_TLS" needs host names, not addresses']);
  const common = { minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true };
  return { ...common, ...authority('DB_TLS_CA', file) };
}
