// Whether what has called is still shown when the answer comes.
import { useEffect, useRef, type RefObject } from 'react';

/** Turns false when somebody leaves: where they are by then they stay. */
export function useIsShown(): Readonly<RefObject<boolean>> {
  const isShown = useRef(true);
  useEffect(() => {
    isShown.current = true;
    return () => void (isShown.current = false);
  }, []);
  return isShown;
}
