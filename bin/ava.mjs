// One run of AVA, line by line.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { finished } from 'node:stream/promises';

import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { quickStart } from './node-flags.mjs';
import { sendToGroup } from './process.mjs';
import { root } from './step.mjs';
import { endGuests } from './throw-away.mjs';

/** What the service logged during a run, below its checkout. */
export const TEST_LOG = 'build/test.log';

const AVA = path.join(root, 'node_modules/ava/entrypoints/cli.mjs');

/**
 * Runs AVA in a separate process group and ends the processes that its tests left behind.
 *
 * @param {string[]} args
 * @param {{ cwd: string, home: string, env: NodeJS.ProcessEnv, onLine: (line: string) => void }} options
 *   cwd: the checkout, or a copy of it with a build of its own; home: the THROW_AWAY_HOME of its tests
 * @returns its exit code, or the signal that ended it
 */
export async function runAva(args, { cwd, home, env, onLine }) {
  refuseWhenEnding();
  const ava = spawn(process.execPath, [...quickStart, AVA, '--no-color', ...args], {
    cwd,
    env: { ...env, FORCE_COLOR: '0' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const endGroup = atEnd(() => sendToGroup(ava.pid, 'SIGKILL'));
  const log = createWriteStream(path.join(cwd, TEST_LOG), { flags: 'a' });
  /** @param {(line: string) => void} show what is not of the log */
  const sorted = (show) => (/** @type {string} */ line) => {
    if (line.startsWith('{"level":')) log.write(`${line}\n`);
    else show(line);
  };
  const lines = createInterface({ input: ava.stdout });
  lines.on('line', sorted(onLine));
  createInterface({ input: ava.stderr }).on(
    'line',
    sorted((line) => void process.stderr.write(`${line}\n`)),
  );
  const closed = once(lines, 'close');
  // Not 'close' of AVA: a process left behind by a test could keep the output open for ever.
  const [code, signal] = await once(ava, 'exit');
  await endGroup();
  await endGuests(home);
  await closed;
  await finished(log.end());
  return code ?? signal;
}
