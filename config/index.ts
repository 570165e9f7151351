// The configuration of this process, validated once and frozen. The only reader of the environment.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import Joi from 'joi';
import { appConfig, appSettings, type AppEnvironment } from './app.js';
import { authConfig, authSettings, type AuthEnvironment } from './auth.js';
import { databaseConfig, databaseSettings, type DatabaseEnvironment } from './database.js';
import { projectRoot, readEnvironment, UnusableSettings } from './environment.js';
import { misspellings, retired } from './ignored-names.js';
import { limitsConfig, limitsSettings, type LimitsEnvironment } from './limits.js';
import { localSecret } from './local-secret.js';
import { paymentsConfig, paymentsSettings, type PaymentsEnvironment } from './payments.js';
import { unfitForProduction } from './production.js';
import { refuseSettings } from './refusal.js';
import { retentionConfig, retentionSettings, type RetentionEnvironment } from './retention.js';
import { redisConfig, redisSettings, type RedisEnvironment } from './redis.js';
import { storageConfig, storageSettings, type StorageEnvironment } from './storage.js';
import { watchingConfig, watchingSettings, type WatchingEnvironment } from './watching.js';
import { workerConfig } from './worker.js';

type Environment = AppEnvironment &
  DatabaseEnvironment &
  RedisEnvironment &
  AuthEnvironment &
  LimitsEnvironment &
  PaymentsEnvironment &
  StorageEnvironment &
  RetentionEnvironment &
  WatchingEnvironment;

/** Every setting by concern, in the order of `.env.example`. */
export const concerns: { title: string; settings: Record<string, Joi.Schema> }[] = [
  { title: 'Service and its address', settings: appSettings },
  { title: 'Database', settings: databaseSettings },
  { title: 'Redis', settings: redisSettings },
  { title: 'Files', settings: storageSettings },
  { title: 'Payments', settings: paymentsSettings },
  { title: 'Sign-in', settings: authSettings },
  { title: 'Limits', settings: limitsSettings },
  { title: 'Retention', settings: retentionSettings },
  { title: 'Watching', settings: watchingSettings },
];

export const config = freeze(await loadOrEnd());

// Importers cannot handle an invalid configuration, so the process ends here.
async function loadOrEnd() {
  try {
    return loadConfig();
  } catch (error) {
    if (error instanceof UnusableSettings) return await refuseSettings(error);
    throw error;
  }
}

/** @throws UnusableSettings with every problem */
export function loadConfig() {
  const settings = Object.assign({}, ...concerns.map((concern) => concern.settings)) as Joi.SchemaMap;
  const env = readEnvironment<Environment>(Joi.object(settings), unfitForProduction);
  const app = appConfig(env);
  const given = Object.keys(process.env).filter((name) => process.env[name] !== '');
  return {
    ...thisRelease(),
    root: projectRoot,
    /** Environment names that look like misspelt settings. */
    misspellings: misspellings(
      given.filter((name) => !retired.includes(name)),
      Object.keys(settings),
    ),
    /** Settings that had an effect in earlier releases. */
    retired: env.NODE_ENV === 'test' ? [] : given.filter((name) => retired.includes(name)),
    app,
    database: databaseConfig(env, app.tenant),
    redis: redisConfig(env, app.tenant),
    limits: limitsConfig(env),
    auth: authConfig(env, app.production, localSecret),
    payments: paymentsConfig(env, app.production),
    storage: storageConfig(env, app.tenant),
    retention: retentionConfig(env),
    watching: watchingConfig(env),
    worker: workerConfig(),
  };
}

/** The version of package.json and the commit of a release (deploy/release.mjs), else ''. */
function thisRelease(): { version: string; commit: string } {
  const read = (name: string) => JSON.parse(readFileSync(resolve(projectRoot, name), 'utf8')) as unknown;
  const { version } = read('package.json') as { version: string };
  const isRelease = existsSync(resolve(projectRoot, 'release.json'));
  const { commit = '' } = isRelease ? (read('release.json') as { commit?: string }) : {};
  return { version, commit };
}

function freeze<T extends object>(value: T): Readonly<T> {
  for (const part of Object.values(value))
    if (typeof part === 'object' && part !== null) freeze(part as object);
  return Object.freeze(value);
}
