// Where the focus goes when what had it is gone, as a deleted row or a screen that was left: to the content of the page, so that
// Tab continues there and not at the menu.

/** After what is being drawn, and after what takes the focus itself. */
export function keepFocus(): void {
  setTimeout(() =>
    requestAnimationFrame(() => {
      if (document.activeElement === document.body)
        document.getElementById('content')?.focus({ preventScroll: true });
    }),
  );
}
