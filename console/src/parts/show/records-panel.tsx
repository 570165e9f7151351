// A part of a page with the latest records of something: none yet, or those, and a link to the list of them all.
import type { UseQueryResult } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { texts } from '../../contract/texts.ts';
import { showCount } from './money.ts';
import { Problem } from './problem.tsx';

const t = texts({
  'zh-CN': { all: (total: number) => `全部 ${showCount(total)} 条` },
  'en-US': { all: (total: number) => `All ${showCount(total)}` },
});

interface Props {
  title: string;
  /** The query that lists them. */
  query: Pick<UseQueryResult, 'error' | 'refetch'>;
  /** How many there are; undefined until they are listed. */
  total: number | undefined;
  /** Said when there are none. */
  none: string;
  /** The address of the list. */
  all: string;
  children: ReactNode;
}

export function RecordsPanel({ title, query: { error, refetch }, total, none, all, children }: Props) {
  return (
    <section className="panel">
      <h2>{title}</h2>
      {error ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : (
        total === undefined && <Skeleton active />
      )}
      {total === 0 && <span className="soft">{none}</span>}
      {children}
      {!!total && <Link to={all}>{t.all(total)}</Link>}
    </section>
  );
}
