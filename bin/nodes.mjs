// `npm run test:nodes [-- files]`: the types and some test files on every line of Node.js that is supported, each from the npm
// package `node`.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';

import { createLocalHome } from './local-home.mjs';
import { complain, Failure, root, say } from './step.mjs';

const VERSIONS = ['20.19', '22', '24'];
const FILES = [
  'test/config.test.ts',
  'test/start.test.ts',
  'test/access/session.test.ts',
  'test/access/first-password.test.ts',
  'test/trade/mutations.test.ts',
];

function nodeOf(version) {
  const home = path.join(createLocalHome(), 'nodes', version);
  const node = path.join(home, 'node_modules/node/bin/node');
  if (existsSync(node)) return node;
  mkdirSync(home, { recursive: true });
  run('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', home, `node@${version}`]);
  return node;
}

function run(program, args) {
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: 'inherit' });
  if (error) throw new Failure(`${program} cannot be started: ${error.message}`);
  if (status !== 0) throw new Failure(`${program} ${args.join(' ')} ended with code ${status}`);
}

const files = process.argv.length > 2 ? process.argv.slice(2) : FILES;
try {
  for (const version of VERSIONS) {
    const node = nodeOf(version);
    run(node, ['-p', '"\\nNode.js " + process.version']);
    run(node, ['node_modules/typescript/bin/tsc', '-p', '.', '--noEmit', '--incremental', 'false']);
    run(node, ['bin/test.mjs', ...files]);
  }
  say(`\n${VERSIONS.length} versions passed`);
} catch (error) {
  complain(error);
  process.exitCode = 1;
}
