// A child process of `npm start` (api or worker): started, restarted after a crash, stopped in time.
import { spawn } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { findLeftover, stopDaemon } from './daemon.mjs';
import { isEnding } from './lifetime.mjs';
import { send, stopProcess } from './process.mjs';
import { Failure, note, root, seconds } from './step.mjs';

const STOP_TIMEOUT_MS = 10_000; // both processes drain and end by themselves within this time
const QUICK_END_MS = 60_000;
const MAX_QUICK_RESTARTS = 5;
const FIRST_BACKOFF_MS = 500;

export class Supervisor {
  #child;
  #timer;
  #quickRestarts = 0;

  /** Whether a crash is answered with a restart; set once the service has been ready. */
  restarts = false;

  /** `onGivenUp(failure)` is called when the process has ended and will not be started again. */
  constructor({ name, script, env, home, onGivenUp }) {
    Object.assign(this, { name, script, env, home, onGivenUp });
  }

  /** Starts the process in a process group of its own: Ctrl-C must reach only the launcher. */
  start() {
    if (isEnding()) return;
    const startedAt = Date.now();
    const child = spawn(process.execPath, [path.join(root, this.script)], {
      cwd: root,
      env: this.env,
      detached: true,
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    this.#child = child;
    child.on('error', (error) => this.onGivenUp(error));
    child.on('exit', (code, signal) => {
      if (this.#child === child) this.#onEnd(code ?? signal, Date.now() - startedAt);
    });
    writeFileSync(this.#pidFile, `${child.pid}\n`);
  }

  /** Asks the process to stop and waits; also ends what it has started itself. */
  async stop() {
    clearTimeout(this.#timer);
    const child = this.#child;
    if (!child) return;
    this.#child = undefined; // its end is now expected
    await stopProcess(child.pid, { timeout: STOP_TIMEOUT_MS });
    send(-child.pid, 'SIGKILL');
    rmSync(this.#pidFile, { force: true });
  }

  /** Stops the process that a launcher killed with SIGKILL has left running. */
  async stopLeftover() {
    const leftover = findLeftover(this.home, this.name, path.join(root, this.script));
    if (!leftover) return;
    note(`stopping ${this.name} (process ${leftover.pid}), left by an earlier run`);
    await stopDaemon(leftover);
  }

  get isRunning() {
    return this.#child !== undefined;
  }

  get #pidFile() {
    return path.join(this.home, `${this.name}.pid`);
  }

  #onEnd(result, lifetime) {
    this.#child = undefined;
    rmSync(this.#pidFile, { force: true });
    const ended = `the ${this.name} process ended with ${result}`;
    if (!this.restarts) return this.onGivenUp(new Failure(ended));
    this.#quickRestarts = lifetime < QUICK_END_MS ? this.#quickRestarts + 1 : 1;
    if (this.#quickRestarts > MAX_QUICK_RESTARTS) {
      return this.onGivenUp(new Failure(`${ended}, again and again; not restarting it any more`));
    }
    const backoff = FIRST_BACKOFF_MS * 2 ** (this.#quickRestarts - 1);
    note(`${ended}; restarting it in ${seconds(backoff)}`);
    this.#timer = setTimeout(() => this.start(), backoff);
    return undefined;
  }
}
