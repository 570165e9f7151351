// Polls until a condition holds.
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * The first truthy value the question yields.
 *
 * @param everyMs by default 25, and a tenth of the time waited after a while, as questions cost processor time
 * @throws Error when there is none within the time
 */
export async function until<T>(
  question: () => Promise<T> | T,
  ms = 45_000,
  everyMs?: number,
): Promise<NonNullable<T>> {
  const begun = Date.now();
  const deadline = begun + ms;
  for (;;) {
    const value = await question();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`nothing came of ${question.toString()} within ${ms} ms`);
    await sleep(everyMs ?? Math.min(Math.max((Date.now() - begun) / 10, 25), 250));
  }
}
