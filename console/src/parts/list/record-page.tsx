// The page of one record: its name and state, what can be done with it, and what its screen shows of it.
import { EditOutlined } from '@ant-design/icons';
import { useQuery, type UseQueryResult } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { call, type Data, type Route } from '../../contract/api.ts';
import { read, type Both } from '../../contract/texts.ts';
import { Value } from '../show/cells.tsx';
import { LinkButton } from '../show/link-button.tsx';
import { useListAddress } from '../show/location.ts';
import { RowPage } from '../show/page.tsx';
import { Problem } from '../show/problem.tsx';
import { useMay } from '../show/profile.ts';
import { nameOf, type AnyRow, type Resource } from '../resource.ts';
import { ActionButtons } from './actions.tsx';

/** One record, fetched again when one of the scopes has changed. @param id from the URL */
export function useRecord<R extends Route>(route: R, id: string, scopes: readonly string[]) {
  const [, , , segment = ''] = route.split('/');
  return useQuery<Data<R>>({
    queryKey: [segment, 'one', id],
    queryFn: ({ signal }) => call(route, { path: { id }, signal }),
    meta: { scopes },
  });
}

interface Props<T> {
  resource: Resource;
  /** From the URL: its name until it is fetched. */
  id: string;
  what: Both;
  query: Pick<UseQueryResult<T>, 'data' | 'error' | 'refetch'>;
  /** Before those of the resource. */
  buttons?: (row: T) => ReactNode;
  children: (row: T) => ReactNode;
}

export function RecordPage<T extends AnyRow>({ resource, id, what, query, buttons, children }: Props<T>) {
  const { data: row, error, refetch } = query;
  const { columns, update, remove, title } = resource.spec;
  const list = useListAddress();
  const navigate = useNavigate();
  const may = useMay();
  return (
    <RowPage
      list={list}
      title={row ? nameOf(resource, row) : id}
      what={what}
      state={row && columns.status && <Value cell={columns.status} value={row.status} row={row} />}
      actions={
        row && (
          <>
            {buttons?.(row)}
            {update && may(update.route) && (
              <LinkButton to={`${list}/${id}/edit`} icon={<EditOutlined />}>
                {read(['修改', 'Edit'])}
              </LinkButton>
            )}
            <ActionButtons
              resource={resource}
              row={row}
              onDone={({ route }) => route === remove && void navigate(list)}
            />
          </>
        )
      }
    >
      {error && <Problem error={error} list={title} onRetry={() => void refetch()} />}
      {!row && !error && <Skeleton active />}
      {row && children(row)}
    </RowPage>
  );
}
