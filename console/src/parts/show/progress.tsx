// Progress of background work: bar, rows, rate and time left, then its outcome.
import { Progress } from 'antd';
import { useRef } from 'react';
import { plural, texts } from '../../contract/texts.ts';
import { showCount } from './money.ts';
import { nameOf, states, Tag, toneOf } from './states.tsx';
import { showDuration } from './time.ts';

const t = texts({
  progress: ['进度', 'Progress'],
  rows: [(_: number) => '行', (count) => plural(count, 'row', 'rows')],
  entries: [(_: number) => '条', (count) => plural(count, 'entry', 'entries')],
  left: [(time: string) => `约剩 ${time}`, (time) => `about ${time} left`],
});

export interface Work {
  status: number;
  /** Tells an import that was stopped from one that failed. */
  status_text: string;
  progress: number;
  processed_rows: number;
  total_rows: number | null;
  error_msg?: string | null;
}

/** Of imports and exports. */
export const workStates = states({
  0: ['进行中', 'Running', 'blue'],
  1: ['完成', 'Done', 'green'],
  2: ['失败', 'Failed', 'red'],
});

/** @param of what is counted: the rows of an imported file, or the entries of an exported list, with several rows each */
export function Running({ row, of }: { row: Work; of: 'rows' | 'entries' }) {
  const rate = useRate(row.processed_rows);
  if (row.status !== 0) {
    return (
      <span>
        <Tag tone={toneOf(workStates, row.status)}>
          {row.status === 2 ? row.status_text : nameOf(workStates, row.status)}
        </Tag>{' '}
        <span className="soft cell-figure">
          {showCount(row.processed_rows)} {t[of](row.processed_rows)}
        </span>
        {row.error_msg && <span className="cell-text">{row.error_msg}</span>}
      </span>
    );
  }
  const left = row.total_rows && rate > 0 ? (row.total_rows - row.processed_rows) / rate : undefined;
  return (
    <span>
      <Progress percent={row.progress} size="small" aria-label={t.progress} status="active" />
      <span className="soft cell-figure">
        {showCount(row.processed_rows)}
        {row.total_rows ? ` / ${showCount(row.total_rows)}` : ''}{' '}
        {t[of](row.total_rows ?? row.processed_rows)}
        {rate > 0 && ` · ${showCount(Math.round(rate))}/s`}
        {left !== undefined && ` · ${t.left(showDuration(left))}`}
      </span>
    </span>
  );
}

// Rows per second since it was first shown.
function useRate(rows: number): number {
  const first = useRef({ rows, at: performance.now() });
  const seconds = (performance.now() - first.current.at) / 1000;
  return seconds < 1 ? 0 : (rows - first.current.rows) / seconds;
}
