// A promise with a deadline.

type Executor<T> = ConstructorParameters<typeof Promise<T>>[0];

/**
 * The first promise if it ends in time, else what `late` decides.
 *
 * @param late settles the result when that many milliseconds have passed
 */
export function withTimeout<T>(first: Promise<T>, ms: number, late: Executor<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const second = new Promise<T>((resolve, reject) => {
    timer = setTimeout(late, ms, resolve, reject);
  });
  return Promise.race([first, second]).finally(() => clearTimeout(timer));
}
