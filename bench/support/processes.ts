// The processes under measurement: API, workers and baselines, each a child of its own that ends with the benchmark.
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { freePort } from '../../test/support/servers/free-port.js';
import type { Site } from './site.js';

const build = resolve(import.meta.dirname, '../..');
const children = new Set<ChildProcess>();

export const startApi = (site: Site): Promise<Process> => start('src/api/main.js', site);

/** A worker as ecosystem.config.js runs the quick one. */
export const startWorker = (site: Site): Promise<Process> =>
  start('src/worker/main.js', site, ['--queues', 'payments,channels,logs,notifications']);

/** A worker as ecosystem.config.js runs the bulk one. */
export const startBulkWorker = (site: Site): Promise<Process> =>
  start('src/worker/main.js', site, ['--queues', 'exports,imports,files,maintenance']);

/** A script of bench/. */
export const startScript = (name: string, site: Site): Promise<Process> => start(`bench/${name}.js`, site);

export type Process = Awaited<ReturnType<typeof start>>;

async function start(script: string, { env }: Site, args: string[] = []) {
  const port = await freePort();
  const child = spawn(process.execPath, [resolve(build, script), ...args], {
    env: { ...process.env, ...env, PORT: String(port) },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  children.add(child);
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${script} ended with exit code ${code}`);
  });
  ended.catch(() => undefined); // Nobody may be waiting for an answer.
  const answer = (): Promise<unknown[]> => Promise.race([once(child, 'message'), ended]);
  await answer(); // that it is ready
  return {
    url: `http://127.0.0.1:${port}`,
    /** Sends a message and resolves with the answer. */
    async ask<T>(message: object): Promise<T> {
      child.send(message);
      const [answered] = await answer();
      return answered as T;
    },
    /** Resident memory in MB (10^6 bytes). */
    memory: () => statusOf(child, 'VmRSS'),
    /** The most of it since the last call of this. */
    peakMemory(): number {
      const peak = statusOf(child, 'VmHWM');
      writeFileSync(`/proc/${child.pid}/clear_refs`, '5'); // proc(5): begins the peak anew
      return peak;
    },
    stop: () => end(child),
  };
}

/** Ends a child gracefully. */
async function end(child: ChildProcess): Promise<void> {
  children.delete(child);
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  await exit;
}

export async function stopProcesses(): Promise<void> {
  await Promise.all([...children].map(end));
}

// In MB; the file has kB of 1,024 bytes.
function statusOf({ pid }: ChildProcess, name: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024) / 1e6;
}
