// A list whose state is the URL.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useCallback, useMemo, useState } from 'react';
import { useSearchParams } from 'react-router';
import { call } from '../../contract/api.ts';
import { useSettings } from '../../contract/settings.ts';
import { foldedIn, labelColumn, type AnyRow, type Resource } from '../resource.ts';
import { isInstant } from '../show/time.ts';
import { decode, encode, type Checks, type ListState } from './codec.ts';
import { useEditQuery } from './edit-query.ts';
import { followMs } from './recovery.ts';

export interface Page {
  list: AnyRow[];
  total?: number;
}

export interface Change extends Partial<ListState> {
  /** The name that the dates were chosen by; empty for none. */
  period?: string;
}

const always = () => true;

export function useListState({ spec }: Resource) {
  const [search] = useSearchParams();
  const editQuery = useEditQuery();
  const checks = useMemo((): Checks => {
    const own = Object.entries(spec.filters).map(([name, field]) => [name, field.check ?? always] as const);
    return {
      ...Object.fromEntries(own),
      ...(spec.dateRange ? { start_time: isInstant, end_time: isInstant } : {}),
    };
  }, [spec]);
  const state = useMemo(() => decode(search, checks, spec.sortable ?? []), [search, checks, spec.sortable]);
  /**
   * Typing replaces the history entry, anything else adds one. Another filter starts at the first page. Filters that
   * are not named stay.
   */
  const change = useCallback(
    ({ filters, period, ...others }: Change, options?: { replace: boolean }) =>
      editQuery((query) => {
        const before = decode(query, checks, spec.sortable ?? []);
        const next = encode({
          ...before,
          ...(filters && { page: 1, filters: { ...before.filters, ...filters } }),
          ...others,
        });
        const columns = query.get('columns');
        if (columns) next.set('columns', columns);
        const chosen = period ?? query.get('period');
        if (chosen && next.has('start_time')) next.set('period', chosen);
        return next;
      }, options),
    [editQuery, checks, spec.sortable],
  );
  // Counted: what is typed and not yet in the address, or no value, goes too.
  const [cleared, setCleared] = useState(0);
  const clear = () => {
    setCleared((times) => times + 1);
    change({ filters: Object.fromEntries(Object.keys(checks).map((name) => [name, ''])) });
  };
  return { state, change, clear, cleared };
}

/** Hidden columns: all but those the address names, as chosen, or as declared; never the one that opens a row. */
export function useHiddenColumns(resource: Resource): readonly string[] {
  const settings = useSettings();
  const [search] = useSearchParams();
  const named = search.get('columns')?.split(',');
  const all = Object.keys(resource.spec.columns);
  const hidden = named?.some((column) => all.includes(column))
    ? all.filter((column) => !named.includes(column))
    : foldedIn(resource, settings);
  return hidden.filter((column) => column !== labelColumn(resource));
}

/** The API query of a state. */
function queryOf({ page, order, filters }: ListState, pageSize: number): Record<string, string> {
  return {
    ...filters,
    ...(order ? { order_by: order } : {}),
    page: String(page),
    page_size: String(pageSize),
  };
}

/** The filters as a body takes them: numbers and booleans instead of the texts of an address. */
export const filterValues = ({ spec }: Resource, { filters }: ListState): AnyRow =>
  Object.fromEntries(
    Object.entries(filters).map(([name, text]) => [name, spec.filters[name]?.parse?.(text) ?? text]),
  );

export function useList({ list, spec }: Resource, state: ListState, isWanted: boolean) {
  const { pageSize } = useSettings();
  const query = queryOf(state, pageSize);
  return useQuery({
    queryKey: [spec.name, 'list', query],
    queryFn: async ({ signal }) => (await call(list, { query, signal })) as Page,
    placeholderData: keepPreviousData,
    enabled: isWanted,
    meta: { scopes: spec.stale ?? [] },
    refetchInterval: (query) =>
      followMs(query, query.state.data?.list.some((row) => spec.isMoving?.(row)) === true),
  });
}
