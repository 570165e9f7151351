// A plot that is also a table. Drawn on a canvas, at most as often as the screen is.
import { BarChartOutlined, TableOutlined } from '@ant-design/icons';
import { Button, Empty, Flex } from 'antd';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useIsDark } from '../contract/settings.ts';
import { texts } from '../contract/texts.ts';

const t = texts({
  'zh-CN': { table: '显示为表格', plot: '显示为图', nothing: '暂无数据', point: '时间' },
  'en-US': { table: 'As a table', plot: 'As a plot', nothing: 'Nothing yet', point: 'At' },
});

export interface Series {
  label: string;
  values: readonly number[];
  /** How a value reads in the table; the digits of an amount stay exact there. */
  texts?: readonly string[];
}

interface Props {
  title: string;
  /** Names of the points, oldest first. */
  labels: readonly string[];
  series: readonly Series[];
  bars?: boolean;
  height?: number;
  /** Largest value of the axis; as needed when left out. */
  max?: number;
}

const colours = { light: ['#0958d9', '#237804', '#ad6800'], dark: ['#6ea8ff', '#7fd36f', '#f0c674'] };

/** Half an order is none: the axis of counts has whole steps only. */
const wholeSteps = Array.from({ length: 36 }, (_, at) => [1, 2, 5][at % 3]! * 10 ** Math.floor(at / 3));

export function Plot({ title, labels, series, bars, height = 200, max }: Props) {
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
      {labels.length === 0 ? (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.nothing} />
      ) : isTable ? (
        <Values labels={labels} series={series} />
      ) : (
        <Canvas {...{ title, labels, series, bars, height, max }} />
      )}
    </section>
  );
}

function Values({ labels, series }: Pick<Props, 'labels' | 'series'>) {
  return (
    <div className="values" tabIndex={0}>
      <table className="changes">
        <thead>
          <tr>
            <th />
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
                  {one.texts?.[at] ?? one.values[at]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Canvas({ title, labels, series, bars, height = 200, max }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const names = useRef(labels);
  names.current = labels;
  const isDark = useIsDark();
  const shape = series.map(({ label }) => label).join('\n');
  const isWhole = series.every(({ values }) => values.every(Number.isInteger));
  useEffect(() => {
    const parent = place.current;
    if (!parent) return undefined;
    const ink = isDark ? '#a3a9b6' : '#5b6270';
    const grid = isDark ? '#262b32' : '#eceef2';
    const palette = colours[isDark ? 'dark' : 'light'];
    const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false } };
    const drawn: uPlot.Series[] = shape.split('\n').map((label, at) => ({
      label,
      stroke: palette[at % palette.length],
      width: 2,
      points: { show: false },
      ...(bars ? { paths: uPlot.paths.bars?.({ size: [0.6, 36] }), fill: palette[at % palette.length] } : {}),
    }));
    const made = new uPlot(
      {
        width: parent.clientWidth || 300,
        height,
        legend: { show: shape.includes('\n') },
        cursor: { y: false },
        scales: {
          x: { time: false, ...(bars ? { range: (_, low, high) => [low - 0.6, high + 0.6] } : {}) },
          y: { range: (_, __, high) => [0, max ?? (high || 1) * 1.1] },
        },
        series: [{ label: t.point, value: (_, at) => names.current[at] ?? '–' }, ...drawn],
        axes: [
          {
            ...axis,
            grid: { show: false },
            values: (_, at) => at.map((one) => names.current[one] ?? ''),
            space: 70,
          },
          {
            ...axis,
            size: 56,
            ...(isWhole ? { incrs: wholeSteps } : {}),
            values: (_, at) => at.map((one) => Intl.NumberFormat('en', { notation: 'compact' }).format(one)),
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
  }, [shape, bars, height, max, isDark, isWhole]);
  useEffect(() => {
    const frame = requestAnimationFrame(() =>
      plot.current?.setData([labels.map((_, at) => at), ...series.map(({ values }) => [...values])]),
    );
    return () => cancelAnimationFrame(frame);
  }, [labels, series, isDark, isWhole]);
  return <div ref={place} role="img" aria-label={title} className="canvas" />;
}
