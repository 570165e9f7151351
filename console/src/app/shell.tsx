// The frame of a signed-in session: library, queries, profile, sockets, router.
import { QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { App, ConfigProvider } from 'antd';
import type { Locale } from 'antd/es/locale';
import dayjs from 'dayjs';
import { lazy, Suspense, use, useEffect, useMemo, useRef, useState } from 'react';
import { RouterProvider } from 'react-router/dom';
import { call } from '../contract/api.ts';
import { connectLive, onFrame } from '../contract/live.ts';
import { useOutage } from '../contract/outage.ts';
import { useIsDark, useSettings, type Language } from '../contract/settings.ts';
import { Problem } from '../parts/show/problem.tsx';
import { ProfileContext } from '../parts/show/profile.ts';
import '../parts/show/parts.css';
import '../parts/show/print.css';
import '../parts/show/forced-colors.css';
import { SignOutContext } from './frame.tsx';
import { createQueries, followFrames, outdateAll } from './queries.ts';
import { createRoutes } from './router.tsx';
import { dark, isStill, light } from './theme.ts';

// Shown once to each administrator.
const FirstPassword = lazy(() => import('./first-password.tsx'));

// Read once: browsers later hide the attribute from scripts, but not the property.
const nonce = document.querySelector<HTMLElement>('meta[property=csp-nonce]')?.nonce;

// The library's texts, in the chosen language only.
const words: Partial<Record<Language, Promise<Locale>>> = {};
const wordsOf = (language: Language): Promise<Locale> =>
  (words[language] ??= (
    language === 'zh-CN' ? import('antd/locale/zh_CN') : import('antd/locale/en_US')
  ).then((loaded) => loaded.default));

// A popup of a control in a drawer stays at the control when the page behind moves.
const besideTrigger = (trigger?: HTMLElement): HTMLElement =>
  trigger?.closest<HTMLElement>('.ant-drawer') ?? document.body;

export default function Shell({ onSignOut }: { onSignOut: () => void }) {
  const { language, zone } = useSettings();
  const isDark = useIsDark();
  const [client] = useState(createQueries);
  useMemo(() => dayjs.locale(language === 'zh-CN' ? 'zh-cn' : 'en'), [language]);
  // The day that calendars mark as today.
  useMemo(() => dayjs.tz.setDefault(zone), [zone]);
  return (
    <ConfigProvider
      csp={{ nonce }}
      locale={use(wordsOf(language))}
      theme={isDark ? dark : light}
      button={{ autoInsertSpace: false }}
      wave={{ disabled: isStill }}
      getPopupContainer={besideTrigger}
    >
      {/* Around the library's own place for notifications: their buttons call the API, too. */}
      <QueryClientProvider client={client}>
        <App notification={{ placement: 'bottomRight' }}>
          <Inside onSignOut={onSignOut} />
        </App>
      </QueryClientProvider>
    </ConfigProvider>
  );
}

function Inside({ onSignOut }: { onSignOut: () => void }) {
  const client = useQueryClient();
  const [router] = useState(createRoutes);
  const {
    data: profile,
    error,
    refetch,
  } = useQuery({
    queryKey: ['info'],
    queryFn: ({ signal }) => call('GET /api/admin/info', { signal }),
    staleTime: Infinity,
    meta: { scopes: ['identity'] },
  });
  // A query that is repeated forgets its error, and one try may take seconds.
  const failure = useOutage() ?? error;
  const isOpen = profile !== undefined && !profile.password_must_change;
  useEffect(() => {
    if (!isOpen) return undefined;
    const stopListening = onFrame(followFrames(client));
    const disconnect = connectLive((isFirst) =>
      isFirst ? outdateAll(client) : void client.invalidateQueries(),
    );
    return () => {
      stopListening();
      disconnect();
    };
  }, [client, isOpen]);
  // What was asked with other rights is asked again.
  const rights = useRef(profile?.permissions);
  useEffect(() => {
    if (rights.current && rights.current !== profile?.permissions) void client.invalidateQueries();
    rights.current = profile?.permissions;
  }, [client, profile?.permissions]);
  if (failure && !profile) {
    return (
      <main className="lonely">
        <Problem error={failure} onRetry={() => void refetch()} />
      </main>
    );
  }
  if (!profile) return <div className="page-wait" role="status" aria-label="…" />;
  if (profile.password_must_change) {
    return (
      <Suspense fallback={null}>
        <FirstPassword onDone={() => void refetch()} onSignOut={onSignOut} />
      </Suspense>
    );
  }
  return (
    <ProfileContext value={profile}>
      <SignOutContext value={onSignOut}>
        <RouterProvider router={router} />
      </SignOutContext>
    </ProfileContext>
  );
}
