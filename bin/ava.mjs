// One run of AVA, with every event of it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { send } from './process.mjs';
import { root } from './step.mjs';
import { endGuests } from './throw-away.mjs';

const AVA = path.join(root, 'node_modules/ava/entrypoints/cli.mjs');

/**
 * Runs AVA in a process group of its own and ends whatever its tests have left running.
 *
 * @param cwd the checkout, or a copy of it with a build of its own
 * @returns its exit code, or the signal that ended it
 */
export async function runAva(args, { cwd, env, onLine, onEvent }) {
  refuseWhenEnding();
  const ava = spawn(process.execPath, [AVA, '--config', 'bin/ava.config.mjs', ...args], {
    ...{ cwd, env },
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const endGroup = atEnd(() => send(-ava.pid, 'SIGKILL'));
  const lines = createInterface({ input: ava.stdout });
  lines.on('line', onLine);
  ava.on('message', onEvent);
  // Not 'close' of AVA: a process left behind by a test could keep the output open for ever.
  const [[code, signal]] = await Promise.all([once(ava, 'exit'), once(ava, 'disconnect')]);
  const allLines = lines.closed || once(lines, 'close');
  endGroup();
  await endGuests(env.THROW_AWAY_HOME);
  await allLines;
  return { code, signal };
}
