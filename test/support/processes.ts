// API and worker as processes of their own, with the settings of this test file.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { config } from '../../config/index.js';
import { withFileLimit } from './file-limit.js';
import { freePort } from './servers/free-port.js';

export interface TestProcess {
  child: ChildProcess;
  /** Address of an API process. */
  url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Ends it gracefully. @returns its exit code */
  stop(): Promise<number | null>;
  /** Everything it wrote. */
  output(): string;
}

const started = new Set<ChildProcess>();

/** Starts an API process, on a free port unless one is given; resolves when it is listening. @param fileLimit as `startWorkerProcess` */
export async function startApi(env: Record<string, string> = {}, fileLimit?: number): Promise<TestProcess> {
  const port = env.PORT ?? String(await freePort());
  return startProcess('api', [], { ...env, PORT: port }, `http://127.0.0.1:${port}`, fileLimit);
}

/** Starts a worker process; resolves when it consumes. @param fileLimit how large its files may grow, in KiB */
export function startWorkerProcess(
  env: Record<string, string> = {},
  queues?: string,
  fileLimit?: number,
): Promise<TestProcess> {
  return startProcess('worker', queues ? ['--queues', queues] : [], env, '', fileLimit);
}

/** Ends whatever is still running; for test.after.always. */
export async function killProcesses(): Promise<void> {
  // What a killed process has run is missing in the coverage report.
  const ending = process.env.NODE_V8_COVERAGE ? [...started].map((child) => endOf(child, 'SIGTERM')) : [];
  if (ending.length > 0) await Promise.race([Promise.all(ending), sleep(15_000)]);
  await Promise.all([...started].map((child) => endOf(child, 'SIGKILL')));
}

/** Runs the command line to its end. @returns what it wrote, and its exit code */
export async function runCli(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ output: string; errors: string; code: number | null }> {
  const child = spawn(process.execPath, [resolve(config.root, 'build/src/api/cli/main.js'), ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const written: string[] = [];
  const errors: string[] = [];
  child.stdout.on('data', (data: Buffer) => written.push(data.toString()));
  child.stderr.on('data', (data: Buffer) => errors.push(data.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { output: written.join(''), errors: errors.join(''), code };
}

async function startProcess(
  name: string,
  args: string[],
  env: Record<string, string>,
  url: string,
  fileLimit?: number,
): Promise<TestProcess> {
  const main = resolve(config.root, `build/src/${name}/main.js`);
  const [program, ...rest] = withFileLimit([process.execPath, main, ...args], fileLimit);
  const child = spawn(program, rest, {
    env: { ...process.env, LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  started.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => (output += data.toString()));
    // Into the log of the run, as by the service in this process: it explains unexpected answers.
    createInterface({ input: stream as Readable }).on('line', (line) => {
      if (line.startsWith('{"level":"error"')) process.stdout.write(`${line}\n`);
    });
  }
  const ready = once(child, 'message').then(() => true);
  // Not at its exit: its last output may still arrive.
  const ended = once(child, 'close').then(() => false);
  if (!(await Promise.race([ready, ended])))
    throw new Error(`the ${name} process ended at its start:\n${output}`);
  return {
    child,
    url,
    kill: async () => void (await endOf(child, 'SIGKILL')),
    stop: () => endOf(child, 'SIGTERM'),
    output: () => output,
  };
}

async function endOf(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const isOver = child.exitCode !== null || child.signalCode !== null;
  const end = isOver ? [child.exitCode] : (once(child, 'close') as Promise<[number | null]>);
  if (!isOver) child.kill(signal);
  const [code] = await end;
  started.delete(child);
  return code;
}
