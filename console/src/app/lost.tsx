// Unknown pages, and errors of a screen.
import { Button } from 'antd';
import type { ReactNode } from 'react';
import { texts } from '../contract/texts.ts';
import { LinkButton } from '../parts/link-button.tsx';

const t = texts({
  'zh-CN': { lost: '页面不存在', home: '返回首页', broken: '页面出错了', reload: '重新加载' },
  'en-US': {
    lost: 'There is no such page',
    home: 'To the start',
    broken: 'This page broke',
    reload: 'Load again',
  },
});

export function Lost() {
  return (
    <Nowhere title={t.lost}>
      <LinkButton to="/">{t.home}</LinkButton>
    </Nowhere>
  );
}

// Also when a newer version has replaced the files of this page.
export function Broken() {
  return (
    <Nowhere title={t.broken}>
      <Button onClick={() => location.reload()}>{t.reload}</Button>
    </Nowhere>
  );
}

function Nowhere({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="nowhere">
      <h1>{title}</h1>
      {children}
    </section>
  );
}
