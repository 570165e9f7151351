// `npm run test:machines [-- sentinel galera …]`: starts servers with fail-over from Debian packages on loopback and injects their
// faults under load; runs the suites on servers of other Debian suites. `-- quick` is one row of Redis and one of the database.
// Ends with the matrix of docs/scaling.md.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { canInstall, install } from './apt.mjs';
import { unpack } from './debian-suite.mjs';
import { command } from './lifetime.mjs';
import { findProgram } from './process.mjs';
import { Failure, root, say, seconds } from './step.mjs';

/** @typedef {import('./debian-suite.mjs').Outside} Outside */

/** Each with what it needs besides what `npm test` does. @type {Record<string, string[]>} */
const rows = {
  sentinel: [],
  'redis-cluster': ['redis-cli'],
  secured: [],
  haproxy: ['haproxy'],
  balanced: ['haproxy'],
  galera: ['haproxy', 'mariadb', 'mariadb-backup', 'socat'],
  replica: ['haproxy', 'mariadb'],
  s3: ['swift-proxy-server', 'swift-account-server', 'swift-container-server', 'swift-object-server'],
};

/** Servers that both suites run on, `npm test` and `npm run test:faults`. @type {Record<string, Outside>} */
const engines = {
  'mariadb-11': {
    suite: 'trixie',
    packages: ['mariadb-server', 'redis-server'],
    programs: {
      'usr/sbin/mariadbd': (unpacked) => [`--lc-messages-dir=${unpacked}/usr/share/mariadb`],
      'usr/bin/my_print_defaults': () => [],
      'usr/bin/resolveip': () => [],
      'usr/bin/mariadb-install-db': (unpacked) => [`--basedir=${unpacked}/usr`],
      'usr/bin/redis-server': () => [],
    },
  },
  mysql: {
    suite: 'sid',
    packages: ['mysql-server-core', 'valkey-server'],
    programs: {
      'usr/sbin/mysqld': (unpacked) => [
        `--lc-messages-dir=${unpacked}/usr/share/mysql`,
        `--character-sets-dir=${unpacked}/usr/share/mysql/charsets`,
        `--plugin-dir=${unpacked}/usr/lib/mysql/plugin`,
        '--secure-file-priv=',
      ],
      'usr/bin/valkey-server': () => [],
    },
  },
};

/** Rooms of the main suite that `balanced` asks through HAProxy, which deals their requests to two APIs. */
const dealt = ['access', 'exports', 'files', 'http', 'imports', 'logs', 'office', 'trade'];

/** One of each kind, for those who have five minutes. */
const quick = ['sentinel', 'galera'];

/** Debian's package of a program. */
const packages = {
  'redis-cli': 'redis-tools',
  haproxy: 'haproxy',
  mariadb: 'mariadb-client',
  'mariadb-backup': 'mariadb-backup',
  socat: 'socat',
  'swift-proxy-server': 'swift-proxy',
  'swift-account-server': 'swift-account',
  'swift-container-server': 'swift-container',
  'swift-object-server': 'swift-object',
};

async function main() {
  const asked = process.argv.slice(2);
  const all = [...Object.keys(rows), ...Object.keys(engines)];
  const names = asked.length === 0 ? all : asked.flatMap((name) => (name === 'quick' ? quick : name));
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0)
    throw new Failure(`no row ${unknown.join(', ')}; there are ${all.join(', ')} and quick`);
  const missing = names
    .flatMap((name) => rows[name] ?? [])
    .filter((program) => !findProgram(program))
    .map((program) => packages[/** @type {keyof typeof packages} */ (program)]);
  if (missing.length > 0 && !canInstall()) throw new Failure(`Missing: ${missing.join(' and ')}`);
  if (missing.length > 0) await install(missing);
  const results = [];
  for (const name of names) results.push(await runRow(name));
  say('');
  for (const line of matrix(results)) say(line);
  return results.every(({ passed }) => passed) ? 0 : 1;
}

