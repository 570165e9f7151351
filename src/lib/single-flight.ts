// Shares one computation of a costly value among concurrent callers.
import { inLastingContext } from './context.js';

/**
 * @param make computes the value of a key
 * @returns a function that gives a value at most `maxAgeMs` old; concurrent callers share one computation
 */
export function singleFlight<T>(
  make: (key: string) => Promise<T>,
): (key: string, maxAgeMs: number) => Promise<T> {
  const samples = new Map<string, { startedAt: number; value: Promise<T> }>();
  return (key, maxAgeMs) => {
    const known = samples.get(key);
    if (known && Date.now() - known.startedAt < maxAgeMs) return known.value;
    const value = inLastingContext(() => make(key));
    samples.set(key, { startedAt: Date.now(), value });
    value.catch(() => samples.delete(key));
    if (samples.size > 100) samples.delete(samples.keys().next().value as string);
    return value;
  };
}
