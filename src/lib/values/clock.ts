// The clock of the service; tests move it.

let offsetMs = 0;
let stoppedMs: number | undefined;

/** The current instant. */
export function now(): Date {
  return new Date(stoppedMs ?? Date.now() + offsetMs);
}

/** Sets the clock of this process; it keeps running. Without an argument it is reset. */
export function setClock(to?: Date): void {
  stoppedMs = undefined;
  offsetMs = to ? to.getTime() - Date.now() : 0;
}

/** Stops the clock of this process at that instant. */
export function stopClock(at: Date): void {
  stoppedMs = at.getTime();
}
