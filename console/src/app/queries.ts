// How the API is asked: tried again when that may help, asked anew when a frame says that something has changed.
import { QueryClient, type Query, type QueryFilters } from '@tanstack/react-query';
import { Failure } from '../contract/api.ts';
import type { Frame } from '../contract/live.ts';
import { recoveryMs } from '../parts/recovery.ts';

const maxTries = 3;
/** A network that is gone is said soon; it is asked again by itself as long as it is. */
const maxTriesOffline = 1;

const mayHelp = (count: number, error: unknown): boolean =>
  error instanceof Failure &&
  error.isPassing &&
  error.status !== 429 &&
  count < (error.isOffline ? maxTriesOffline : maxTries);

const waitMs = (count: number, error: unknown): number =>
  error instanceof Failure && error.details.retryAfter ? error.details.retryAfter * 1000 : 500 * 2 ** count;

export const createQueries = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      queries: {
        ...{ networkMode: 'always', staleTime: 3000, retry: mayHelp, retryDelay: waitMs },
        ...{ refetchInterval: recoveryMs, refetchOnReconnect: 'always' },
      },
      // What was not sent goes out again with the same press of a button, never by itself.
      mutations: { networkMode: 'always', retry: false },
    },
  });

const quietMs = 1000;

/** Asks again what a frame has made stale. A first answer on its way may be older than the frame, so it is asked for once more afterwards. */
function outdate(client: QueryClient, filters: QueryFilters): void {
  const unanswered = client
    .getQueryCache()
    .findAll({ ...filters, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined);
  void client.invalidateQueries(filters);
  for (const query of unanswered) {
    const again = () => client.invalidateQueries({ queryKey: query.queryKey, exact: true });
    query.promise?.then(again, () => undefined);
  }
}

const byFrames = ({ meta, queryKey }: Query): boolean =>
  queryKey[0] === 'notifications' || ((meta?.scopes ?? []) as readonly string[]).length > 0;

/** What frames would have made stale before there were any. */
export const outdateAll = (client: QueryClient): void => outdate(client, { predicate: byFrames });

/** Makes what depends on changed scopes stale, at most once a second. */
export function followFrames(client: QueryClient): (frame: Frame) => void {
  const waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  const flush = () => {
    const scopes = new Set(waiting);
    waiting.clear();
    timer = undefined;
    last = Date.now();
    outdate(client, {
      predicate: ({ meta }) => ((meta?.scopes ?? []) as readonly string[]).some((scope) => scopes.has(scope)),
    });
  };
  return ({ type, data }) => {
    if (type === 'notification' || type === 'read' || type === 'read_all')
      return outdate(client, { queryKey: ['notifications'] });
    if (type !== 'changed') return;
    for (const scope of (data as { scopes: string[] }).scopes) waiting.add(scope);
    timer ??= setTimeout(flush, Math.max(0, last + quietMs - Date.now()));
  };
}
