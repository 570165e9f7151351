// The screen of a list: title, filters, table, pages; forms and details are routes beside it.
import { DeleteOutlined } from '@ant-design/icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { App, Button, Empty, Flex, Pagination, Skeleton, type PaginationProps } from 'antd';
import {
  cloneElement,
  isValidElement,
  lazy,
  Suspense,
  useEffect,
  useState,
  useSyncExternalStore,
  type HTMLAttributes,
  type ReactElement,
} from 'react';
import { useOutlet } from 'react-router';
import { call } from '../../contract/api.ts';
import { changeSettings, useSettings } from '../../contract/settings.ts';
import { plural, read, texts } from '../../contract/texts.ts';
import { useAsk, useShowFailure } from '../show/dialogs.tsx';
import { Guard } from '../show/guard.tsx';
import { keepFocus } from '../show/focus.ts';
import { failureOf, noPermission, Problem } from '../show/problem.tsx';
import { useMay } from '../show/profile.ts';
import { labelOf, type AnyRow, type Resource } from '../resource.ts';
import { useTitle } from '../show/use-title.ts';
import type { ListState } from './codec.ts';
import { Filters } from './filters.tsx';
import { ListHead } from './list-head.tsx';
import { useAct, useIsSelectable } from './actions.tsx';
import { keyOf } from './row.tsx';
import { Rows } from './rows.tsx';
import { useList, useListState, type Page } from './use-list.ts';

const t = texts({
  empty: ['还没有数据', 'Nothing here yet'],
  prev: ['上一页', 'Previous page'],
  next: ['下一页', 'Next page'],
  'jump-prev': ['向前几页', 'Back several pages'],
  'jump-next': ['向后几页', 'Forward several pages'],
  nothing: ['没有符合条件的数据', 'Nothing matches these filters'],
  clear: ['清除筛选', 'Clear filters'],
  remove: [(count: number) => `删除 ${count} 条`, (count) => `Delete ${count}`],
  removeSure: [
    (count: number) => `确定删除选中的 ${count} 条？删除后无法恢复`,
    (count) => `Delete ${count} ${plural(count, 'entry', 'entries')}? This cannot be undone`,
  ],
  removed: ['已删除', 'Deleted'],
});

// Needed once rows are selected.
const ManyActions = lazy(() => import('./many.tsx'));

// Needed on screens that are too narrow for a table.
const RowCards = lazy(() => import('./row-cards.tsx'));
const narrow = matchMedia('(max-width: 700px)');

function watchWidth(listener: () => void): () => void {
  narrow.addEventListener('change', listener);
  return () => narrow.removeEventListener('change', listener);
}

export function ListScreen({ resource }: { resource: Resource }) {
  const { spec } = resource;
  const { state, change, clear, cleared } = useListState(resource);
  // Without the permission nothing is asked; a form or detail beside the list may be open all the same.
  const mayList = useMay()(resource.list);
  const list = useList(resource, state, mayList);
  const error = mayList ? list.error : noPermission;
  const [ticked, setTicked] = useState<string[]>([]);
  const Above = spec.above;
  const Tiles = spec.tiles;
  const { tiled } = useSettings();
  const isNarrow = useSyncExternalStore(watchWidth, () => narrow.matches);
  useTitle(read(spec.title));
  const isDenied = error !== null && failureOf(error).status === 403;
  // A permission may be taken away while its list is shown.
  const data = isDenied ? undefined : list.data;
  const rows = data?.list ?? [];
  const Shown = isNarrow && rows.length > 0 ? RowCards : Rows;
  const isFiltered = Object.keys(state.filters).length > 0;
  // The button that cleared them is gone.
  useEffect(() => {
    if (cleared > 0 && !isFiltered) keepFocus();
  }, [cleared, isFiltered]);
  const isSelectable = useIsSelectable(resource);
  // Rows that are shown no longer, because of another filter or page, are not acted upon.
  const chosen = rows.filter((row) => ticked.includes(keyOf(resource, row)));
  const beside = useOutlet();
  const { start, drawer } = useAct(resource, rows, undefined, beside !== null);
  const keysOf = (those: readonly AnyRow[]) => those.map((row) => keyOf(resource, row));
  useLastPage(list.isPlaceholderData ? undefined : data, state.page, (page) =>
    change({ page }, { replace: true }),
  );
  return (
    <section className="screen" aria-busy={list.isFetching} data-resource={spec.name}>
      <ListHead
        resource={resource}
        data={data}
        isAllowed={mayList}
        onReload={() => void list.refetch()}
        state={state}
      >
        {ticked.length > 0 && (
          <Guard of={chosen.length}>
            <Suspense fallback={null}>
              <ManyActions
                resource={resource}
                rows={chosen}
                onDone={(refused) => setTicked(keysOf(refused))}
              />
            </Suspense>
          </Guard>
        )}
        {spec.removeMany && chosen.length > 0 && (
          <RemoveMany resource={resource} ids={keysOf(chosen)} onDone={() => setTicked([])} />
        )}
      </ListHead>
      {Above && !isDenied && <Above data={data as never} />}
      {!isDenied && (Object.keys(spec.filters).length > 0 || spec.dateRange) ? (
        <Filters resource={resource} state={state} change={change} clear={clear} cleared={cleared} />
      ) : null}
      {error && (
        <Problem
          error={error}
          labelOf={(name) => labelOf(resource, name)}
          shownSince={data && list.dataUpdatedAt}
          onRetry={() => void list.refetch()}
        />
      )}
      {(data || !error) &&
        (Tiles && tiled.includes(spec.name) && rows.length > 0 ? (
          <Tiles rows={rows} />
        ) : (
          <Suspense fallback={<Skeleton active />}>
            <Shown
              resource={resource}
              rows={rows}
              isLoading={list.isPending}
              isPale={list.isPlaceholderData}
              state={state}
              onSort={(order) => change({ order, page: 1 })}
              ticked={ticked}
              onTick={isSelectable ? setTicked : undefined}
              onAct={start}
              empty={<Nothing resource={resource} isFiltered={isFiltered} onClear={clear} />}
            />
          </Suspense>
        ))}
      <Pages state={state} data={data} onPage={(page) => change({ page })} />
      {drawer}
      {beside}
    </section>
  );
}

