// Other processes: finding programs, running them to their end, recognising and stopping them.
import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { Failure } from './step.mjs';

// Debian keeps servers in /usr/sbin, which is not in the PATH of ordinary users.
const SYSTEM_DIRECTORIES = ['/usr/local/sbin', '/usr/sbin', '/sbin'];
const STOP_TIMEOUT_MS = 10_000;
const STOP_PATIENCE_MS = 2000; // for a program that is run to its end and interrupted
const hasProc = existsSync('/proc/self/cmdline');

/** The full path of the first of these programs that is installed. */
export function findProgram(...names) {
  const directories = [...(process.env.PATH ?? '').split(path.delimiter), ...SYSTEM_DIRECTORIES];
  return names
    .flatMap((name) => directories.filter(Boolean).map((directory) => path.join(directory, name)))
    .find(isExecutable);
}

/**
 * Runs a program to its end and answers its output; a non-zero exit code is a Failure that shows it.
 * The program has its own process group: a Ctrl-C reaches it only through us, as `stopSignal`, and as
 * SIGKILL if it then takes too long and `mayBeKilled`.
 */
export async function run(program, args, options = {}) {
  const {
    name = path.basename(program),
    env = {},
    cwd,
    stopSignal = 'SIGTERM',
    mayBeKilled = true,
  } = options;
  refuseWhenEnding();
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  const closed = new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Failure(`${name} cannot be started: ${error.message}`)));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  const forget = atEnd(async () => {
    child.kill(stopSignal);
    const impatience = mayBeKilled && setTimeout(() => send(-child.pid, 'SIGKILL'), STOP_PATIENCE_MS);
    await closed.catch(() => {});
    clearTimeout(impatience);
  });
  const result = await closed;
  refuseWhenEnding();
  void forget();
  const text = Buffer.concat(output).toString();
  if (result === 0) return text;
  throw new Failure(`${name} ended with ${result}\n${lastLines(text)}`.trimEnd());
}

/** The last lines of a text, enough to see why something failed. */
export function lastLines(text, count = 25) {
  return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** The command line of a living process, arguments separated by blanks; empty when there is none. */
export function commandLine(pid) {
  if (!isLiving(pid)) return '';
  if (hasProc) return readSafely(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  return spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout ?? '';
}

/** The working directory of a process, empty when unknown. */
export function workingDirectory(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}

/** The ids of all processes that were started with this text in their environment. */
export function processesStartedWith(text) {
  if (!hasProc) return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => readSafely(`/proc/${name}/environ`).includes(text))
    .map(Number);
}

/** Asks a process to stop, waits, and ends it the hard way when it does not. */
export async function stopProcess(pid, { signal = 'SIGTERM', timeout = STOP_TIMEOUT_MS } = {}) {
  send(pid, signal);
  if (await isGone(pid, timeout)) return;
  send(pid, 'SIGKILL');
  await isGone(pid, STOP_TIMEOUT_MS);
}

/** The process id in a pid file, or undefined. */
export function readPid(file) {
  const pid = Number.parseInt(readSafely(file), 10);
  return pid > 1 ? pid : undefined;
}

export function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It is gone already, which is what we want.
  }
}

function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isLiving(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
  // A zombie still has an id; it only waits for its parent to notice.
  return !/\) [ZX] /.test(readSafely(`/proc/${pid}/stat`));
}

async function isGone(pid, timeout) {
  const deadline = Date.now() + timeout;
  while (isLiving(pid)) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

function readSafely(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
