// The load generator: autocannon in the benchmark's process, the same for the service and its baseline.
import autocannon, { type Options, type Result } from 'autocannon';
import type { Process } from './processes.js';

export interface Figures {
  perSecond: number;
  /** Processor time of the measured processes (database and Redis apart) for one request, in milliseconds. */
  processorMs?: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

export interface Measured extends Figures {
  requests: number;
  seconds: number;
}

/** Connections of the list and callback loads. */
export const connections = 32;

/**
 * Sends requests for a time or up to an amount.
 *
 * @param accept whether the body of an answer is right
 * @throws Error when a single answer is not 2xx, not accepted, or missing
 */
export async function load(options: Options, accept: (body: string) => boolean): Promise<Measured> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  let lastAt = startedAt;
  let refused: string | undefined;
  const result = await new Promise<Result>((resolve, reject) => {
    const verifyBody = (body: unknown): boolean => {
      const right = accept(body as string);
      if (!right) refused ??= body as string;
      return right;
    };
    const instance = autocannon(
      { connections, sampleInt: 100, ...options, verifyBody },
      (error: unknown, done) => (error ? reject(error) : resolve(done)),
    );
    // Counted here, to the last answer: autocannon's own figures are rounded to its sampling interval.
    instance.on('response', (_client, _status, _bytes, ms) => {
      latencies.push(ms);
      lastAt = performance.now();
    });
  });
  const { errors, timeouts, non2xx, mismatches } = result;
  if (errors + non2xx + mismatches > 0 || latencies.length === 0) {
    const counts = JSON.stringify({ answers: latencies.length, errors, timeouts, non2xx, mismatches });
    throw new Error(`wrong answers from ${options.url}: ${counts}${refused ? `, such as ${refused}` : ''}`);
  }
  const seconds = (lastAt - startedAt) / 1000;
  return {
    requests: latencies.length,
    seconds,
    perSecond: latencies.length / seconds,
    ...percentiles(latencies),
  };
}

/** The figures of a load together with what it cost these processes. */
export async function costing<T extends Measured>(processes: Process[], run: () => Promise<T>): Promise<T> {
  const used = (): number => processes.reduce((sum, process) => sum + process.processorMs(), 0);
  const before = used();
  const measured = await run();
  return { ...measured, processorMs: (used() - before) / measured.requests };
}

/** The middle and the 99th percentile of latencies in milliseconds. */
export function percentiles(latencies: number[]): { p50: number; p99: number } {
  const sorted = Float64Array.from(latencies).sort();
  const at = (part: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] as number;
  return { p50: at(0.5), p99: at(0.99) };
}
