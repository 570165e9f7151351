// A server that a test may freeze, kill, stop and start again on the same port with the same data.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { withFileLimit } from '../file-limit.js';
import { until } from '../until.js';

const systemFolders = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** The full path of one of these programs, from the first folder of PATH that has any. @throws Error when none is installed */
export function programPath(...names: string[]): string {
  const folders = [...(process.env.PATH ?? '').split(delimiter), ...systemFolders].filter(Boolean);
  const found = folders.flatMap((folder) => names.map((name) => join(folder, name))).find(isExecutable);
  if (!found) throw new Error(`none of ${names.join(', ')} is installed`);
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The text of a file of deploy/. */
export const deployed = (name: string): string => readFileSync(join('deploy', name), 'utf8');

/** A folder of the test's own. */
export const ownFolder = (): string => mkdtempSync(join(tmpdir(), 'server-'));

/** The servers refuse to run as root without this. */
export const asRoot = process.getuid?.() === 0 ? ['--user=root'] : [];

export abstract class OwnServer {
  readonly folder = ownFolder();
  readonly port: number;
  /** How large its files may grow, in KiB, from its next start on. */
  fileLimit: number | undefined;
  #child: ChildProcess | undefined;
  #output = '';

  constructor(port: number) {
    this.port = port;
  }

  protected abstract command(): [program: string, ...args: string[]];

  /** Whether it answers, here whether it accepts a connection; may throw instead of saying no. */
  protected async answers(): Promise<boolean> {
    const socket = connect(this.port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } finally {
      socket.destroy();
    }
  }

  /** Settings that connect a process of the service to this server. */
  abstract readonly env: Record<string, string>;

  /** Starts it; resolves when it answers. */
  async start(): Promise<void> {
    const [program, ...args] = withFileLimit(this.command(), this.fileLimit);
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    // When one of several servers fails to start, the others stay; they must not keep this process alive.
    child.unref();
    for (const stream of [child.stdout, child.stderr]) {
      (stream as Socket).unref();
      stream.on('data', (data: Buffer) => (this.#output += data.toString()));
    }
    const isReady = until(() => {
      if (child.exitCode !== null) throw new Error(`${program} ended at its start`);
      return this.answers().catch(() => false);
    }, 30_000);
    await isReady.catch((error: unknown) => {
      throw new Error(`${program} did not start: ${this.#output}`, { cause: error });
    });
  }

  /** Freezes it: it neither answers nor refuses. */
  freeze(): void {
    this.#child?.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child?.kill('SIGCONT');
  }

  /** Ends it gracefully, or with SIGKILL like a crash. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const exit = once(child, 'exit');
    child.kill('SIGCONT');
    child.kill(signal);
    await exit;
  }

  /** Ends it and removes its data; for test.after.always. */
  async remove(): Promise<void> {
    await this.stop('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
