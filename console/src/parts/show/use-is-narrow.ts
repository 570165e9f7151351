// Whether the screen is too narrow for a table.
import { useSyncExternalStore } from 'react';

const narrow = matchMedia('(max-width: 600px)');

export const useIsNarrow = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener);
      return () => narrow.removeEventListener('change', listener);
    },
    () => narrow.matches,
  );
