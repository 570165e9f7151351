// Background processes with a process group and a pid file, and private servers on a free loopback port.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from './address.mjs';
import { atEnd, isEnding, refuseWhenEnding } from './lifetime.mjs';
import { commandLine, lastLines, readPid, sendToGroup, stopProcess } from './process.mjs';
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

/**
 * Starts a server, to be stopped at the end of the command. When it ends by itself it is started again on its port;
 * if that fails, the command fails.
 *
 * @param {Server} server
 * @returns {Promise<number>} its port
 */
export async function startServer(server) {
  const { name, home, isThrowAway, isReady } = server;
  rmSync(logFile(home, name), { force: true });
  for (let attempt = 1; ; attempt++) {
    refuseWhenEnding();
    const port = await freePort();
    let { child, pid } = launchServer(server, port);
    const signal = isThrowAway ? 'SIGKILL' : 'SIGTERM';
    const stop = atEnd(() => stopDaemon({ name, home, pid, signal }));
    const watch = () =>
      child.once('exit', async (code, killedBy) => {
        if (isEnding()) return;
        note(`${name} ended with ${code ?? killedBy}; starting it again`);
        ({ child, pid } = launchServer(server, port));
        if (!(await becomesReady(pid, () => isReady(port)))) throw notStarted(home, name);
        watch();
      });
    if (await becomesReady(pid, () => isReady(port))) {
      watch();
      return port;
    }
    await stop();
    const failure = notStarted(home, name);
    const wasPortTaken = /address already in use/i.test(failure.message);
    if (!wasPortTaken || attempt === MAX_ATTEMPTS) throw failure;
  }
}

/** @param {Server} server @param {number} port */
function launchServer({ name, home, program, argsFor }, port) {
  const log = openSync(logFile(home, name), 'a', 0o600);
  const child = launch({ name, home, program, args: argsFor(port), cwd: home, output: log });
  closeSync(log);
  if (!child.pid) throw new Failure(`${program} cannot be started`);
  return { child, pid: child.pid };
}

/** @param {string} home @param {string} name */
function notStarted(home, name) {
  const file = logFile(home, name);
  return new Failure(`${name} does not start; ${file} ends with\n${lastLines(readFileSync(file, 'utf8'))}`);
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

/** Stops a process with what it has started itself, and waits for its end. @param {{ name: string, home: string, pid: number, signal?: NodeJS.Signals }} daemon */
export async function stopDaemon({ name, home, pid, signal = 'SIGTERM' }) {
  await stopProcess(pid, { signal, timeoutMs: STOP_TIMEOUT_MS });
  sendToGroup(pid, 'SIGKILL');
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
function logFile(home, name) {
  return path.join(home, `${name}.log`);
}

/** @param {string} home @param {string} name */
function pidFile(home, name) {
  return path.join(home, `${name}.pid`);
}
