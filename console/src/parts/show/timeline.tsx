// Events in order.
import type { ReactNode } from 'react';
import { texts } from '../../contract/texts.ts';
import type { Tone } from './states.tsx';
import { Time } from './cells.tsx';

const t = texts({
  unknown: ['时间未记录', 'Time not recorded'],
});

export interface Point {
  key: string;
  /** Null when nobody recorded it. */
  at: string | null;
  tone: Tone;
  title: ReactNode;
  children?: ReactNode;
}

export function Timeline({ points }: { points: readonly Point[] }) {
  return (
    <ol className="timeline">
      {points.map(({ key, at, tone, title, children }) => (
        <li key={key} className={`point-${tone}`}>
          <div>{title}</div>
          <div className="timeline-when">{at === null ? t.unknown : <Time at={at} />}</div>
          {children}
        </li>
      ))}
    </ol>
  );
}

export function Json({ value }: { value: unknown }) {
  if (value === undefined || value === null) return null;
  return (
    <pre className="body" tabIndex={0}>
      {typeof value === 'string' ? value : JSON.stringify(value, null, 2)}
    </pre>
  );
}
