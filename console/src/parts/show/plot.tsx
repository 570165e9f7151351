// A chart with a table alternative. Drawn on a canvas, at most once a frame.
import { BarChartOutlined, TableOutlined } from '@ant-design/icons';
import { Button, Empty, Flex } from 'antd';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { currentSettings, useIsDarkScreen } from '../../contract/settings.ts';
import { texts } from '../../contract/texts.ts';
import { Guard } from './guard.tsx';
import { showCount } from './money.ts';
import type { Tone } from './states.tsx';

const t = texts({
  table: ['显示为表格', 'As a table'],
  plot: ['显示为图', 'As a plot'],
  nothing: ['暂无数据', 'Nothing yet'],
  all: ['合计', 'All'],
});

export interface Series {
  label: string;
  values: readonly number[];
  /** The value in the table; amounts stay exact there. */
  texts?: readonly string[];
  tone?: Tone;
}

/** What is drawn. */
export interface Drawing {
  /** Labels of the points, oldest first. */
  labels: readonly string[];
  series: readonly Series[];
}

interface Frame {
  title: string;
  bars?: boolean;
  /** Stacks the bars of several series. */
  stacked?: boolean;
  /** Categories instead of times: without a hovered point the sum is shown instead of the latest value. */
  kinds?: boolean;
  /** Max of the axis; automatic by default. */
  max?: number;
  /** Stands before the values of the axis. */
  unit?: string;
}

const colours: Record<'light' | 'dark', Record<Tone, string>> = {
  light: { blue: '#0958d9', green: '#389e0d', gold: '#d48806', red: '#cf1322', grey: '#8b93a1' },
  dark: { blue: '#6ea8ff', green: '#7fd36f', gold: '#f0c674', red: '#ff8a85', grey: '#6f7784' },
};
const tones: readonly Tone[] = ['blue', 'green', 'gold', 'red', 'grey'];

/** Heights of a series, on top of the series below it. */
const drawnOf = (series: readonly Series[], at: number, stacked: boolean | undefined): number[] =>
  stacked
    ? (series[at]?.values ?? []).map((_, point) =>
        series.slice(at).reduce((sum, { values }) => sum + (values[point] ?? 0), 0),
      )
    : [...(series[at]?.values ?? [])];

function legendOf({ values, texts: exact }: Series, at: number | null, kinds: boolean | undefined): string {
  if (at === null && kinds) return showCount(values.reduce((sum, value) => sum + value, 0));
  const point = at ?? values.length - 1;
  return exact?.[point] ?? String(values[point] ?? '–');
}

const height = 200;

/** Counts have integer ticks only. */
const wholeSteps = Array.from({ length: 36 }, (_, at) => [1, 2, 5][at % 3]! * 10 ** Math.floor(at / 3));

/** @param draw called inside the panel, so that figures it stumbles over break this plot only */
export function Plot({ draw, ...frame }: Frame & { draw: () => Drawing }) {
  const { title } = frame;
  const [isTable, setTable] = useState(false);
  return (
    <section className="panel plot">
      <Flex justify="space-between" align="center">
        <h2>{title}</h2>
        <Button
          type="text"
          size="small"
          icon={isTable ? <BarChartOutlined /> : <TableOutlined />}
          aria-label={`${title}: ${isTable ? t.plot : t.table}`}
          title={isTable ? t.plot : t.table}
          onClick={() => setTable(!isTable)}
        />
      </Flex>
      <Guard of={draw}>
        <Drawn draw={draw} frame={frame} isTable={isTable} />
      </Guard>
    </section>
  );
}

function Drawn({ draw, frame, isTable }: { draw: () => Drawing; frame: Frame; isTable: boolean }) {
  const drawing = draw();
  if (drawing.labels.length === 0)
    return <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.nothing} />;
  return isTable ? <Values {...drawing} /> : <Canvas {...frame} {...drawing} />;
}

function Values({ labels, series }: Drawing) {
  return (
    <div className="values" tabIndex={0}>
      <table className="changes">
        <thead>
          <tr>
            <td />
            {series.map(({ label }) => (
              <th key={label} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {labels.map((label, at) => (
            <tr key={`${label} ${at}`}>
              <th scope="row">{label}</th>
              {series.map((one) => (
                <td key={one.label} className="cell-figure">
                  {legendOf(one, at, false)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Canvas(frame: Frame & Drawing) {
  const { title, labels, series, bars, stacked, kinds, max, unit = '' } = frame;
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const shown = useRef({ labels, series, kinds });
  shown.current = { labels, series, kinds };
  // Paper would be printed before it is drawn anew.
  const isDark = useIsDarkScreen();
  const shape = series.map(({ label, tone }, at) => `${tone ?? tones[at]} ${label}`).join('\n');
  const isWhole = series.every(({ values }) => values.every(Number.isInteger));
  useEffect(() => {
    const parent = place.current;
    if (!parent) return undefined;
    const ink = isDark ? '#a3a9b6' : '#5b6270';
    const grid = isDark ? '#262b32' : '#eceef2';
    const palette = colours[isDark ? 'dark' : 'light'];
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    const drawn: uPlot.Series[] = shape.split('\n').map((named, at) => {
      const [tone, ...words] = named.split(' ');
      const colour = palette[tone as Tone];
      return {
        label: words.join(' '),
        stroke: colour,
        width: bars ? 0 : 2,
        points: { show: false },
        value: (_, __, ___, point) => {
          const one = shown.current.series[at];
          return one ? legendOf(one, point, shown.current.kinds) : '';
        },
        ...(bars ? { paths: uPlot.paths.bars?.({ size: [0.6, 36] }), fill: colour } : {}),
      };
    });
    const made = new uPlot(
      {
        width: parent.clientWidth || 300,
        height,
        cursor: { y: false },
        padding: [8, 28, 0, 0],
        scales: {
          x: { time: false, ...(bars ? { range: () => [-0.6, shown.current.labels.length - 0.4] } : {}) },
          y: { range: (_, __, high) => [0, max ?? (high || 1) * 1.1] },
        },
        series: [
          {
            value: (_, __, ___, point) => {
              const { labels: names, kinds: areKinds } = shown.current;
              return point === null && areKinds ? t.all : (names[point ?? names.length - 1] ?? '');
            },
          },
          ...drawn,
        ],
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 28,
            values: (_, at) => at.map((one) => shown.current.labels[one] ?? ''),
            space: 70,
            // No name can be guessed from its neighbours.
            ...(kinds ? { splits: () => shown.current.labels.map((_, at) => at) } : {}),
          },
          {
            ...axis,
            size: 56,
            ...(isWhole ? { incrs: wholeSteps } : {}),
            values: (_, at) =>
              at.map(
                (one) =>
                  `${unit}${Intl.NumberFormat(currentSettings().language, { notation: 'compact' }).format(one)}`,
              ),
          },
        ],
      },
      [[], ...drawn.map(() => [])],
      parent,
    );
    plot.current = made;
    const resize = new ResizeObserver(() => made.setSize({ width: parent.clientWidth, height }));
    resize.observe(parent);
    return () => {
      resize.disconnect();
      made.destroy();
    };
  }, [shape, bars, kinds, max, unit, isDark, isWhole]);
  useEffect(() => {
    const frame = requestAnimationFrame(() =>
      plot.current?.setData([
        labels.map((_, at) => at),
        ...series.map((_, at) => drawnOf(series, at, stacked)),
      ]),
    );
    return () => cancelAnimationFrame(frame);
  }, [labels, series, stacked, unit, isDark, isWhole]);
  return <div ref={place} role="img" aria-label={title} className="canvas" />;
}
