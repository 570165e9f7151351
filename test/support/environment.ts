// The first import of a test file: gives it a database, a Redis prefix and secrets of its own before the configuration is read.
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const name = `test_${randomBytes(6).toString('hex')}`;

/** Settings of this test file; child processes get the same ones. */
export const environment = {
  NODE_ENV: 'test',
  LOG_LEVEL: process.env.LOG_LEVEL ?? 'error',
  BCRYPT_COST: '4',
  HASH_QUEUE: '500',
  HASH_QUEUE_PER_ADDRESS: '500',
  LIMITS_ENABLED: 'false',
  DB_NAME: name,
  STORAGE_ROOT: join(process.env.STORAGE_ROOT || tmpdir(), name),
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
  // What a callback comes to is asserted here; how soon, in faults/ and bench/.
  ...(!process.env.TEST_SUITE && { CALLBACK_WAIT_MS: '5000', CALLBACK_DEADLINE_MS: '7000' }),
};

Object.assign(process.env, environment);
