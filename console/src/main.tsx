// The page: the sign-in form, or the shell, which is loaded while the user types.
import { lazy, StrictMode, Suspense, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { SignIn, type Reason } from './app/sign-in.tsx';
import { call } from './contract/api.ts';
import { session } from './contract/session.ts';
import { useIsDark, useSettings } from './contract/settings.ts';
import { Guard } from './parts/show/guard.tsx';
import './app/page.css';

const loadShell = () => import('./app/shell.tsx');
const Shell = lazy(loadShell);

function Page() {
  const { language } = useSettings();
  const isDark = useIsDark();
  const [isIn, setIn] = useState(session.token ? true : undefined);
  const [reason, setReason] = useState<Reason>();

  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  }, [language, isDark]);

  const enter = () => {
    setReason(undefined);
    setIn(true);
  };
  useEffect(() => {
    const leave = (why: Reason) => {
      setReason(why);
      setIn(false);
    };
    session.onRefused = (slug) => {
      session.forget();
      leave(slug === 'token_revoked' ? 'revoked' : 'ended');
    };
    session.onEnd = () => leave('elsewhere');
    session.onBegin = enter;
    void session.join().then(setIn);
    void loadShell();
  }, []);
  const signOut = () => {
    // The token is removed here even if the request fails.
    void call('POST /api/admin/logout').catch(() => undefined);
    session.end();
    setIn(false);
  };
  if (isIn === undefined) return null;
  // A new language renders everything again: texts are read during rendering.
  if (!isIn) return <SignIn key={language} reason={reason} onEnter={enter} />;
  return (
    <Guard>
      <Suspense fallback={<div className="page-wait" role="status" aria-label="…" />}>
        <Shell key={language} onSignOut={signOut} />
      </Suspense>
    </Guard>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
