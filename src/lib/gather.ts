// Batches work that is cheaper together: requests made during one batch form the next.
import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { inNoContext } from './context.js';
import { withTimeout } from './with-timeout.js';

/** Timeout of a batch. */
const patienceMs = 20;

export interface Gathering {
  /** Max requests per batch. */
  max: number;
  /** Max concurrent batches. */
  atOnce: number;
}

/**
 * Makes one function out of one that does many at a time. Who asks while nothing is under way goes alone and at once, so
 * batches are as large as the load is high. Batches belong to no request.
 *
 * @param work answers one result, or its error, for each of what was asked, in that order
 */
export function gathered<K, V>(
  work: (asked: readonly K[]) => Promise<(V | Error)[]>,
  { max, atOnce }: Gathering,
): (asked: K) => Promise<V> {
  const room = pLimit(atOnce);
  let latest: Promise<unknown> = Promise.resolve();
  const loader = new DataLoader<K, V>(
    (asked) => {
      const done = room(() => work(asked));
      latest = done.catch(() => undefined);
      return done;
    },
    {
      cache: false,
      maxBatchSize: max,
      batchScheduleFn: (send) =>
        void inNoContext(() => withTimeout(latest, patienceMs, (resolve) => resolve(undefined)).then(send)),
    },
  );
  return (asked) => loader.load(asked);
}
