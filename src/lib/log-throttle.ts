// Lines about what goes wrong again and again: the first at once, then one a minute with how many there were.

const everyMs = 60_000;

interface Silence {
  since: number;
  count: number;
}

const silences = new Map<string, Silence>();

/**
 * Calls `say` unless it was called for that subject within the last minute.
 *
 * @param say is told how often there was reason to, this time included
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
