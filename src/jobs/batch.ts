// Gathers single items from jobs that run at the same time and writes them together.

/**
 * A function that hands its item to the next batch and is done when that batch is written. If writing the batch fails,
 * every item of it fails, and each job is retried by itself.
 *
 * @param waitMs how long the first item waits for company
 * @param most how many items are written together
 */
export function batched<T>(
  write: (items: T[]) => Promise<void>,
  waitMs: number,
  most: number,
): (item: T) => Promise<void> {
  let items: T[] = [];
  let flushed: Promise<void> | undefined;
  let flush: (() => void) | undefined;
  return (item) => {
    items.push(item);
    flushed ??= new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => flush?.(), waitMs);
      flush = () => {
        clearTimeout(timer);
        const batch = items;
        items = [];
        flushed = undefined;
        flush = undefined;
        write(batch).then(resolve, reject);
      };
    });
    const done = flushed;
    if (items.length >= most) flush?.();
    return done;
  };
}
