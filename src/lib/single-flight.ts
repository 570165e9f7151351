// Shares one computation of a costly value among concurrent callers.
import { inLastingContext } from './context.js';

/**
 * @param make computes the value of a key
 * @returns a function that gives a value at most `maxAgeMs` old; callers share one computation for as long as it runs
 */
export function singleFlight<T>(
  make: (key: string) => Promise<T>,
): (key: string, maxAgeMs: number) => Promise<T> {
  const samples = new Map<string, { startedAt: number; isPending: boolean; value: Promise<T> }>();
  return (key, maxAgeMs) => {
    const known = samples.get(key);
    // A computation that hangs must not be joined by another one with every interval.
    if (known && (known.isPending || Date.now() - known.startedAt < maxAgeMs)) return known.value;
    const value = inLastingContext(() => make(key));
    const sample = { startedAt: Date.now(), isPending: true, value };
    samples.set(key, sample);
    value.then(
      () => (sample.isPending = false),
      () => samples.delete(key),
    );
    if (samples.size > 100) samples.delete(samples.keys().next().value as string);
    return value;
  };
}
