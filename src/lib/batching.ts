// Batches work that is cheaper together: requests made during one batch form the next.
import DataLoader from 'dataloader';
import pLimit from 'p-limit';
import { currentContext, inNoContext, inSharedContext, type Context } from './context.js';
import { withTimeout } from './with-timeout.js';

/** Max wait for the previous batch. */
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
 * Turns a function over many keys into one over a single key. A request that finds no batch under way runs at
 * once, so batch sizes follow the load. A batch runs under the trace of its first request, without its actor.
 *
 * @param work returns one result or error per key, in order
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