/**
 * @typedef {object} Result
 * @property {string} name
 * @property {boolean} passed
 * @property {string} starts
 * @property {string} cases
 * @property {Record<string, number>} figures
 * @property {string} took
 */

/** The results under each other. @param {Result[]} results */
function matrix(results) {
  const head = [
    'row',
    'starts',
    'cases',
    'faults',
    'acknowledged',
    'lost',
    'doubled',
    'worst recovery',
    'took',
  ];
  const lines = results.map(({ name, starts, cases, figures, took }) => [
    name,
    starts,
    cases,
    ...['faults injected', 'acknowledged', 'lost', 'doubled'].map((key) => String(figures[key] ?? '-')),
    figures['worst recovery (ms)'] === undefined ? '-' : seconds(figures['worst recovery (ms)']),
    took,
  ]);
  const widths = head.map((_, at) => Math.max(...[head, ...lines].map((line) => (line[at] ?? '').length)));
  return [head, ...lines].map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** @param {string} name @returns {Promise<Result>} */
async function runRow(name) {
  const begun = performance.now();
  const outside = engines[name];
  const folders = outside ? [await unpack(outside)] : [];
  const programs = [...folders, process.env.PATH].join(path.delimiter);
  /** @type {Record<string, number>} */
  const figures = {};
  const { suites, files, env } = runsOf(name);
  let [passed, failed, isGood] = [0, 0, true];
  for (const suite of suites) {
    const run = await runTests(files, { ...env, PATH: programs, TEST_SUITE: suite }, figures);
    passed += run.passed;
    failed += run.failed;
    isGood &&= run.isGood;
  }
  return {
    name,
    figures,
    passed: isGood,
    // The first case needs the service: it has started on these servers and created its tables.
    starts: passed > 0 ? 'yes' : 'no',
    cases: `${passed} of ${passed + failed}`,
    took: seconds(performance.now() - begun),
  };
}

/**
 * What a row runs.
 *
 * @param {string} name
 * @returns {{ suites: string[], files: string[], env?: NodeJS.ProcessEnv }} files: all of a suite when there is none
 */
function runsOf(name) {
  if (engines[name]) return { suites: ['', 'faults'], files: [] };
  if (name === 'balanced')
    return { suites: [''], files: dealt.flatMap(filesIn), env: { BEHIND_BALANCER: 'true' } };
  return { suites: ['machines'], files: filesOf(name) };
}

/** The test files of a row: the one of its name, or those whose names begin with it. @param {string} name */
function filesOf(name) {
  const begins = [`test/machines/${name}.`, `test/machines/${name}-`];
  return filesIn('machines').filter((file) => begins.some((one) => file.startsWith(one)));
}

/** @param {string} room */
function filesIn(room) {
  return readdirSync(path.join(root, 'test', room))
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${room}/${file}`);
}

/** One run of tests, shown as it goes. @param {string[]} files @param {NodeJS.ProcessEnv} env @param {Record<string, number>} figures */
async function runTests(files, env, figures) {
  const test = spawn(process.execPath, [path.join(root, 'bin/test.mjs'), ...files], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let [passed, failed] = [0, 0];
  for await (const line of createInterface({ input: test.stdout })) {
    say(line);
    const counted = /^(\d+) passed, (\d+) failed$/.exec(line);
    if (counted) [passed = 0, failed = 0] = counted.slice(1).map(Number);
    if (line.includes('faults injected')) addFigures(figures, line);
  }
  if (test.exitCode === null) await once(test, 'exit');
  return { passed, failed, isGood: test.exitCode === 0 };
}

// A row may report several loads: counts are added, worst values compared.
/** @param {Record<string, number>} figures @param {string} line */
function addFigures(figures, line) {
  for (const [, key = '', value] of line.matchAll(/([a-z][a-z ]*(?: \(ms\))?) (\d+)/g)) {
    const [before, now] = [figures[key] ?? 0, Number(value)];
    figures[key] = key.startsWith('worst') ? Math.max(before, now) : before + now;
  }
}

command(main);
