// One run of AVA, as TAP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { sendToGroup } from './process.mjs';
import { root } from './step.mjs';

/** What the service logged during a run, below its checkout. */
export const TEST_LOG = 'build/test.log';

const AVA = path.join(root, 'node_modules/ava/entrypoints/cli.mjs');
const TEST = /^(not )?ok \d+ - (.*?)( # (?:SKIP|TODO))?$/;

/**
 * Runs AVA in a separate process group.
 *
 * @param {string[]} args
 * @param {{ cwd: string, env: NodeJS.ProcessEnv, onLine: (line: string) => void }} options
 *   cwd: the checkout, or a copy of it with a build of its own; onLine: takes TAP and what the files print
 * @returns {Promise<{ passed: number, failed: string[], code: number | string }>} failed: titles of tests, hooks and
 *   crashes; code: its exit code, or the signal that ended it
 */
export async function runAva(args, { cwd, env, onLine }) {
  refuseWhenEnding();
  const ava = spawn(process.execPath, [AVA, '--tap', ...args], {
    cwd,
    env: { ...env, FORCE_COLOR: '0' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // Its servers hold standard error, too: it is closed when they have ended.
  const closed = once(ava, 'close');
  const forget = atEnd(() => {
    sendToGroup(ava.pid, 'SIGKILL');
    return closed;
  });
  let passed = 0;
  /** @type {string[]} */
  const failed = [];
  createInterface({ input: ava.stdout }).on('line', (line) => {
    const [, isFailed, title = '', isLeftOut] = TEST.exec(line) ?? [];
    if (isFailed) failed.push(title);
    else if (title && !isLeftOut) passed++;
    onLine(line);
  });
  // In a fresh clone AVA makes the build later.
  const logFile = path.join(cwd, TEST_LOG);
  mkdirSync(path.dirname(logFile), { recursive: true });
  const log = createWriteStream(logFile, { flags: 'a' });
  createInterface({ input: ava.stderr }).on('line', (line) => {
    if (line.startsWith('{"level":')) log.write(`${line}\n`);
    else onLine(line);
  });
  const [code, signal] = await closed;
  await forget();
  log.end();
  return { passed, failed, code: code ?? signal };
}
