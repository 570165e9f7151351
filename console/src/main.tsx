// The page: the sign-in form, or the shell, which is loaded while the user types.
import { lazy, StrictMode, Suspense, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { Door } from './app/door.tsx';
import { session, type Failure } from './contract/api.ts';
import { useIsDark, useSettings } from './contract/settings.ts';
import './app/page.css';

const loadShell = () => import('./app/shell.tsx');
const Shell = lazy(loadShell);

function Page() {
  const { language } = useSettings();
  const isDark = useIsDark();
  const [isIn, setIn] = useState(session.token !== undefined);
  const [reason, setReason] = useState<Failure>();

  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  }, [language, isDark]);

  useEffect(() => {
    session.onEnd = (failure) => {
      session.keep(undefined);
      setReason(failure);
      setIn(false);
    };
    void loadShell();
  }, []);

  const enter = () => {
    setReason(undefined);
    setIn(true);
  };
  const leave = () => {
    session.keep(undefined);
    setIn(false);
  };
  // A new language renders everything anew, because texts are read during rendering.
  if (!isIn) return <Door key={language} reason={reason} onEnter={enter} />;
  return (
    <Suspense fallback={<div className="page-wait" role="status" aria-label="…" />}>
      <Shell key={language} onLeave={leave} />
    </Suspense>
  );
}

createRoot(document.getElementById('root') as HTMLElement).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
