// The one clock of the service, so that months and deadlines can be tried out.

let offsetMs = 0;

/** The present instant. */
export function now(): Date {
  return new Date(Date.now() + offsetMs);
}

/** Moves the clock of this process to that instant; it goes on from there. Without an argument it is right again. */
export function setClock(to?: Date): void {
  offsetMs = to ? to.getTime() - Date.now() : 0;
}
