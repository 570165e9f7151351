// Redis: queues, caches, counters, one-time values; never the only copy of a fact.
import Joi from 'joi';
import { authority, constant, list, UnusableSettings, urlOf, words } from './environment.js';

export interface RedisEnvironment {
  REDIS_URL: string;
  REDIS_TLS_CA?: string;
  REDIS_SENTINELS: string;
  REDIS_SENTINEL_NAME: string;
  REDIS_SENTINEL_USERNAME?: string;
  REDIS_SENTINEL_PASSWORD?: string;
  REDIS_PREFIX: string;
}

/** Address of a Redis server. */
interface RedisNode {
  host: string;
  port: number;
}

export const redisSettings: Joi.StrictSchemaMap<RedisEnvironment> = {
  REDIS_URL: urlOf('redis', 'rediss')
    .messages({
      'string.uriCustomScheme':
        '{#label} must begin with redis:// or rediss://, as in redis://127.0.0.1:6379',
    })
    .default('redis://127.0.0.1:6379')
    .description(
      'redis://[user:password@]host:port[/db], rediss:// over TLS; with Sentinel all but host and port counts',
    ),
  REDIS_TLS_CA: Joi.string().description(
    'file (PEM) with the authority of the certificates of rediss://; relative to the project, absolute in production; those of Node.js when empty',
  ),
  REDIS_SENTINELS: list(
    (word) => nodeOf(word) !== undefined,
    // What stands there may be a URL with a password.
    'an address that is not of the form host:port',
  ).description('host:port of each Sentinel, separated by commas; they say which server is the master'),
  REDIS_SENTINEL_NAME: Joi.string()
    .default('mymaster')
    .description('name under which the Sentinels watch that master'),
  REDIS_SENTINEL_USERNAME: Joi.string().description('user at the Sentinels themselves'),
  REDIS_SENTINEL_PASSWORD: Joi.string().description('password at the Sentinels themselves'),
  REDIS_PREFIX: Joi.string()
    .pattern(/^[A-Za-z0-9_-]{1,48}$/)
    .default('back-office')
    .description('first part of every key'),
};

export function redisConfig(env: RedisEnvironment, tenant: string) {
  const url = new URL(env.REDIS_URL);
  const sentinels = nodesOf(env.REDIS_SENTINELS);
  const db = url.pathname.slice(1) || '0';
  const problems = [
    ...(/^\d{1,4}$/.test(db) && !url.search
      ? []
      : ['"REDIS_URL" must end with the number of a database, as in /0']),
    ...(env.REDIS_TLS_CA && url.protocol !== 'rediss:'
      ? ['"REDIS_TLS_CA" needs "REDIS_URL" to begin with rediss://']
      : []),
  ];
  if (problems.length > 0) throw new UnusableSettings(problems);
  return {
    /** The single server, without Sentinels. */
    server: { host: url.hostname.replace(/^\[|\]$/g, ''), port: Number(url.port || 6379) },
    sentinels,
    sentinel: {
      name: env.REDIS_SENTINEL_NAME,
      username: env.REDIS_SENTINEL_USERNAME,
      password: env.REDIS_SENTINEL_PASSWORD,
    },
    username: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    db: Number(db),
    tls:
      url.protocol === 'rediss:'
        ? { minVersion: 'TLSv1.2' as const, ...authority('REDIS_TLS_CA', env.REDIS_TLS_CA) }
        : undefined,
    prefix: tenant ? `${env.REDIS_PREFIX}-${tenant}` : env.REDIS_PREFIX,
    timeoutMs: constant('REDIS_TIMEOUT_MS', process.env.IS_COMMAND ? 5000 : 200),
  };
}

function nodesOf(text: string): RedisNode[] | undefined {
  const found = words(text).flatMap((word) => nodeOf(word) ?? []);
  return found.length > 0 ? found : undefined;
}

function nodeOf(word: string): RedisNode | undefined {
  const [, host = '', port = ''] = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.-]+):(\d{1,5})$/.exec(word) ?? [];
  const number = Number(port);
  return host && number >= 1 && number <= 65_535
    ? { host: host.replace(/^\[|\]$/g, ''), port: number }
    : undefined;
}
