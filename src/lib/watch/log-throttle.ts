// Throttles log lines of repeated failures: the first at once, then one a minute with a count.

const everyMs = 60_000;

interface Silence {
  since: number;
  count: number;
}

const silences = new Map<string, Silence>();

/**
 * Calls `say` at most once a minute per subject.
 *
 * @param say receives the number of occurrences since the last call, including this one
 */
export function throttled(subject: string, say: (count: number) => void): void {
  const known = silences.get(subject);
  const at = Date.now();
  if (known && at - known.since < everyMs) {
    known.count++;
    return;
  }
  silences.set(subject, { since: at, count: 0 });
  say((known?.count ?? 0) + 1);
}
