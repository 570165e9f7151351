// The routes below /console: one per screen, loaded on demand.
import { lazy, Suspense, useMemo, type ComponentType } from 'react';
import { createBrowserRouter, Navigate, useRoutes } from 'react-router';
import { Skeleton } from 'antd';
import { routesOf } from '../parts/routes.tsx';
import type { Resource } from '../parts/resource.ts';
import { Frame } from './frame.tsx';
import { Lost, Broken } from './lost.tsx';
import { screens, type Screen } from './screens.ts';

export function createRoutes() {
  const children = Object.entries(screens).map(([slug, screen]) => {
    const Opened = openScreen(screen);
    return { path: `${screen.room}/${slug}/*`, element: <Opened />, errorElement: <Broken /> };
  });
  return createBrowserRouter(
    [
      {
        element: <Frame />,
        errorElement: <Broken />,
        children: [
          { index: true, element: <Navigate to="/office/dashboard" replace /> },
          ...children,
          { path: '*', element: <Lost /> },
        ],
      },
    ],
    { basename: import.meta.env.BASE_URL },
  );
}

const isResource = (loaded: Resource | ComponentType): loaded is Resource =>
  typeof loaded === 'object' && 'spec' in loaded;

function openScreen({ load }: Screen): ComponentType {
  const Loaded = lazy(async () => {
    const { default: loaded } = await load();
    return { default: isResource(loaded) ? screenOf(loaded) : loaded };
  });
  return function Opened() {
    return (
      <Suspense fallback={<Skeleton active className="screen" />}>
        <Loaded />
      </Suspense>
    );
  };
}

function screenOf(resource: Resource): ComponentType {
  return function ResourceScreen() {
    return useRoutes(useMemo(() => routesOf(resource), []));
  };
}
