// Polls until a condition holds.
import { setTimeout as sleep } from 'node:timers/promises';

/** The first truthy value the question yields. @throws Error when there is none within the time */
export async function until<T>(
  question: () => Promise<T> | T,
  ms = 45_000,
  everyMs = 25,
): Promise<NonNullable<T>> {
  const deadline = Date.now() + ms;
  for (;;) {
    const value = await question();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`nothing came of ${question.toString()} within ${ms} ms`);
    await sleep(everyMs);
  }
}
