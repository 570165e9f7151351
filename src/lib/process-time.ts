// Time in which this process was running: while it is frozen, starved or blocked, no peer can be called silent.

const tickMs = 100;

let elapsedMs = 0;
let tickedAt = performance.now();

// A tick that comes late says that this process stood still; what it missed counts as one more tick.
setInterval(() => {
  const at = performance.now();
  elapsedMs += Math.min(at - tickedAt, 2 * tickMs);
  tickedAt = at;
}, tickMs).unref();

/** Milliseconds this process has been running, to the nearest 100. */
export const processTime = (): number => elapsedMs;

/**
 * Calls `expire` once the process has been running for that long, at most 100 ms later.
 *
 * @returns how to call it off
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
