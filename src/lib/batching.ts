// Batches work that is cheaper together: requests made during one batch form the next.
import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { currentContext, inNoContext, inSharedContext, type Context } from './context.js';
import { withTimeout } from './with-timeout.js';

/** Timeout of a batch. */
const patienceMs = 20;

export interface BatchLimits {
  /** Max requests per batch. */
  max: number;
  /** Max concurrent batches. */
  atOnce: number;
}

interface Asked<K> {
  key: K;
  context: Context | undefined;
}

/**
 * Makes one function out of one that does many at a time. Who asks while nothing is under way goes alone and at once, so
 * batches are as large as the load is high. A batch is under the trace of the first request in it, and otherwise nobody's.
 *
 * @param work answers one result, or its error, for each of what was asked, in that order
 */
export function batched<K, V>(
  work: (asked: readonly K[]) => Promise<(V | Error)[]>,
  { max, atOnce }: BatchLimits,
): (asked: K) => Promise<V> {
  const room = pLimit(atOnce);
  let latest: Promise<unknown> = Promise.resolve();
  const loader = new DataLoader<Asked<K>, V>(
    (asked) => {
      const keys = asked.map(({ key }) => key);
      const first = asked.find(({ context }) => context)?.context;
      const done = room(() => inSharedContext(first, () => work(keys)));
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
  return (key) => loader.load({ key, context: currentContext() });
}
