// Background processes with a process group and a pid file, and private servers on a free loopback port.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from './address.mjs';
import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { commandLine, lastLines, readPid, stopProcess } from './process.mjs';
import { Failure, note } from './step.mjs';

export const LOOPBACK = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const ANSWER_TIMEOUT_MS = 1000;
const MAX_ATTEMPTS = 3;

/**
 * A server whose log and pid file are `<name>.log` and `<name>.pid` in `home`.
 *
 * @typedef {object} Server
 * @property {string} name
 * @property {string} home
 * @property {boolean} isThrowAway
 * @property {string} program
 * @property {(port: number) => string[]} argsFor its arguments; they mention a path below `home`, by which a later run recognises it
 * @property {(port: number) => Promise<boolean>} isReady whether it answers
 */

/** Starts a server, to be stopped at the end of the command. @param {Server} server @returns {Promise<number>} its port */
export async function startServer({ name, home, isThrowAway, program, argsFor, isReady }) {
  const logFile = path.join(home, `${name}.log`);
  for (let attempt = 1; ; attempt++) {
    refuseWhenEnding();
    const port = await freePort();
    const log = openSync(logFile, 'w', 0o600);
    const { pid } = launch({ name, home, program, args: argsFor(port), cwd: home, output: log });
    closeSync(log);
    if (!pid) throw new Failure(`${program} cannot be started`);
    const stop = atEnd(() => stopDaemon({ name, home, pid, signal: isThrowAway ? 'SIGKILL' : 'SIGTERM' }));
    if (await becomesReady(pid, () => isReady(port))) return port;
    await stop();
    const written = readFileSync(logFile, 'utf8');
    const wasPortTaken = /address already in use/i.test(written);
    if (wasPortTaken && attempt < MAX_ATTEMPTS) continue;
    throw new Failure(`${name} does not start; ${logFile} ends with\n${lastLines(written)}`);
  }
}

/**
 * Starts a process in a separate group: Ctrl-C in the terminal reaches only the command that started it.
 *
 * @param {{ name: string, home: string, program: string, args: string[], cwd: string, env?: NodeJS.ProcessEnv, output: number | 'inherit' }} options
 */
export function launch({ name, home, program, args, cwd, env, output }) {
  const child = spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', output, output] });
  child.on('error', () => {}); // it has no pid then
  child.unref();
  if (child.pid) writeFileSync(pidFile(home, name), `${child.pid}\n`);
  return child;
}

/** Stops a process and waits for its end. @param {{ name: string, home: string, pid: number, signal?: NodeJS.Signals }} daemon */
export async function stopDaemon({ name, home, pid, signal = 'SIGTERM' }) {
  await stopProcess(pid, { signal, timeoutMs: STOP_TIMEOUT_MS });
  rmSync(pidFile(home, name), { force: true });
}

/**
 * Stops a process left behind by a killed command, identified by its pid file and a path in its command line.
 *
 * @param {string} home
 * @param {string} name
 */
export async function stopLeftover(home, name, mark = `${home}/`) {
  const pid = readPid(pidFile(home, name));
  if (!pid || !commandLine(pid).includes(mark)) return;
  note(`stopping ${name} (process ${pid}), left by an earlier run`);
  await stopDaemon({ name, home, pid });
}

/**
 * Sends a request to a loopback port. The first packet of the reply decides, so that a server which is
 * still loading is asked again immediately.
 *
 * @param {number} port
 * @param {string} request
 * @param {(reply: Buffer) => boolean} isExpected
 * @returns {Promise<boolean>}
 */
export function answers(port, request, isExpected) {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port, timeout: ANSWER_TIMEOUT_MS });
    socket.on('connect', () => socket.write(request));
    socket.on('data', (reply) => {
      resolve(isExpected(reply));
      socket.destroy();
    });
    socket.on('timeout', () => socket.destroy());
    socket.on('error', () => {});
    socket.on('close', () => resolve(false));
  });
}

/** @param {number} pid @param {() => Promise<boolean>} isReady */
async function becomesReady(pid, isReady) {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (await isReady()) return true;
    if (!commandLine(pid)) return false;
    await sleep(20);
  }
  return false;
}

/** @param {string} home @param {string} name */
function pidFile(home, name) {
  return path.join(home, `${name}.pid`);
}
