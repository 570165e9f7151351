// Timers: a promise with a timeout, work that must not overlap itself, and time during which this process was running.

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

/** While a process is frozen or blocked, no peer can be called silent. */
const tickMs = 100;

let elapsedMs = 0;
let tickedAt = performance.now();

// A late tick means that the process was stopped; the gap counts as one tick.
setInterval(() => {
  const at = performance.now();
  elapsedMs += Math.min(at - tickedAt, 2 * tickMs);
  tickedAt = at;
}, tickMs).unref();

/** Milliseconds this process has been running, in steps of 100. */
export const processTime = (): number => elapsedMs;

/**
 * Calls `expire` once the process has been running for that long, at most 100 ms late.
 *
 * @returns a function that cancels it
 */
export function afterProcessTime(ms: number, expire: () => void): () => void {
  const due = elapsedMs + ms;
  let timer = setTimeout(check, ms);
  function check(): void {
    const left = due - elapsedMs;
    if (left <= 0) expire();
    else timer = setTimeout(check, Math.max(left, tickMs / 2));
  }
  return () => clearTimeout(timer);
}
