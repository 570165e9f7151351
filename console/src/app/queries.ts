// API queries: retried where it helps, refetched when a frame reports a change.
import { QueryCache, QueryClient, type Query, type QueryFilters } from '@tanstack/react-query';
import { Failure } from '../contract/api.ts';
import type { Frame } from '../contract/live.ts';
import { recoveryMs } from '../parts/list/recovery.ts';

const maxTries = 3;
/** A lost network is reported quickly; queries are repeated until it is back. */
const maxTriesOffline = 1;

const mayHelp = (count: number, error: unknown): boolean =>
  error instanceof Failure &&
  error.isPassing &&
  error.status !== 429 &&
  count < (error.isOffline ? maxTriesOffline : maxTries);

const waitMs = (count: number, error: unknown): number =>
  error instanceof Failure && error.details.retryAfter ? error.details.retryAfter * 1000 : 500 * 2 ** count;

/** What somebody may see no longer is not shown any more. */
function dropDenied(error: unknown, query: { setState(state: { data: undefined }): void }): void {
  if (error instanceof Failure && error.code === 'no_permission') query.setState({ data: undefined });
}

export const createQueries = (): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({ onError: dropDenied }),
    defaultOptions: {
      queries: {
        networkMode: 'always',
        staleTime: 3000,
        retry: mayHelp,
        retryDelay: waitMs,
        refetchInterval: recoveryMs,
        refetchOnReconnect: 'always',
      },
      // Writes are repeated by the user only, never by themselves.
      mutations: { networkMode: 'always', retry: false },
    },
  });

const quietMs = 1000;

/**
 * Refetches stale queries. A first answer under way may be older than the frame, so it is fetched once more.
 */
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

/** Covers changes before the socket was open. */
export const outdateAll = (client: QueryClient): void => outdate(client, { predicate: byFrames });

/** Marks queries of changed scopes as stale, at most once a second. */
export function followFrames(client: QueryClient): (frame: Frame) => void {
  const waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = 0;
  const flush = () => {
    const scopes = new Set(waiting);
    waiting.clear();
    timer = undefined;
    last = performance.now();
    outdate(client, {
      predicate: ({ meta }) => ((meta?.scopes ?? []) as readonly string[]).some((scope) => scopes.has(scope)),
    });
  };
  return ({ type, data }) => {
    if (type === 'notification' || type === 'read' || type === 'read_all')
      return outdate(client, { queryKey: ['notifications'] });
    if (type !== 'changed') return;
    for (const scope of (data as { scopes: string[] }).scopes) waiting.add(scope);
    timer ??= setTimeout(flush, Math.max(0, last + quietMs - performance.now()));
  };
}
