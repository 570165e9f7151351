// Keeps the page behind a modal from scrolling, by the style object, which the content security policy allows.
import { useLayoutEffect } from 'react';

let locks = 0;

export default function useScrollLocker(isLocked?: boolean): void {
  useLayoutEffect(() => {
    if (!isLocked) return undefined;
    locks += 1;
    document.body.style.overflowY = 'hidden';
    return () => {
      locks -= 1;
      if (locks === 0) document.body.style.overflowY = '';
    };
  }, [isLocked]);
}
