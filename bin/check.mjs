// `npm run check [-- lint]`: what can be said without running the service: types, lint, format, imports and the OpenAPI
// document, in two lanes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { COMPILER } from './build.mjs';
import { checkNodeVersion, ensureDependencies } from './dependencies.mjs';
import { atEnd, command } from './lifetime.mjs';
import { createLocalHome } from './local-home.mjs';
import { sendToGroup } from './process.mjs';
import { Failure, root, say, seconds, step } from './step.mjs';

/**
 * Stages of lanes of parts, in their order: the second stage reads what the first has built.
 *
 * @type {Record<string, string>[][]}
 */
const stages = [
  [
    { types: `node ${COMPILER} -p . && node ${COMPILER} -p bin && node bin/console.mjs --contract` },
    {
      format: 'prettier --check . --cache --cache-strategy content --cache-location build/.prettier',
      imports: 'depcruise config src console/src',
    },
  ],
  [
    { lint: 'oxlint --type-aware .' },
    {
      console: `node ${COMPILER} -p console`,
      openapi: 'redocly lint build/openapi.json',
    },
  ],
];

const env = {
  ...process.env,
  PATH: [path.join(root, 'node_modules/.bin'), process.env.PATH].join(path.delimiter),
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
};

command(async () => {
  const asked = process.argv.slice(2);
  const names = stages.flat().flatMap((lane) => Object.keys(lane));
  const unknown = asked.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new Failure(`no part ${unknown.join(', ')}; there are ${names.join(', ')}`);
  checkNodeVersion();
  createLocalHome();
  await step(ensureDependencies);
  let failed = 0;
  for (const lanes of stages)
    await Promise.all(
      lanes.map(async (lane) => {
        for (const [name, line] of Object.entries(lane))
          if ((asked.length === 0 || asked.includes(name)) && !(await passes(name, line))) failed++;
      }),
    );
  return failed === 0 ? 0 : 1;
});

/** Runs one part; shows what it says when it fails. @param {string} name @param {string} line */
async function passes(name, line) {
  const startedAt = performance.now();
  const part = spawn(line, {
    cwd: root,
    env,
    shell: true,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const forget = atEnd(() => sendToGroup(part.pid, 'SIGKILL'));
  let output = '';
  for (const stream of [part.stdout, part.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(part, 'close');
  await forget();
  if (code !== 0) say(output.trimEnd());
  say(`${code === 0 ? '✓' : '✗'} ${name} (${seconds(performance.now() - startedAt)})`);
  return code === 0;
}
