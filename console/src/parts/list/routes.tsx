// The routes of a resource: its list, and a row beside or instead of it.
import type { RouteObject } from 'react-router';
import { Skeleton } from 'antd';
import { lazy, Suspense, type ReactNode } from 'react';
import { useLocation, useParams } from 'react-router';
import { Guard } from '../show/guard.tsx';
import { Opening } from '../show/opening.tsx';
import type { Resource } from '../resource.ts';
import { ListScreen } from './list.tsx';

// Loaded on demand.
const detail = () => import('./detail.tsx');
const CreateDrawer = lazy(async () => ({ default: (await detail()).CreateDrawer }));
const RowDrawer = lazy(async () => ({ default: (await detail()).RowDrawer }));
const UpdateDrawer = lazy(async () => ({ default: (await detail()).UpdateDrawer }));

export function routesOf(resource: Resource): RouteObject[] {
  const { detail: Detail, create, update, show, pages = {} } = resource.spec;
  const drawers: RouteObject[] = [
    ...(create ? [{ path: 'new', element: beside(<CreateDrawer resource={resource} />) }] : []),
    ...(update ? [{ path: ':id/edit', element: beside(<UpdateDrawer resource={resource} />) }] : []),
    ...(show && !Detail ? [{ path: ':id', element: beside(<RowDrawer resource={resource} />) }] : []),
  ];
  return [
    ...Object.entries(pages).map(([path, Own]) => ({ path, element: inPlace(<Own />) })),
    ...(Detail ? [{ path: ':id', element: <Page of={Detail} resource={resource} /> }] : []),
    { path: '', element: <ListScreen resource={resource} />, children: drawers },
  ];
}

const beside = (drawer: ReactNode) => <Beside>{drawer}</Beside>;

function Beside({ children }: { children: ReactNode }) {
  const { pathname } = useLocation();
  return (
    // Another record is another drawer: neither takes over what is typed, asked or found out in the one before.
    <Guard place="drawer" key={pathname}>
      <Suspense fallback={<Opening />}>{children}</Suspense>
    </Guard>
  );
}

const inPlace = (page: ReactNode) => (
  <Suspense fallback={<Skeleton active className="screen" />}>{page}</Suspense>
);

function Page({ of: Detail, resource }: { of: NonNullable<Resource['spec']['detail']>; resource: Resource }) {
  const { id = '' } = useParams();
  return inPlace(<Detail key={id} id={id} resource={resource} />);
}
