// The settings of a service under test.
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * @param name of its database; its Redis prefix and its storage are named after it
 * @param env of the run
 */
export const settingsOf = (name: string, env = process.env) => ({
  NODE_ENV: 'test',
  LOG_LEVEL: env.LOG_LEVEL ?? 'error',
  BCRYPT_COST: '4',
  HASH_QUEUE: '500',
  HASH_QUEUE_PER_ADDRESS: '500',
  LIMITS_ENABLED: 'false',
  DB_NAME: name,
  STORAGE_ROOT: join(env.STORAGE_ROOT || tmpdir(), name),
  REDIS_PREFIX: name.replace('_', '-'),
  JWT_SECRET: 'test-jwt-secret-that-is-long-enough-for-all',
  APP_KEY: 'test-app-key-that-is-long-enough-for-everything',
  APP_URL: 'https://back-office.test',
  PORT: '0',
  HOST: '127.0.0.1',
  MODULE_PAYMENTS_ENABLED: 'true',
  SWEEP_SECONDS: '2',
  SWEEP_AGE_SECONDS: '1',
  SHUTDOWN_SECONDS: '5',
  JOB_LOCK_SECONDS: '4',
  // The main suite asserts results; faults/ and bench/ assert times. A statement whose lock wait times out
  // runs again behind the others.
  ...(!env.TEST_SUITE && {
    CALLBACK_WAIT_MS: '10000',
    CALLBACK_DEADLINE_MS: '30000',
    DB_ACQUIRE_TIMEOUT_MS: '30000',
    DB_LOCK_WAIT_SECONDS: '15',
    DB_STATEMENT_SECONDS: '20',
    REDIS_TIMEOUT_MS: '5000',
  }),
});
