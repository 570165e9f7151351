// The processes under measurement: API, worker and baselines, each a child of its own that ends with the benchmark.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { freePort } from '../../test/support/free-port.js';
import type { Site } from './site.js';

export interface Process {
  url: string;
  /** Sends a message and resolves with the answer. */
  ask<T>(message: unknown): Promise<T>;
  /** Resident memory in MB (10^6 bytes). */
  memory(): number;
  /** Processor time used so far, in milliseconds. */
  processorMs(): number;
  stop(): Promise<void>;
}

const build = resolve(import.meta.dirname, '../..');
const children = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export const startApi = (site: Site): Promise<Process> => startProcess('src/api/main.js', site);

/** A worker, by default as ecosystem.config.js runs the quick one. */
export const startWorker = (site: Site, queues = 'payments,channels,logs,notifications'): Promise<Process> =>
  startProcess('src/worker/main.js', site, ['--queues', queues]);

/** A worker as ecosystem.config.js runs the bulk one. */
export const startBulkWorker = (site: Site): Promise<Process> =>
  startWorker(site, 'exports,imports,files,maintenance');

/** One of bench/baselines/*.ts. */
export const startBaseline = (name: string, site: Site, env: Record<string, string> = {}): Promise<Process> =>
  startProcess(`bench/baselines/${name}.js`, { ...site, env: { ...site.env, ...env } });

/** Another script of the build. */
export const startScript = (script: string, site: Site): Promise<Process> => startProcess(script, site);

/** A program that ends with the benchmark. */
export function spawnChild(program: string, args: string[]): ChildProcess {
  const child = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  children.add(child);
  return child;
}

/** Ends every child, gracefully as far as it goes. */
export async function stopProcesses(): Promise<void> {
  await Promise.all([...children].map(end));
}

async function startProcess(script: string, { env }: Site, args: string[] = []): Promise<Process> {
  const port = await freePort();
  const child = spawn(process.execPath, [resolve(build, script), ...args], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.add(child);
  await answer(child, script);
  return {
    url: `http://127.0.0.1:${port}`,
    async ask<T>(message: unknown) {
      child.send(message as object);
      return (await answer(child, script)) as T;
    },
    memory: () => residentBytes(child.pid as number) / 1e6,
    processorMs: () => processorTicksMs(child.pid as number),
    stop: () => end(child),
  };
}

async function answer(child: ChildProcess, script: string): Promise<unknown> {
  const gone = new AbortController();
  try {
    return await Promise.race([
      once(child, 'message', { signal: gone.signal }).then(([message]) => message as unknown),
      once(child, 'exit', { signal: gone.signal }).then(([code]) => {
        throw new Error(`${script} ended with exit code ${code}`);
      }),
    ]);
  } finally {
    gone.abort();
  }
}

/** Ends a child, gracefully as far as it goes. */
export async function end(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const impatient = setTimeout(() => child.kill('SIGKILL'), 12_000);
  await exit;
  clearTimeout(impatient);
}

/** Linux counts processor time in hundredths of a second. */
const tickMs = 10;

// proc(5): utime and stime are the 14th and 15th field, counted behind the name in brackets.
function processorTicksMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * tickMs;
}

function residentBytes(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}
