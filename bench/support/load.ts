// The load generator: autocannon in the benchmark's process, the same for the service and its baseline.
import autocannon, { type Options, type Result } from 'autocannon';

export interface Measured {
  perSecond: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

export const isSuccess = (body: string): boolean => body.startsWith('{"code":200');

/**
 * Sends requests over 32 connections for a time or up to an amount.
 *
 * @param accept whether the body of an answer is right
 * @throws Error when a single answer is not 2xx, not accepted, or missing
 */
export async function load(options: Options, accept = isSuccess): Promise<Measured> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  let lastAt = startedAt;
  let refused = '';
  const verifyBody = (body: unknown): boolean => {
    const isRight = accept(body as string);
    if (!isRight) refused = body as string;
    return isRight;
  };
  const result = await new Promise<Result>((resolve, reject) => {
    const instance = autocannon(
      // autocannon ignores `Connection: close`, which the service sends after 1,000 requests.
      { connections: 32, reconnectRate: 1000, sampleInt: 100, ...options, verifyBody },
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
    throw new Error(`wrong answers from ${options.url}: ${counts}, such as ${refused}`);
  }
  return measured(latencies, (lastAt - startedAt) / 1000);
}

/** @param latencies milliseconds of each request */
export function measured(latencies: number[], seconds: number): Measured {
  const sorted = Float64Array.from(latencies).sort();
  const at = (part: number): number => sorted[Math.floor(sorted.length * part)] as number;
  return { perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99) };
}
