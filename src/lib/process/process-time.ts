// Time during which this process was running. While it is frozen or blocked, no peer can be called silent.

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
