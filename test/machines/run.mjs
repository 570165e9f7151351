// `npm run test:machines [-- sentinel galera …]`: starts several machines' worth of servers from Debian packages on loopback and
// injects their faults under load; runs tests of money and files on MySQL and Valkey. `-- quick` is one row of Redis and one of the
// database.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import path from 'node:path';

import { unpack } from './debian-suite.mjs';
import { command } from '../../bin/lifetime.mjs';
import { ensureNeeds } from '../../bin/needs.mjs';
import { Failure, root, say, seconds } from '../../bin/step.mjs';

/**
 * @typedef {object} Row
 * @property {string[][]} runs the test files of each run; a folder means all of its files
 * @property {string[]} [needs] programs besides those of `npm test`, as bin/needs.mjs takes them
 * @property {import('./debian-suite.mjs').Outside} [servers] of another Debian suite, in the place of MariaDB and Redis
 */

/** @type {Record<string, Row>} */
const rows = {
  sentinel: { runs: [['test/machines/sentinel.test.ts']] },
  galera: {
    runs: [['test/machines/galera.test.ts']],
    needs: ['haproxy', 'mariadb:mariadb-client', 'mariadb-backup', 'socat'],
  },
  haproxy: { runs: [['test/machines/haproxy.test.ts']], needs: ['haproxy'] },
  s3: {
    runs: [['test/machines/s3.test.ts']],
    needs: ['proxy', 'account', 'container', 'object'].map((name) => `swift-${name}-server:swift-${name}`),
  },
  mysql: {
    runs: [
      ['test/trade', 'test/exports', 'test/imports', 'test/logs', 'test/tables'],
      ['test/faults/database.test.ts', 'test/faults/failovers.test.ts', 'test/faults/silent-peers.test.ts'],
    ],
    servers: {
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
  },
};

const quick = ['sentinel', 'galera'];

async function main() {
  const asked = process.argv.slice(2).flatMap((name) => (name === 'quick' ? quick : name));
  const names = asked.length === 0 ? Object.keys(rows) : asked;
  const unknown = names.filter((name) => !(name in rows));
  if (unknown.length > 0)
    throw new Failure(`no row ${unknown.join(', ')}; there are ${Object.keys(rows).join(', ')} and quick`);
  const chosen = Object.entries(rows).filter(([name]) => names.includes(name));
  await ensureNeeds(chosen.flatMap(([, { needs }]) => needs ?? []));
  /** @type {string[]} */
  const results = [];
  for (const [name, row] of chosen) {
    const begun = performance.now();
    const isGood = await passes(row);
    results.push(`${name.padEnd(10)}${isGood ? 'passed' : 'FAILED'}  ${seconds(performance.now() - begun)}`);
  }
  say(`\n${results.join('\n')}`);
  return results.some((result) => result.includes('FAILED')) ? 1 : 0;
}

/** @param {Row} row */
async function passes({ runs, servers }) {
  const folders = servers ? [await unpack(servers)] : [];
  const env = { ...process.env, PATH: [...folders, process.env.PATH].join(path.delimiter) };
  let isGood = true;
  for (const files of runs) {
    const args = [path.join(root, 'bin/test.mjs'), ...files.flatMap(filesIn)];
    const test = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'] });
    const [code] = await once(test, 'exit');
    isGood &&= code === 0;
  }
  return isGood;
}

/** @param {string} name a test file, or a folder of them */
function filesIn(name) {
  if (name.endsWith('.ts')) return [name];
  return readdirSync(path.join(root, name))
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `${name}/${file}`);
}

command(main);
