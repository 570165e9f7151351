// Unknown pages, and errors of a screen.
import { Button } from 'antd';
import type { ReactNode } from 'react';
import { useRouteError } from 'react-router';
import { isLoadFailure } from '../contract/loading.ts';
import { texts } from '../contract/texts.ts';
import { LinkButton } from '../parts/show/link-button.tsx';
import { NotLoaded } from '../parts/show/not-loaded.tsx';

const t = texts({
  missing: ['页面不存在', 'There is no such page'],
  home: ['返回首页', 'Go to my first page'],
  broken: ['页面出错了', 'Something on this page failed'],
  waiting: ['页面还没有加载', 'This page is not loaded yet'],
  reload: ['重新加载', 'Reload the page'],
});

export function NoPage() {
  return (
    <Notice title={t.missing}>
      <LinkButton to="/">{t.home}</LinkButton>
    </Notice>
  );
}

export function ScreenError() {
  const error = useRouteError();
  if (isLoadFailure(error))
    return (
      <Notice title={t.waiting}>
        <NotLoaded />
      </Notice>
    );
  return (
    <Notice title={t.broken}>
      <Button onClick={() => location.reload()}>{t.reload}</Button>
      <LinkButton to="/">{t.home}</LinkButton>
    </Notice>
  );
}

function Notice({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="nowhere">
      <h1>{title}</h1>
      {children}
    </section>
  );
}
