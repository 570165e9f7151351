// What tests and benchmarks need before they run: the build, MariaDB and Redis, and the settings that lead to them.
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { ensureBuild } from './build.mjs';
import { checkNodeVersion, ensureDependencies } from './dependencies.mjs';
import { loadSettings, provide, requireServices } from './services.mjs';
import { root, step } from './step.mjs';

/** How such a command ends that a signal has stopped. */
export const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

/**
 * Installs, compiles and provides throw-away servers; answers the environment variables that lead to them.
 *
 * @param durable their files lie on the real disk, and every commit reaches it
 */
export async function prepare({ durable }) {
  process.chdir(root);
  checkNodeVersion();
  loadSettings();
  requireServices();
  await step(ensureDependencies);
  await step(ensureBuild);
  return provide({ persistent: false, durable });
}

/** The environment of AVA. Temporary files and uploads of the tests lie in the throw-away directory and vanish with it. */
export function testEnvironment(services) {
  const home = services.THROW_AWAY_HOME;
  const temporary = path.join(home, 'tmp');
  mkdirSync(temporary);
  const defaults = { BCRYPT_COST: '4', LOG_LEVEL: 'silent', STORAGE_ROOT: path.join(home, 'storage') };
  const settings = { ...defaults, ...process.env, ...databaseParts(), ...services };
  return { ...settings, NODE_ENV: 'test', TMPDIR: temporary };
}

/** test/access/login.test.ts → build/test/access/login.test.js; what is no test file stays as it is. */
export function compiledName(argument) {
  const relative = path.relative(root, path.resolve(argument));
  const isTest = !argument.startsWith('-') && (relative === 'test' || relative.startsWith('test/'));
  return isTest ? path.join('build', relative).replace(/\.ts(?=$|:)/, '.js') : argument;
}

// DATABASE_URL would win over the database names that the tests choose, so it is taken apart.
function databaseParts() {
  if (!process.env.DATABASE_URL) return {};
  const { hostname, port, username, password } = new URL(process.env.DATABASE_URL);
  return {
    DATABASE_URL: '',
    DB_HOST: hostname,
    DB_PORT: port || '3306',
    DB_USER: decodeURIComponent(username),
    DB_PASSWORD: decodeURIComponent(password),
  };
}
