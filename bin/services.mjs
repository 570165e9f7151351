// MariaDB and Redis for a command: the configured ones, else private instances. Run directly, it starts
// throw-away instances, prints their settings as NAME=value lines and keeps them until it is stopped.
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';

import { canInstall, install, repairPolicy } from './apt.mjs';
import { findLeftover, stopDaemon } from './daemon.mjs';
import { hasDatabase, startDatabase } from './database.mjs';
import { command } from './lifetime.mjs';
import { createLocalHome, keptPasswords, newPasswords } from './local-home.mjs';
import { hasRedis, startRedis } from './redis.mjs';
import { Failure, note, root, say, step } from './step.mjs';
import { throwAwayHome } from './throw-away.mjs';

const CONFIGURED_TIMEOUT_MS = 10_000;

/** Reads the tenant's own `.env.<tenant>`, then `.env`, into the environment; what is already set there wins. */
export function loadSettings() {
  const { TENANT_CODE } = process.env;
  for (const name of [...(TENANT_CODE ? [`.env.${TENANT_CODE}`] : []), '.env']) {
    const file = path.join(root, name);
    if (existsSync(file)) process.loadEnvFile(file);
  }
}

/** Fails when the database or Redis is neither configured nor installed nor can be installed here. */
export function requireServices() {
  const packages = missingPackages();
  if (packages.length > 0 && !canInstall()) throw new Failure(howToProvide(packages));
}

/**
 * Provides the database and Redis, each on its own: the configured one, else a private instance, whose
 * package is installed if need be. `persistent` instances keep their data in `.local/`, others live in a
 * temporary directory (on the real disk when `durable`) and vanish at the end of the command.
 * Answers the environment variables that lead to them.
 */
export async function provide({ persistent, durable }) {
  requireServices();
  await installMissing();
  const home = persistent ? createLocalHome() : await throwAwayHome({ durable });
  const passwords = persistent ? keptPasswords() : newPasswords();
  const env = persistent ? {} : { THROW_AWAY_HOME: home };
  const options = { home, passwords, isThrowAway: !persistent };
  await stopLeftovers(home);

  await step(async () => {
    if (isDatabaseConfigured()) return `database is the configured one, ${await reachDatabase()}`;
    const settings = await startDatabase(options);
    Object.assign(env, settings);
    return `database answers on ${settings.DB_HOST}:${settings.DB_PORT}`;
  });
  await step(async () => {
    if (isRedisConfigured()) return `Redis is the configured one, ${await reachRedis()}`;
    const settings = await startRedis(options);
    Object.assign(env, settings);
    return `Redis answers on ${new URL(settings.REDIS_URL).host}`;
  });
  return env;
}

function isDatabaseConfigured() {
  return Boolean(process.env.DB_HOST || process.env.DATABASE_URL);
}

function isRedisConfigured() {
  return Boolean(process.env.REDIS_URL);
}

function missingPackages() {
  const packages = [];
  if (!isDatabaseConfigured() && !hasDatabase()) packages.push('mariadb-server');
  if (!isRedisConfigured() && !hasRedis()) packages.push('redis-server');
  return packages;
}

async function installMissing() {
  repairPolicy();
  const packages = missingPackages();
  if (packages.length === 0) return;
  note(`installing ${packages.join(' and ')}, without starting system services; once, about a minute`);
  await step(async () => {
    await install(packages);
    return `${packages.join(' and ')} installed`;
  });
}

function howToProvide(packages) {
  const names = { 'mariadb-server': 'MariaDB or MySQL (DB_HOST)', 'redis-server': 'Redis (REDIS_URL)' };
  return `Missing: ${packages.map((name) => names[name]).join(' and ')}.
  Not configured, not installed, and packages can only be installed as root on Debian or Ubuntu.
  Either start them in containers, as docs/deployment.md says ("Containers for development"),
  or install them: sudo apt-get install ${packages.join(' ')}`;
}

// A launcher killed with SIGKILL leaves its servers running; they hold the data directory.
async function stopLeftovers(home) {
  for (const leftover of ['mariadb', 'redis'].map((name) => findLeftover(home, name)).filter(Boolean)) {
    note(`stopping ${leftover.name} (process ${leftover.pid}), left by an earlier run`);
    await stopDaemon(leftover);
  }
}

function reachDatabase() {
  const { DATABASE_URL, DB_HOST, DB_PORT } = process.env;
  return reach('database', DATABASE_URL || `mysql://${DB_HOST}:${DB_PORT || 3306}`, 3306);
}

function reachRedis() {
  return reach('Redis', process.env.REDIS_URL, 6379);
}

async function reach(name, url, defaultPort) {
  const { hostname, port } = new URL(url);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
  const deadline = Date.now() + CONFIGURED_TIMEOUT_MS;
  while (!(await accepts(address))) {
    if (Date.now() > deadline) {
      throw new Failure(`the configured ${name} does not answer on ${address.host}:${address.port}`);
    }
    await sleep(250);
  }
  return `${address.host}:${address.port}`;
}

function accepts(address) {
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: 2000 });
    const settle = (result) => {
      socket.destroy();
      resolve(result);
    };
    socket.on('connect', () => settle(true));
    socket.on('timeout', () => settle(false));
    socket.on('error', () => settle(false));
  });
}

async function main() {
  const env = await provide({ persistent: false, durable: process.argv.includes('--durable') });
  delete env.THROW_AWAY_HOME; // whoever inherits it is ended together with the instances
  for (const [name, value] of Object.entries(env)) say(`${name}=${value}`);
  setInterval(() => {}, 1 << 30); // stays until a signal arrives
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) command(main, () => 0);
