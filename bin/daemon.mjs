// A private server of this checkout: starts it on a free loopback port, waits until it answers, stops it.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { atEnd, refuseWhenEnding } from './lifetime.mjs';
import { commandLine, lastLines, readPid, stopProcess } from './process.mjs';
import { Failure } from './step.mjs';

export const LOOPBACK = '127.0.0.1';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 30_000;
const ATTEMPTS = 3;

/**
 * Starts a server whose log and pid file live in `home` as `<name>.log` and `<name>.pid`.
 * `argsFor(port)` gives its arguments, which must mention a path below `home` (that is how a later run
 * recognises it); `isReady(port)` tells whether it answers. It is stopped at the end of the command.
 */
export async function startDaemon({ name, home, isThrowAway, program, argsFor, isReady }) {
  for (let attempt = 1; ; attempt++) {
    refuseWhenEnding();
    const port = await freePort();
    const pid = launch({ name, home, program, args: argsFor(port) });
    const stop = atEnd(() => stopDaemon({ name, home, pid, signal: isThrowAway ? 'SIGKILL' : 'SIGTERM' }));
    if (await becomesReady(pid, () => isReady(port))) return { pid, port };
    await stop();
    const log = readFileSync(logFile(home, name), 'utf8');
    const wasPortTaken = /address already in use/i.test(log);
    if (wasPortTaken && attempt < ATTEMPTS) continue;
    throw new Failure(`${name} does not start; ${logFile(home, name)} ends with\n${lastLines(log)}`);
  }
}

/** Stops a server properly and waits for its end. */
export async function stopDaemon({ name, home, pid, signal = 'SIGTERM' }) {
  await stopProcess(pid, { signal, timeout: STOP_TIMEOUT_MS });
  rmSync(pidFile(home, name), { force: true });
}

/** The process that an earlier run left behind, known by its pid file and a path in its command line. */
export function findLeftover(home, name, mark = `${home}/`) {
  const pid = readPid(pidFile(home, name));
  if (!pid || !commandLine(pid).includes(mark)) return undefined;
  return { name, home, pid };
}

/** Sends a request to a loopback port and tells whether what comes back is the expected answer. */
export function answers(port, request, isExpected) {
  return new Promise((resolve) => {
    const socket = connect({ host: LOOPBACK, port, timeout: 1000 });
    let received = Buffer.alloc(0);
    const settle = (result) => {
      socket.destroy();
      resolve(result);
    };
    socket.on('connect', () => socket.write(request));
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk]);
      if (isExpected(received)) settle(true);
    });
    socket.on('timeout', () => settle(false));
    socket.on('error', () => settle(false));
    socket.on('close', () => settle(false));
  });
}

/** A loopback port that nobody uses at this moment. */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, LOOPBACK, () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

// A process group of its own: Ctrl-C in the terminal must reach only the command that started it.
function launch({ name, home, program, args }) {
  const log = openSync(logFile(home, name), 'w', 0o600);
  const child = spawn(program, args, { cwd: home, detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.on('error', () => {});
  if (!child.pid) throw new Failure(`${program} cannot be started`);
  child.unref();
  writeFileSync(pidFile(home, name), `${child.pid}\n`);
  return child.pid;
}

async function becomesReady(pid, isReady) {
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline) {
    if (await isReady()) return true;
    if (!commandLine(pid)) return false;
    await sleep(25);
  }
  return false;
}

function logFile(home, name) {
  return path.join(home, `${name}.log`);
}

function pidFile(home, name) {
  return path.join(home, `${name}.pid`);
}
