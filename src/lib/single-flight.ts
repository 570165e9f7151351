// A costly value that many ask for at the same time: made once, shared while it is fresh.
import { inLastingContext } from './context.js';

/**
 * @param make makes a value for a key
 * @returns a function that gives a value at most `maxAgeMs` old; callers at the same time share one making
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
