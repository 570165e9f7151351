// MySQL or MariaDB: its address, pool and timeouts.
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { resolve } from 'node:path';
import Joi from 'joi';
import { list, projectRoot, UnusableSettings, words } from './environment.js';

export interface DatabaseEnvironment {
  DATABASE_URL?: string;
  DB_HOST: string;
  DB_PORT: number;
  DB_USER: string;
  DB_PASSWORD: string;
  DB_NAME: string;
  DB_TLS: boolean;
  DB_TLS_CA?: string;
  DB_SESSION: string;
  DB_READ_HOSTS: string;
  DB_READ_WAIT_MS: number;
  DB_POOL_SIZE: number;
  DB_ACQUIRE_TIMEOUT_MS: number;
  DB_LOCK_WAIT_SECONDS: number;
  DB_STATEMENT_SECONDS: number;
  DB_REPORT_SECONDS: number;
  DB_BULK_SECONDS: number;
  DB_STARTUP_WAIT_SECONDS: number;
}

/** One server, as `host` or `host:port`. */
const serverForm = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+)(?::(\d{1,5}))?$/;
/** A session setting, as `name=value`. */
const sessionForm = /^([a-z][a-z0-9_]*)\s*=\s*([A-Za-z0-9_.-]+)$/i;
/** Set for every session already (lib/database/connection.ts). */
const ownSettings = new Set([
  'time_zone',
  'sql_mode',
  'tx_isolation',
  'transaction_isolation',
  'autocommit',
  'wait_timeout',
  'innodb_lock_wait_timeout',
  'lock_wait_timeout',
  'max_statement_time',
  'max_execution_time',
  'idle_transaction_timeout',
  'foreign_key_checks',
  'unique_checks',
  'sql_log_bin',
]);

const isSessionSetting = (word: string): boolean => {
  const [, name] = sessionForm.exec(word) ?? [];
  return name !== undefined && !ownSettings.has(name.toLowerCase());
};

export const databaseSchema = Joi.object<DatabaseEnvironment, true>({
  DATABASE_URL: Joi.string()
    .uri({ scheme: ['mysql', 'mariadb'] })
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
  DB_SESSION: list(
    isSessionSetting,
    '"{#word}", which is not of the form name=value or is a setting of the service itself',
  ).description(
    'session settings of every connection, as in wsrep_sync_wait=1 on Galera with several writers; name=value, separated by commas',
  ),
  DB_READ_HOSTS: list(
    (word) => serverForm.test(word),
    '"{#word}", which is not of the form host or host:port',
  ).description(
    'host[:port] of replicas (MariaDB, GTID), separated by commas; counts, figures, big lists and exports are read there as soon as they have what the primary has',
  ),
  DB_READ_WAIT_MS: Joi.number()
    .integer()
    .min(0)
    .max(2000)
    .default(300)
    .description('longest wait for a replica to have it; then the primary is read'),
  DB_POOL_SIZE: Joi.number()
    .integer()
    .min(2)
    .max(200)
    .default(10)
    .description('connections per process for requests and jobs; a third as many more for long reads'),
  DB_ACQUIRE_TIMEOUT_MS: Joi.number()
    .integer()
    .min(100)
    .default(5000)
    .description('longest wait for a connection that is free'),
  DB_LOCK_WAIT_SECONDS: Joi.number()
    .integer()
    .min(1)
    .default(1)
    .description(
      'longest wait of a statement for a row or table that is locked; transactions then run again',
    ),
  DB_STATEMENT_SECONDS: Joi.number()
    .integer()
    .min(1)
    .max(60)
    .default(2)
    .description('a statement of a request or of a payment job is ended after this long'),
  DB_REPORT_SECONDS: Joi.number()
    .integer()
    .min(1)
    .max(60)
    .default(6)
    .description('a long read of a request, such as a search inside texts, is ended after this long'),
  DB_BULK_SECONDS: Joi.number()
    .integer()
    .min(5)
    .max(60)
    .default(30)
    .description('a statement of an export, an import or the nightly upkeep is ended after this long'),
  DB_STARTUP_WAIT_SECONDS: Joi.number()
    .integer()
    .min(0)
    .default(60)
    .description('how long a starting process waits for the database'),
});

const maxName = 64;

export function databaseConfig(env: DatabaseEnvironment, tenant: string) {
  const url = env.DATABASE_URL ? new URL(env.DATABASE_URL) : undefined;
  const common = url ? decodeURIComponent(url.pathname.slice(1)) || env.DB_NAME : env.DB_NAME;
  const port = url ? Number(url.port || 3306) : env.DB_PORT;
  const replicas = words(env.DB_READ_HOSTS).map((word) => serverOf(word, port));
  const name = tenant ? `${common}_${tenant.replaceAll('-', '_')}` : common;
  if (name.length > maxName) {
    throw new UnusableSettings([`"DB_NAME" with the tenant is over ${maxName} characters`]);
  }
  return {
    host: url ? url.hostname : env.DB_HOST,
    port,
    user: url ? decodeURIComponent(url.username) : env.DB_USER,
    password: url ? decodeURIComponent(url.password) : env.DB_PASSWORD,
    name,
    tls: env.DB_TLS
      ? tlsOptions([url?.hostname ?? env.DB_HOST, ...replicas.map(({ host }) => host)], env.DB_TLS_CA)
      : undefined,
    /** Besides the settings every session has. */
    session: words(env.DB_SESSION).map((word) => word.replace(/\s*=\s*/, ' = ')),
    replicas,
    readWaitMs: env.DB_READ_WAIT_MS,
    poolSize: env.DB_POOL_SIZE,
    acquireTimeoutMs: env.DB_ACQUIRE_TIMEOUT_MS,
    lockWaitSeconds: env.DB_LOCK_WAIT_SECONDS,
    statementSeconds: env.DB_STATEMENT_SECONDS,
    reportSeconds: env.DB_REPORT_SECONDS,
    bulkSeconds: env.DB_BULK_SECONDS,
    startupWaitMs: env.DB_STARTUP_WAIT_SECONDS * 1000,
  };
}

function serverOf(word: string, port: number): { host: string; port: number } {
  const [, host = '', own] = serverForm.exec(word) ?? [];
  return { host: host.replace(/^\[|\]$/g, ''), port: own === undefined ? port : Number(own) };
}

function tlsOptions(hosts: readonly string[], file?: string) {
  // The driver would verify the certificate of an address against "localhost".
  if (hosts.some((host) => isIP(host.replace(/^\[|\]$/g, '')) !== 0))
    throw new UnusableSettings(['"DB_TLS" needs host names, not addresses']);
  const common = { minVersion: 'TLSv1.2', rejectUnauthorized: true, verifyIdentity: true };
  if (file === undefined) return common;
  try {
    return { ...common, ca: readFileSync(resolve(projectRoot, file), 'utf8') };
  } catch {
    throw new UnusableSettings(['"DB_TLS_CA" cannot be read']);
  }
}