// The URL may name a page that no longer exists.
function useLastPage(data: Page | undefined, page: number, go: (page: number) => void): void {
  const { pageSize } = useSettings();
  const last = data?.total ? Math.ceil(data.total / pageSize) : 1;
  const isBeyond = data !== undefined && data.list.length === 0 && page > last;
  useEffect(() => {
    if (isBeyond) go(last);
  }, [isBeyond, last]);
}

function RemoveMany({ resource, ids, onDone }: { resource: Resource; ids: string[]; onDone: () => void }) {
  const route = resource.spec.removeMany;
  const may = useMay();
  const client = useQueryClient();
  const { message } = App.useApp();
  const showFailure = useShowFailure();
  const askFirst = useAsk();
  const remove = useMutation({
    // Those that were asked about: rows may come and go while somebody reads.
    mutationFn: async (asked: string[]) =>
      route && call(route, { body: { ids: asked.map(Number) } as never }),
    onSuccess: async () => {
      onDone();
      void message.success(t.removed);
      await client.invalidateQueries({ queryKey: [resource.spec.name] });
      keepFocus();
    },
    onError: showFailure,
  });
  if (!route || !may(route)) return null;
  const ask = () =>
    askFirst({
      title: t.removeSure(ids.length),
      button: t.remove(ids.length),
      danger: true,
      onYes: () => remove.mutateAsync(ids).catch(() => undefined),
    });
  return (
    <Button danger icon={<DeleteOutlined />} loading={remove.isPending} onClick={ask}>
      {t.remove(ids.length)}
    </Button>
  );
}

function Nothing({
  resource,
  isFiltered,
  onClear,
}: {
  resource: Resource;
  isFiltered: boolean;
  onClear: () => void;
}) {
  const { empty } = resource.spec;
  return (
    <Empty
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={isFiltered ? t.nothing : empty ? read(empty) : t.empty}
    >
      {isFiltered && <Button onClick={onClear}>{t.clear}</Button>}
    </Empty>
  );
}

/** Names the arrows of a pager; those over several pages are links without an address, which may not be named. */
export const named: PaginationProps['itemRender'] = (_, kind, element) =>
  kind === 'page' || !isValidElement(element)
    ? element
    : cloneElement(element as ReactElement<HTMLAttributes<HTMLElement>>, {
        'aria-label': t[kind],
        ...(kind.startsWith('jump') && { role: 'button' }),
      });

function Pages({
  state,
  data,
  onPage,
}: {
  state: ListState;
  data: Page | undefined;
  onPage: (page: number) => void;
}) {
  const { pageSize } = useSettings();
  if (data?.total === undefined || data.total <= 10) return null;
  return (
    <Flex justify="end" className="pages">
      <Pagination
        current={state.page}
        pageSize={pageSize}
        total={data.total}
        responsive
        showSizeChanger
        pageSizeOptions={[10, 20, 50, 100]}
        itemRender={named}
        onChange={(page, size) => {
          if (size !== pageSize) changeSettings({ pageSize: size });
          onPage(size === pageSize ? page : 1);
        }}
      />
    </Flex>
  );
}
