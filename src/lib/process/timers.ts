// A promise with a timeout, and a timer of work that must not overlap itself.

type Executor<T> = ConstructorParameters<typeof Promise<T>>[0];

/**
 * The first promise if it ends in time, else the decision of `late`.
 *
 * @param late settles the result after that many milliseconds
 */
export function withTimeout<T>(first: Promise<T>, ms: number, late: Executor<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const second = new Promise<T>((resolve, reject) => {
    timer = setTimeout(late, ms, resolve, reject);
  });
  return Promise.race([first, second]).finally(() => clearTimeout(timer));
}

/** Runs a task every so many milliseconds, unless it still runs. The task never throws. @returns how to stop */
export function every(ms: number, task: () => Promise<unknown>): () => void {
  let isRunning = false;
  const timer = setInterval(() => {
    if (isRunning) return;
    isRunning = true;
    void task().finally(() => (isRunning = false));
  }, ms);
  timer.unref();
  return () => clearInterval(timer);
}
