// What tests and benchmarks need before they run: the build, MariaDB and Redis, and the settings that lead to them.
import { mkdirSync } from 'node:fs';
import path from 'node:path';

import { ensureBuild } from './build.mjs';
import { checkNodeVersion, ensureDependencies } from './dependencies.mjs';
import { createLocalHome } from './local-home.mjs';
import { quickStart } from './node-flags.mjs';
import { ensureServers, loadSettings, provide } from './services.mjs';
import { refuseProduction } from './settings.mjs';
import { root, step } from './step.mjs';

/**
 * Installs, compiles and provides throw-away servers.
 *
 * @param {{ durable: boolean }} options durable: their files lie on the real disk, and every commit reaches it
 * @returns the environment variables that lead to them, and `home`, their directory
 */
export async function prepare({ durable }) {
  process.chdir(root);
  checkNodeVersion();
  loadSettings();
  refuseProduction();
  createLocalHome();
  await ensureServers();
  await step(ensureDependencies);
  await step(ensureBuild);
  const servers = await provide({ persistent: false, durable });
  // No variable without flags: Node would take an empty flag for a script.
  const env = quickStart.length > 0 ? { ...servers, QUICK_START: quickStart.join(' ') } : servers;
  return { env, home: env.THROW_AWAY_HOME ?? '' };
}

/**
 * Throw-away servers and the environment of AVA. Temporary files and uploads of the tests lie in the throw-away
 * directory and vanish with it.
 */
export async function prepareTests() {
  const { env, home } = await prepare({ durable: false });
  const temporary = path.join(home, 'tmp');
  mkdirSync(temporary);
  const defaults = { BCRYPT_COST: '4', LOG_LEVEL: 'error', STORAGE_ROOT: path.join(home, 'storage') };
  const settings = { ...defaults, ...process.env, ...databaseParts(), ...env };
  return { home, env: { ...settings, NODE_ENV: 'test', TMPDIR: temporary } };
}

/** test/access/login.test.ts → build/test/access/login.test.js; what is no test file stays as it is. @param {string} argument */
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
