// Shows a banner while the service does not answer.
import { useSyncExternalStore } from 'react';
import { transport, type Failure } from '../contract/api.ts';
import { reconnectNow } from '../contract/live.ts';

let outage: Failure | undefined;
const watchers = new Set<() => void>();

function set(next: Failure | undefined): void {
  if (next === outage) return;
  outage = next;
  for (const watcher of watchers) watcher();
}

transport.onAnswer = (failure) => {
  if (failure) return set(failure);
  if (!outage) return undefined;
  set(undefined);
  return reconnectNow();
};

export const useOutage = (): Failure | undefined =>
  useSyncExternalStore(
    (watcher) => {
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    () => outage,
  );
