// Where the focus goes when what had it is gone, as a deleted row, a drawer that is closed or a screen that was left.
import { useEffect, useState } from 'react';

/**
 * To the content of the page, so that Tab continues there and not at the menu: after what is being drawn, and after what
 * takes the focus itself.
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
 * From a drawer or dialog that is closed back to what opened it.
 *
 * @param hasRoute whether it has an address of its own, which a link may lead to
 */
export function useReturnFocus(hasRoute = true): void {
  const [opener] = useState(() => document.activeElement);
  // A page that gave way to the drawer is drawn anew, and so is the link there that leads to it.
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
