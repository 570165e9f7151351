// The routes below /console: one per screen, loaded on demand.
import { lazy, Suspense, useMemo, type ComponentType } from 'react';
import { createBrowserRouter, Navigate, useRoutes } from 'react-router';
import { Skeleton } from 'antd';
import { routesOf } from '../parts/list/routes.tsx';
import type { Resource } from '../parts/resource.ts';
import { permittedPage } from '../parts/show/permitted.tsx';
import { useProfile } from '../parts/show/profile.ts';
import { Frame } from './frame.tsx';
import { firstAddress } from './menu.tsx';
import { NoPage, ScreenError } from './no-page.tsx';
import { addressOf, screens, type Screen } from './screens.ts';

export function createRoutes() {
  const children = [...screens].map(([slug, screen]) => {
    const Opened = openScreen(screen);
    return { path: `${addressOf(slug, screen)}/*`, element: <Opened />, errorElement: <ScreenError /> };
  });
  return createBrowserRouter(
    [
      {
        element: <Frame />,
        errorElement: <ScreenError />,
        children: [{ index: true, element: <Home /> }, ...children, { path: '*', element: <NoPage /> }],
      },
    ],
    { basename: import.meta.env.BASE_URL },
  );
}

function Home() {
  return <Navigate to={firstAddress(useProfile())} replace />;
}

const isResource = (loaded: Resource | ComponentType): loaded is Resource =>
  typeof loaded === 'object' && 'spec' in loaded;

function openScreen({ load, title, opens: route }: Screen): ComponentType {
  const Loaded = lazy(async () => {
    const { default: loaded } = await load();
    return { default: isResource(loaded) ? screenOf(loaded) : permittedPage([route], title, loaded) };
  });
  return function Opened() {
    return (
      <Suspense fallback={<Skeleton active className="screen" />}>
        <Loaded />
      </Suspense>
    );
  };
}

// A list guards itself: what is beside it may be allowed without it.
function screenOf(resource: Resource): ComponentType {
  return function ResourceScreen() {
    return useRoutes(useMemo(() => [...routesOf(resource), { path: '*', element: <NoPage /> }], []));
  };
}
