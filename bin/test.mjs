// `npm test [-- files and AVA options]`: build, throw-away MariaDB and Redis, AVA, one closing line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { ensureBuild } from './build.mjs';
import { checkNodeVersion, ensureDependencies } from './dependencies.mjs';
import { atEnd, command, refuseWhenEnding } from './lifetime.mjs';
import { send } from './process.mjs';
import { loadSettings, provide, requireServices } from './services.mjs';
import { complain, root, say, seconds, step } from './step.mjs';
import { TestReport } from './test-report.mjs';
import { endGuests } from './throw-away.mjs';

const AVA = path.join(root, 'node_modules/ava/entrypoints/cli.mjs');
const SIGNAL_EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

async function main() {
  const startedAt = performance.now();
  const report = new TestReport();
  try {
    const services = await prepare();
    const isClean = await runAva(testEnvironment(services), report);
    report.finish(isClean);
  } catch (error) {
    complain(error);
    report.finish(false);
  }
  say(`\nran for ${seconds(performance.now() - startedAt)}`);
  say(report.summary);
  return report.failed === 0 && report.passed > 0 ? 0 : 1;
}

async function prepare() {
  process.chdir(root);
  checkNodeVersion();
  loadSettings();
  requireServices();
  await step(ensureDependencies);
  await step(ensureBuild);
  return provide({ persistent: false, durable: false });
}

// Temporary files and uploads of the tests lie in the throw-away directory and vanish with it.
function testEnvironment(services) {
  const home = services.THROW_AWAY_HOME;
  const temporary = path.join(home, 'tmp');
  mkdirSync(temporary);
  const defaults = { BCRYPT_COST: '4', LOG_LEVEL: 'silent', STORAGE_ROOT: path.join(home, 'storage') };
  const settings = { ...defaults, ...process.env, ...databaseParts(), ...services };
  return { ...settings, NODE_ENV: 'test', TMPDIR: temporary };
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

/** Runs AVA in a process group of its own and answers whether it ended with exit code 0. */
async function runAva(env, report) {
  refuseWhenEnding();
  const args = [AVA, '--config', 'bin/ava.config.mjs', ...process.argv.slice(2).map(compiledName)];
  const ava = spawn(process.execPath, args, {
    env,
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const endGroup = atEnd(() => send(-ava.pid, 'SIGKILL'));
  const lines = createInterface({ input: ava.stdout });
  lines.on('line', (line) => report.print(line));
  ava.on('message', (event) => report.observe(event));
  // Not 'close' of AVA: a process left behind by a test could keep the output open for ever.
  const [[code, signal]] = await Promise.all([once(ava, 'exit'), once(ava, 'disconnect')]);
  const allLines = lines.closed || once(lines, 'close');
  endGroup();
  await endGuests(env.THROW_AWAY_HOME);
  await allLines;
  if (signal) say(`✗ AVA was ended by ${signal}`);
  return code === 0;
}

// test/api/login.test.ts → build/test/api/login.test.js
function compiledName(argument) {
  const relative = path.relative(root, path.resolve(argument));
  const isTest = !argument.startsWith('-') && (relative === 'test' || relative.startsWith('test/'));
  return isTest ? path.join('build', relative).replace(/\.ts(?=$|:)/, '.js') : argument;
}

command(main, (signal) => SIGNAL_EXIT_CODES[signal]);
