// `npm run test:machines [-- sentinel redis-cluster haproxy]`: brings up servers that fail over, from Debian packages on loopback, and runs
// their faults under load. Ends with a line per row.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { canInstall, install } from './apt.mjs';
import { command } from './lifetime.mjs';
import { findProgram } from './process.mjs';
import { Failure, root, say, seconds } from './step.mjs';

/** What a row needs, besides what `npm test` does. */
const rows = {
  sentinel: [],
  'redis-cluster': ['redis-cli'],
  haproxy: ['haproxy'],
};

/** Debian's package of a program. */
const packages = { 'redis-cli': 'redis-tools', haproxy: 'haproxy' };

async function main() {
  const asked = process.argv.slice(2);
  const names = asked.length > 0 ? asked : Object.keys(rows);
  const unknown = names.filter((name) => !(name in rows));
  if (unknown.length > 0)
    throw new Failure(`no row ${unknown.join(', ')}; there are ${Object.keys(rows).join(', ')}`);
  const missing = names
    .flatMap((name) => rows[/** @type {keyof typeof rows} */ (name)])
    .filter((program) => !findProgram(program))
    .map((program) => packages[/** @type {keyof typeof packages} */ (program)]);
  if (missing.length > 0 && !canInstall()) throw new Failure(`Missing: ${missing.join(' and ')}`);
  if (missing.length > 0) await install(missing);
  const results = [];
  for (const name of names) results.push(await runRow(name));
  say('');
  for (const line of results.map(({ line }) => line)) say(line);
  return results.every(({ passed }) => passed) ? 0 : 1;
}

/** @param {string} name */
async function runRow(name) {
  const begun = performance.now();
  const test = spawn(process.execPath, [path.join(root, 'bin/test.mjs'), `test/machines/${name}.test.ts`], {
    cwd: root,
    env: { ...process.env, TEST_SUITE: 'machines' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let counted = '';
  let figures = '';
  for await (const line of createInterface({ input: test.stdout })) {
    say(line);
    if (/^\d+ passed, \d+ failed$/.test(line)) counted = line;
    figures = /faults injected .*/.exec(line)?.[0] ?? figures;
  }
  if (test.exitCode === null) await once(test, 'exit');
  const parts = [counted || 'did not run', figures, seconds(performance.now() - begun)];
  return { passed: test.exitCode === 0, line: `${name}: ${parts.filter(Boolean).join('; ')}` };
}

command(main);
