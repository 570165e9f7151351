// A part of a page with the latest records of something: none yet, or those, and a link to the list of them all.
import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { call, type Query, type Row } from '../../contract/api.ts';
import { texts } from '../../contract/texts.ts';
import type { ListRoute } from '../resource.ts';
import { showCount } from './money.ts';
import { Problem } from './problem.tsx';
import { useMay } from './profile.ts';

const t = texts({
  all: [(total: number) => `全部 ${showCount(total)} 条`, (total) => `All ${showCount(total)}`],
});

interface Props<R extends ListRoute> {
  title: string;
  /** Said when there are none. */
  none: string;
  /** Of the screen that lists them. */
  room: string;
  list: R;
  query: Partial<Query<R>> & Record<string, string | number>;
  /** Scopes whose changes refetch them. */
  scopes: readonly string[];
  /** How many are fetched. */
  count: number;
  /** Those of them that are meant, where the filter finds others, too. */
  only?: (row: Row<R>) => boolean;
  children: (rows: Row<R>[]) => ReactNode;
}

/** Nothing for those who may not list them. */
export function RecordsPanel<R extends ListRoute>(props: Props<R>) {
  const { title, none, room, list, query, scopes, count, only, children } = props;
  const segment = list.split('/').at(-1) ?? '';
  const mayList = useMay()(list);
  const { data, error, refetch } = useQuery({
    queryKey: [segment, 'list', query],
    queryFn: async ({ signal }) => {
      const page: unknown = await call(list, { query: { ...query, page_size: count }, signal });
      return page as { list: Row<R>[]; total: number };
    },
    meta: { scopes },
    enabled: mayList,
  });
  if (!mayList) return null;
  const rows = only ? data?.list.filter(only) : data?.list;
  const total = only ? rows?.length : data?.total;
  const filters = Object.entries(query).map(([name, value]) => [name, String(value)]);
  return (
    <section className="panel">
      <h2>{title}</h2>
      {error ? <Problem error={error} onRetry={() => void refetch()} /> : !data && <Skeleton active />}
      {total === 0 && <span className="soft">{none}</span>}
      {rows && rows.length > 0 && children(rows)}
      {!!total && (
        <Link to={`/${room}/${segment}?${new URLSearchParams(filters).toString()}`}>{t.all(total)}</Link>
      )}
    </section>
  );
}
