// What tests and benchmarks need before they run: the build, MariaDB and Redis, and the settings that lead to them.
// Run directly, it prepares for the process that started it, and cleans up when that ends, however it ends.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { install } from './apt.mjs';
import { compileOnChange, ensureBuild } from './build.mjs';
import { writeDocument } from './console.mjs';
import { checkNodeVersion, ensureDependencies } from './dependencies.mjs';
import { command, end, isMain } from './lifetime.mjs';
import { createLocalHome } from './local-home.mjs';
import { askForServers, loadSettings, provide } from './services.mjs';
import { refuseProduction } from './settings.mjs';
import { offerService } from './shared-service.mjs';
import { Failure, root, step } from './step.mjs';

const WATCH = '--watch';

/**
 * Installs, compiles and provides throw-away servers.
 *
 * @param {{ durable: boolean }} options durable: their files are on the real disk, and every commit reaches it
 * @returns the environment variables that lead to them, and `home`, their directory
 */
export async function prepare({ durable }) {
  await prepareMachine();
  const [env] = await Promise.all([provide({ persistent: false, durable }), build()]);
  return { env, home: env.THROW_AWAY_HOME ?? '' };
}

async function build() {
  await step(ensureBuild);
  await writeDocument(); // tests hold answers against it
}

/** Installs what is missing on a bare machine: packages of npm, and servers unless they are configured. */
export async function prepareMachine() {
  process.chdir(root);
  checkNodeVersion();
  loadSettings();
  refuseProduction();
  createLocalHome();
  const servers = await askForServers();
  await Promise.all([install(servers), step(ensureDependencies)]);
}

/**
 * The environment of test files, for ava.config.js. A second process prepares it and ends the servers, unless the run
 * is prepared already. With --watch that process also compiles what changes.
 *
 * @returns {Promise<Record<string, string>>}
 */
export async function testSettings() {
  if (process.env.THROW_AWAY_HOME) return offerService(process.env);
  const isWatching = process.argv.some((argument) => argument === WATCH || argument === '-w');
  const self = fileURLToPath(import.meta.url);
  const keeper = spawn(process.execPath, [self, ...(isWatching ? [WATCH] : [])], {
    detached: true, // Ctrl-C reaches only AVA
    stdio: ['ignore', 2, 2, 'ipc'], // standard output may be TAP
  });
  const prepared = once(keeper, 'message').then(([settings]) => settings);
  const settings = await Promise.race([prepared, once(keeper, 'exit').then(() => undefined)]);
  if (!settings) throw new Failure('the tests cannot be prepared');
  keeper.unref();
  keeper.channel?.unref();
  return settings;
}

/**
 * Throw-away servers and the environment of AVA. Temporary files and uploads of the tests are in the throw-away
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

async function keep() {
  process.on('disconnect', () => void end(0));
  const { env, home } = await prepareTests();
  if (process.argv.includes(WATCH)) compileOnChange(home, 2);
  process.send?.({ ...env, ...offerService(env) });
}

if (isMain(import.meta)) command(keep, { endsBySignal: true });
