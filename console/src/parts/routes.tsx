// The routes of a resource: its list, and beside or in place of it one row.
import type { RouteObject } from 'react-router';
import { useParams } from 'react-router';
import { CreateDrawer, RowDrawer, UpdateDrawer } from './detail.tsx';
import { ListScreen } from './list.tsx';
import type { Resource } from './resource.ts';

export function routesOf(resource: Resource): RouteObject[] {
  const { detail, create, update, show, pages = {} } = resource.spec;
  const beside: RouteObject[] = [
    ...(create ? [{ path: 'new', element: <CreateDrawer resource={resource} /> }] : []),
    ...(update ? [{ path: ':id/edit', element: <UpdateDrawer resource={resource} /> }] : []),
    ...(show && !detail ? [{ path: ':id', element: <RowDrawer resource={resource} /> }] : []),
  ];
  return [
    ...Object.entries(pages).map(([path, Own]) => ({ path, element: <Own /> })),
    ...(detail ? [{ path: ':id', element: <Page of={detail} resource={resource} /> }] : []),
    { path: '', element: <ListScreen resource={resource} />, children: beside },
  ];
}

function Page({ of: Detail, resource }: { of: NonNullable<Resource['spec']['detail']>; resource: Resource }) {
  const { id = '' } = useParams();
  return <Detail key={id} id={id} resource={resource} />;
}
