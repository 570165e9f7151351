// A timer of work that must not overlap itself.

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
