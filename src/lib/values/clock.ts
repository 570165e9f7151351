// The clock of the service; tests move it.

/** The clocks of two machines may differ by so much. */
export const skewMs = 2000;

let offsetMs = 0;
let stoppedMs: number | undefined;

export function now(): Date {
  return new Date(stoppedMs ?? Date.now() + offsetMs);
}

export const ago = (ms: number): Date => new Date(now().getTime() - ms);

export const daysAgo = (days: number): Date => ago(days * 86_400_000);

/** Sets the clock of this process; it keeps running. Without an argument it is reset. */
export function setClock(to?: Date): void {
  stoppedMs = undefined;
  offsetMs = to ? to.getTime() - Date.now() : 0;
}

export function stopClock(at: Date): void {
  stoppedMs = at.getTime();
}
