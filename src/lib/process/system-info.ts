// Figures of this machine and this process, without starting a program: that would stop the event loop.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { statfs } from 'node:fs/promises';
import { cpus, hostname, loadavg } from 'node:os';
import { diskUsage } from './disk.js';

let lastPauseMs = 0;
const delay = monitorEventLoopDelay({ resolution: 20 });

let processorTimes = timesOf();

function timesOf(): { idle: number; total: number } {
  const all = cpus().map(({ times }) => times);
  const sum = (numbers: number[]): number => numbers.reduce((one, other) => one + other, 0);
  return { idle: sum(all.map(({ idle }) => idle)), total: sum(all.flatMap((times) => Object.values(times))) };
}

/** Share of processor time in use since the previous call, in percent. */
function processorUsage(): number {
  const before = processorTimes;
  processorTimes = timesOf();
  const passed = processorTimes.total - before.total;
  return passed === 0 ? 0 : 100 * (1 - (processorTimes.idle - before.idle) / passed);
}

/** Starts measuring; without it pauses and lag stay 0. */
export function watchSystem(): void {
  delay.enable();
  new PerformanceObserver((list) => {
    lastPauseMs = list.getEntries().at(-1)?.duration ?? lastPauseMs;
  }).observe({ entryTypes: ['gc'] });
}

/**
 * One sample. CPU usage covers the time since the previous one; sizes are bytes, times seconds unless named
 * otherwise.
 */
export async function sampleSystem() {
  // Without a local storage that answers, that of the system.
  const disk = diskUsage().catch(() => statfs('/'));
  // Loaded with the first sample.
  const { mem } = await import('systeminformation');
  const [memory, { blocks, bsize, bfree }] = await Promise.all([mem(), disk]);
  const diskSize = blocks * bsize;
  const diskUsed = (blocks - bfree) * bsize;
  const lag = Number.isNaN(delay.mean) ? 0 : Math.max(0, delay.mean / 1e6 - 20);
  delay.reset();
  const { heapUsed, heapTotal, rss } = process.memoryUsage();
  return {
    cpu: { cores: cpus().length, ...percent(processorUsage()) },
    memory: { total: memory.total, used: memory.active, ...share(memory.active, memory.total) },
    disk: { total: diskSize, used: diskUsed, ...share(diskUsed, diskSize) },
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
