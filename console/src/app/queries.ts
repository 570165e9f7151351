// How the API is asked: tried again when that may help, asked anew when a frame says that something has changed.
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query';
import { Failure } from '../contract/api.ts';
import type { Frame } from '../contract/live.ts';
import { recoveryMs } from '../parts/recovery.ts';
import { reportAnswer, reportFailure } from './trouble.ts';

const maxTries = 3;

const mayHelp = (count: number, error: unknown): boolean =>
  error instanceof Failure && error.isPassing && error.status !== 429 && count < maxTries;

const waitMs = (count: number, error: unknown): number =>
  error instanceof Failure && error.details.retryAfter ? error.details.retryAfter * 1000 : 500 * 2 ** count;

export const createQueries = (): QueryClient =>
  new QueryClient({
    queryCache: new QueryCache({ onError: reportFailure, onSuccess: reportAnswer }),
    mutationCache: new MutationCache({ onSuccess: reportAnswer }),
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
    void client.invalidateQueries({
      predicate: ({ meta }) => ((meta?.scopes ?? []) as readonly string[]).some((scope) => scopes.has(scope)),
    });
  };
  return ({ type, data }) => {
    if (type === 'notification' || type === 'read' || type === 'read_all') {
      const queryKey = ['notifications'];
      void client.invalidateQueries({ queryKey });
      // A first answer that is still on its way would otherwise count as new.
      if (client.isFetching({ queryKey }) > 0)
        setTimeout(() => void client.invalidateQueries({ queryKey }), quietMs);
      return;
    }
    if (type !== 'changed') return;
    for (const scope of (data as { scopes: string[] }).scopes) waiting.add(scope);
    timer ??= setTimeout(flush, Math.max(0, last + quietMs - Date.now()));
  };
}
