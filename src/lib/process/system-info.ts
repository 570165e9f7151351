// Figures of this machine and this process. No input of a request reaches the commands behind it.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { hostname, loadavg } from 'node:os';
import { currentLoad, fsSize, mem } from 'systeminformation';
import { withTimeout } from './with-timeout.js';

export interface SystemInfo {
  cpu: { cores: number; usage: number; percent: number };
  memory: { total: number; used: number; usage: number; percent: number };
  disk: { total: number; used: number; usage: number; percent: number };
  go: { version: string; goroutines: number; gc_pause: string };
  runtime: {
    name: string;
    version: string;
    uptime: number;
    heap_used: number;
    heap_total: number;
    rss: number;
    event_loop_lag_ms: number;
  };
  load: number[];
  system: { hostname: string; os: string; arch: string };
}

/** Time for the sizes of the disks; without them they are 0. */
const diskTimeoutMs = 2000;

// Runs df, which waits for every file system, also for a shared folder that hangs: one at a time.
let running: ReturnType<typeof fsSize> | undefined;
const disksNow = () => (running ??= fsSize().finally(() => (running = undefined)));

let lastPauseMs = 0;
const delay = monitorEventLoopDelay({ resolution: 20 });

/** Starts measuring; without it pauses and lag stay 0, and the first CPU figure takes half a second. */
export function watchSystem(): void {
  delay.enable();
  new PerformanceObserver((list) => {
    lastPauseMs = list.getEntries().at(-1)?.duration ?? lastPauseMs;
  }).observe({ entryTypes: ['gc'] });
  void currentLoad();
}

/**
 * One sample. CPU usage covers the time since the previous sample; sizes are bytes, times seconds unless named
 * otherwise. The disk is 0 while a file system does not answer.
 */
export async function sampleSystem(): Promise<SystemInfo> {
  const [load, memory, disks] = await Promise.all([
    currentLoad(),
    mem(),
    withTimeout(disksNow(), diskTimeoutMs, (resolve) => resolve([])),
  ]);
  const root = disks.find(({ mount }) => mount === '/') ?? disks[0];
  const lag = Number.isNaN(delay.mean) ? 0 : Math.max(0, delay.mean / 1e6 - 20);
  delay.reset();
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  return {
    cpu: { cores: load.cpus.length, ...percent(load.currentLoad) },
    memory: { total: memory.total, used: memory.active, ...share(memory.active, memory.total) },
    disk: { total: root?.size ?? 0, used: root?.used ?? 0, ...share(root?.used ?? 0, root?.size ?? 0) },
    go: {
      version: process.version,
      goroutines: process.getActiveResourcesInfo().length,
      gc_pause: `${lastPauseMs.toFixed(1)}ms`,
    },
    runtime: {
      name: 'node',
      version: process.version,
      uptime: Math.round(process.uptime()),
      heap_used: heapUsed,
      heap_total: heapTotal,
      rss,
      event_loop_lag_ms: round(lag),
    },
    load: loadavg().map(round),
    system: { hostname: hostname(), os: process.platform, arch: process.arch },
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;

// The specification says `usage`, other clients of this API read `percent`; both are the same figure.
const percent = (value: number): { usage: number; percent: number } => ({
  usage: round(value),
  percent: round(value),
});

const share = (used: number, total: number): { usage: number; percent: number } =>
  percent(total === 0 ? 0 : (used / total) * 100);
