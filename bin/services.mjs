// MariaDB and Redis for a command: the configured ones, else private instances. Run directly, it starts
// throw-away instances, prints their settings as NAME=value lines and keeps them until it is stopped.
import { existsSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseEnv } from 'node:util';

import { askToInstall, install } from './apt.mjs';
import { stopLeftover } from './daemon.mjs';
import { findDatabase, startDatabase } from './database.mjs';
import { command, isMain } from './lifetime.mjs';
import { createLocalHome, keptPasswords, newPasswords } from './local-home.mjs';
import { holderOf } from './lock.mjs';
import { findRedis, startRedis } from './redis.mjs';
import { Failure, root, say, step } from './step.mjs';
import { throwAwayHome } from './throw-away.mjs';

const CONFIGURED_TIMEOUT_MS = 10_000;

/** Reads the tenant's own `.env.<tenant>`, then `.env`, into the environment; what is already set there wins. */
export function loadSettings() {
  const { TENANT_CODE } = process.env;
  for (const name of [...(TENANT_CODE ? [`.env.${TENANT_CODE}`] : []), '.env']) {
    const file = path.join(root, name);
    if (!existsSync(file)) continue;
    try {
      // Windows puts a mark before it; Node.js 20 takes an indented comment for a part of the next name.
      const text = readFileSync(file, 'utf8').replace(/^\uFEFF|^[ \t]+#.*/gm, '');
      for (const [setting, value] of Object.entries(parseEnv(text))) process.env[setting] ??= value;
    } catch {
      throw new Failure(`${file} cannot be read by this account`);
    }
  }
}

/**
 * Asks to install the servers that are neither configured nor installed; fails when that cannot be done here.
 *
 * @returns their packages, for `install`
 */
export async function askForServers() {
  const missing = Object.entries({
    'mariadb-server': isDatabaseConfigured() || findDatabase(),
    'redis-server': isRedisConfigured() || findRedis(),
  }).flatMap(([name, isThere]) => (isThere ? [] : [name]));
  await askToInstall(
    missing,
    'Name servers (DB_HOST, REDIS_URL, REDIS_SENTINELS), or start them in containers (docs/operations.md, "Containers").\n  ',
  );
  return missing;
}

/**
 * Provides the database and Redis, each on its own: the configured one, else a private instance.
 * `persistent` instances keep their data in `.local/`; others live in a temporary directory (on the real disk
 * when `durable`) and vanish at the end of the command.
 *
 * @param {{ persistent: boolean, durable: boolean }} options
 * @returns {Promise<Record<string, string>>} the environment variables that lead to them
 */
export async function provide({ persistent, durable }) {
  const home = persistent ? createLocalHome() : await throwAwayHome(durable);
  const passwords = persistent ? keptPasswords() : newPasswords();
  const options = { home, passwords, isThrowAway: !persistent };
  // A launcher killed with SIGKILL leaves its servers running; they hold the data directory.
  for (const name of ['mariadb', 'redis']) await stopLeftover(home, name);
  /** @type {Record<string, string>} */
  const env = persistent ? {} : { THROW_AWAY_HOME: home };
  await Promise.all([
    step(async () => {
      if (isDatabaseConfigured()) return `database is the configured one, ${await reachDatabase()}`;
      const settings = await startDatabase(options);
      Object.assign(env, settings);
      return `database answers on ${settings.DB_HOST}:${settings.DB_PORT}`;
    }),
    step(async () => {
      if (isRedisConfigured()) return `Redis is the configured one, ${await reachRedis()}`;
      const settings = await startRedis(options);
      Object.assign(env, settings);
      return `Redis answers on ${new URL(settings.REDIS_URL).host}`;
    }),
  ]);
  return env;
}

/** The settings of the servers that this checkout's running `npm start` has started, except where others are configured. */
export async function findRunningServers() {
  const { REDIS_URL, ...database } = (await holderOf('run', root))?.servers ?? {};
  return {
    ...(!isDatabaseConfigured() && database),
    ...(REDIS_URL && !isRedisConfigured() && { REDIS_URL }),
  };
}

/** Whether the settings name a database server; otherwise a private one is started. */
export function isDatabaseConfigured() {
  return Boolean(process.env.DB_HOST || process.env.DATABASE_URL);
}

function isRedisConfigured() {
  return Boolean(process.env.REDIS_URL || process.env.REDIS_SENTINELS);
}

// One reachable Sentinel is enough to find the master.
function reachRedis() {
  const { REDIS_URL, REDIS_SENTINELS } = process.env;
  const nodes = (REDIS_SENTINELS || '').split(',').map((node) => node.trim());
  if (nodes[0])
    return Promise.any(nodes.map((node) => reach('Redis', `redis://${node}`, 6379))).catch(({ errors }) => {
      throw errors[0];
    });
  return reach('Redis', REDIS_URL ?? '', 6379);
}

function reachDatabase() {
  const { DATABASE_URL, DB_HOST, DB_PORT } = process.env;
  return reach('database', DATABASE_URL || `mysql://${DB_HOST}:${DB_PORT || 3306}`, 3306);
}

/** @param {string} name @param {string} url @param {number} defaultPort */
async function reach(name, url, defaultPort) {
  const { hostname, port: given } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const port = Number(given || defaultPort);
  const deadline = Date.now() + CONFIGURED_TIMEOUT_MS;
  while (!(await accepts(host, port))) {
    if (Date.now() > deadline)
      throw new Failure(
        `the configured ${name} does not answer on ${host}:${port}; start it, or take its settings out for a private one`,
      );
    await sleep(250);
  }
  return `${host}:${port}`;
}

/** @param {string} host @param {number} port @returns {Promise<boolean>} */
function accepts(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2000 });
    socket.on('connect', () => {
      resolve(true);
      socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => resolve(false));
  });
}

async function main() {
  await install(await askForServers());
  // A process that inherits THROW_AWAY_HOME ends together with the instances.
  const { THROW_AWAY_HOME: _, ...env } = await provide({ persistent: false, durable: false });
  for (const [name, value] of Object.entries(env)) say(`${name}=${value}`);
  setInterval(() => {}, 1 << 30); // stays until a signal arrives
}

if (isMain(import.meta)) command(main, { endsBySignal: true });
