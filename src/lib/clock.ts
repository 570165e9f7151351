// The one clock of the service, so that months and deadlines can be tried out.

let offsetMs = 0;
let stoppedMs: number | undefined;

/** The present instant. */
export function now(): Date {
  return new Date(stoppedMs ?? Date.now() + offsetMs);
}

/** Moves the clock of this process to that instant; it goes on from there. Without an argument it is right again. */
export function setClock(to?: Date): void {
  stoppedMs = undefined;
  offsetMs = to ? to.getTime() - Date.now() : 0;
}

/** Stops the clock of this process at that instant, until it is set. */
export function stopClock(at: Date): void {
  stoppedMs = at.getTime();
}
