// Redis: queues, caches, counters, one-time values. Nothing in it is the truth.
import Joi from 'joi';

export interface RedisEnvironment {
  REDIS_URL: string;
  REDIS_PREFIX: string;
  REDIS_TIMEOUT_MS: number;
}

export const redisSchema = Joi.object<RedisEnvironment, true>({
  REDIS_URL: Joi.string()
    .uri({ scheme: ['redis', 'rediss'] })
    .messages({
      'string.uriCustomScheme':
        '{#label} must begin with redis:// or rediss://, as in redis://127.0.0.1:6379',
    })
    .default('redis://127.0.0.1:6379')
    .description('redis://[user:password@]host:port[/db]'),
  REDIS_PREFIX: Joi.string()
    .pattern(/^[A-Za-z0-9_-]{1,48}$/)
    .default('back-office')
    .description('first part of every key, kept in one hash slot of a cluster'),
  REDIS_TIMEOUT_MS: Joi.number()
    .integer()
    .min(20)
    .default(200)
    .description('a command that takes longer counts as failed'),
});

export function redisConfig(env: RedisEnvironment, tenant: string) {
  return {
    url: env.REDIS_URL,
    prefix: tenant ? `${env.REDIS_PREFIX}-${tenant}` : env.REDIS_PREFIX,
    timeoutMs: env.REDIS_TIMEOUT_MS,
  };
}
