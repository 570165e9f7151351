// A value outside of React that components follow.
import { useSyncExternalStore } from 'react';

export function createStore<T>(value: T) {
  let current = value;
  const listeners = new Set<() => void>();
  const get = (): T => current;
  const subscribe = (listener: () => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return {
    get,
    set(next: T): void {
      current = next;
      for (const listener of listeners) listener();
    },
    use: (): T => useSyncExternalStore(subscribe, get),
  };
}
