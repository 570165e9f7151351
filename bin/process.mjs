// Other processes: finding programs, running them to their end, recognising and stopping them.
import { spawn, spawnSync } from 'node:child_process';
import { accessSync, constants, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { Failure } from './step.mjs';

// Debian keeps servers in /usr/sbin, which is not in the PATH of ordinary users.
const SYSTEM_DIRECTORIES = ['/usr/local/sbin', '/usr/sbin', '/sbin'];
const STOP_TIMEOUT_MS = 10_000;
const INTERRUPT_TIMEOUT_MS = 2000; // for a program that is run to its end and interrupted

/** The full path of one of these programs, from the first folder of PATH that has any. @param {string[]} names */
export function findProgram(...names) {
  const directories = [...(process.env.PATH ?? '').split(path.delimiter), ...SYSTEM_DIRECTORIES];
  return directories
    .filter(Boolean)
    .flatMap((directory) => names.map((name) => path.join(directory, name)))
    .find(isExecutable);
}

/**
 * Runs a program to its end and returns its output; a non-zero exit code is a Failure that shows it.
 * It has a separate process group: Ctrl-C reaches it only from here, as `stopSignal`, and as SIGKILL if it
 * then takes too long and `mayBeKilled`. After `timeoutMs` it gets that signal, too.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {{ name?: string, env?: NodeJS.ProcessEnv, cwd?: string, stopSignal?: NodeJS.Signals, mayBeKilled?: boolean, timeoutMs?: number }} [options]
 */
export async function run(program, args, options = {}) {
  const { name = path.basename(program), env, cwd, stopSignal = 'SIGTERM', mayBeKilled = true } = options;
  refuseWhenEnding();
  const child = spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs,
    killSignal: stopSignal,
  });
  /** @type {Buffer[]} */
  const output = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(chunk));
  const closed = new Promise((resolve, reject) => {
    child.on('error', (error) => reject(new Failure(`${name} cannot be started: ${error.message}`)));
    child.on('close', (code, signal) => resolve(code ?? signal));
  });
  const forget = atEnd(async () => {
    child.kill(stopSignal);
    const timer = mayBeKilled && setTimeout(() => sendToGroup(child.pid, 'SIGKILL'), INTERRUPT_TIMEOUT_MS);
    await closed.catch(() => {});
    if (timer) clearTimeout(timer);
  });
  const result = await closed;
  refuseWhenEnding();
  void forget();
  const text = Buffer.concat(output).toString();
  if (result === 0) return text;
  throw new Failure(`${name} ended with ${result}\n${lastLines(text)}`.trimEnd());
}

/** The last lines of a text, enough to see why something failed. @param {string} text */
export function lastLines(text) {
  return text.trimEnd().split('\n').slice(-25).join('\n');
}

/** The command line of a living process, arguments separated by blanks; empty when there is none. @param {number} pid */
export function commandLine(pid) {
  if (!isLiving(pid)) return '';
  const line = readSafely(`/proc/${pid}/cmdline`).replaceAll('\0', ' ');
  return (
    line || spawnSync('ps', ['-ww', '-o', 'command=', '-p', String(pid)], { encoding: 'utf8' }).stdout || ''
  );
}

/** The folder that a process works in; undefined when it is gone or another account's. @param {number} pid */
export function folderOf(pid) {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

/** The ids of all other processes. */
const others = () =>
  listSafely('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number);

/** The ids of all processes that were started with this text in their environment. @param {string} text */
export const processesStartedWith = (text) =>
  others().filter((pid) => readSafely(`/proc/${pid}/environ`).includes(text));

/** The ids of all processes that work in a folder or below. @param {string} folder */
export const processesIn = (folder) => others().filter((pid) => `${folderOf(pid)}/`.startsWith(`${folder}/`));

/**
 * Signals a process, waits, and kills it if it does not stop.
 *
 * @param {number} pid
 * @param {{ signal?: NodeJS.Signals, timeoutMs?: number }} [options]
 */
export async function stopProcess(pid, { signal = 'SIGTERM', timeoutMs = STOP_TIMEOUT_MS } = {}) {
  send(pid, signal);
  if (await isGone(pid, timeoutMs)) return;
  send(pid, 'SIGKILL');
  await isGone(pid, STOP_TIMEOUT_MS);
}

/** The process id in a pid file, or undefined. @param {string} file */
export function readPid(file) {
  const pid = Number.parseInt(readSafely(file), 10);
  return pid > 1 ? pid : undefined;
}

/** Signals a process group; a process that was never started has none. @param {number | undefined} pid @param {NodeJS.Signals} signal */
export function sendToGroup(pid, signal) {
  if (pid) send(-pid, signal);
}

/** The names in a directory; none when it cannot be read. @param {string} directory */
export function listSafely(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

/** @param {number} pid @param {NodeJS.Signals} signal */
function send(pid, signal) {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended already.
  }
}

/** @param {string} file */
function isExecutable(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** @param {number} pid */
function isLiving(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
  // A zombie still has an id; it only waits for its parent to notice.
  return !/\) [ZX] /.test(readSafely(`/proc/${pid}/stat`));
}

/** @param {number} pid @param {number} timeoutMs */
async function isGone(pid, timeoutMs) {
  const deadline = Date.now() + timeoutMs;
  while (isLiving(pid)) {
    if (Date.now() > deadline) return false;
    await sleep(20);
  }
  return true;
}

/** @param {string} file */
function readSafely(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
