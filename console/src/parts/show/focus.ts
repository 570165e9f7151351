// Where the focus goes when the element that had it is gone: a deleted row, a closed drawer, a screen that was left.
import { useEffect, useState } from 'react';

/**
 * Moves the focus to the content of the page, so that Tab continues there and not at the menu; only when, after the next
 * rendering, nothing else has taken it.
 */
export function keepFocus(): void {
  setTimeout(() =>
    requestAnimationFrame(() => {
      if (document.activeElement === document.body)
        document.getElementById('content')?.focus({ preventScroll: true });
    }),
  );
}

/**
 * Returns the focus from a closed drawer or dialog to what opened it.
 *
 * @param hasRoute whether it has a URL of its own, so that a link may have opened it
 */
export function useReturnFocus(hasRoute = true): void {
  const [opener] = useState(() => document.activeElement);
  // A page that the drawer replaced is rendered again, and with it the link that opened the drawer.
  const [address] = useState(() => location.pathname + location.search);
  useEffect(
    () => () => {
      requestAnimationFrame(() => {
        // Neither the content nor the question whether to discard, which is still there, is a place to stay.
        const at = document.activeElement;
        if (at && at !== document.body && at.id !== 'content' && !at.closest('.ant-modal-confirm')) return;
        // The content had it if the link had given way before the drawer was loaded.
        const isGone = !opener?.isConnected || opener === document.body || opener.id === 'content';
        const isElsewhere = location.pathname + location.search !== address;
        const again = hasRoute && isElsewhere && document.querySelector(`a[href=${JSON.stringify(address)}]`);
        const target = (isGone && again) || opener;
        if (target instanceof HTMLElement) target.focus();
        keepFocus();
      });
    },
    [opener, address, hasRoute],
  );
}
