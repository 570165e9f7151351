// Display of values in lists and details.
import { Tooltip } from 'antd';
import { Fragment, type ReactNode } from 'react';
import { Guard } from './guard.tsx';
import { showAmount, showCount } from './money.ts';
import { PageLink } from './page-link.tsx';
import { Badge, enabled, yesNo, type States } from './states.tsx';
import { showAgo, showBytes, showTime, showZone } from './time.ts';

export interface Cell<V = unknown> {
  // A method, so that a cell of texts fits into a list of cells of anything.
  render(value: V, row: Record<string, unknown>): ReactNode;
  width?: number;
  /** Takes the room that the other columns leave. */
  grows?: boolean;
  align?: 'right';
  /** Shown in muted style beside the label. */
  unit?: () => string;
}

type Maybe<T> = T | null | undefined;

const none = <span className="none">–</span>;
const shown = <T,>(value: Maybe<T>, show: (value: T) => ReactNode): ReactNode =>
  value === null || value === undefined || value === '' ? none : show(value);

/** Short text on one line, in full on hover. */
export const text = (width = 160): Cell<Maybe<string | number>> => ({
  width,
  render: (value) =>
    shown(value, (known) => (
      <span className="cell-text" title={String(known)}>
        {known}
      </span>
    )),
});

/** Longer text on a few lines. @param show what it becomes */
export const lines = (width: number, show = (value: string): ReactNode => value): Cell<string> => ({
  width,
  render: (value) => (
    <span className="cell-text cell-lines" title={value}>
      {show(value)}
    </span>
  ),
});

/** Numbers of orders, addresses, slugs: monospaced. */
export const code = (width = 180): Cell<Maybe<string>> => ({
  width,
  render: (value) =>
    shown(value, (known) => (
      <span className="cell-code" title={known}>
        {known}
      </span>
    )),
});

/** A long number, shortened to its end; in full on hover and when copied. */
export const numberEnd = (width = 136): Cell<Maybe<string>> => ({
  width,
  render: (value) => shown(value, (known) => <NumberEnd value={known} />),
});

/** The same with a link to the page of that number. */
export const numberLink = (pathOf: (number: string) => string, width = 136): Cell<Maybe<string>> => ({
  width,
  render: (value) =>
    shown(value, (known) => (
      <PageLink to={pathOf(known)}>
        <NumberEnd value={known} />
      </PageLink>
    )),
});

export const count = (width = 100): Cell<Maybe<number>> => ({
  width,
  align: 'right',
  render: (value) => shown(value, (known) => <span className="cell-figure">{showCount(known)}</span>),
});

export const money = (width = 130): Cell<Maybe<string>> => ({
  width,
  align: 'right',
  render: (value) => shown(value, (known) => <Amount value={known} />),
});

export const time = (width = 170): Cell<Maybe<string>> => ({
  width,
  unit: () => showZone(),
  render: (value) => shown(value, (known) => <Time at={known} />),
});

export const bytes = (width = 100): Cell<Maybe<number>> => ({
  width,
  align: 'right',
  render: (value) => shown(value, (known) => <span className="cell-figure">{showBytes(known)}</span>),
});

export const badge = <K extends string>(states: States<K>, width = 110): Cell<Maybe<K>> => ({
  width,
  render: (value) => shown(value, (known) => <Badge states={states} value={known} />),
});

export const numberBadge = (states: States<string>, width = 100): Cell<Maybe<number>> => ({
  width,
  render: (value) => shown(value, (known) => <Badge states={states} value={known} />),
});

export const status = (): Cell<Maybe<number>> => numberBadge(enabled, 84);

export const flag = (width = 90, all: States<'true' | 'false'> = yesNo): Cell<boolean> => ({
  width,
  render: (value) => <Badge states={all} value={value} />,
});

/** A record shown by one of its fields, with a link if it has a page. */
export const named = <V extends object>(
  field: keyof V & string,
  pathOf?: (value: V) => string,
  width = 140,
): Cell<Maybe<V>> => ({
  width,
  render: (value) =>
    shown(value, (known) => {
      const name = String(known[field]);
      return (
        <span className="cell-text" title={name}>
          {pathOf ? <PageLink to={pathOf(known)}>{name}</PageLink> : name}
        </span>
      );
    }),
});

export const namedList = <V extends object>(field: keyof V & string): Cell<readonly V[]> => ({
  width: 160,
  render: (values) =>
    values.length === 0 ? (
      none
    ) : (
      <span className="cell-text">{values.map((one) => String(one[field])).join(', ')}</span>
    ),
});

/** Links to everything with the same trace. */
export const trace = (): Cell<Maybe<string>> => ({
  width: 216,
  render: (value) => shown(value, (known) => <TraceLink id={known} />),
});

export const custom = <V,>(
  render: (value: V, row: Record<string, unknown>) => ReactNode,
  width = 160,
): Cell<V> => ({
  width,
  render,
});

function NumberEnd({ value }: { value: string }) {
  return (
    <span className="cell-code cell-end" title={value}>
      {value}
    </span>
  );
}

/** Never cut off: a long one breaks behind its commas. */
export function Amount({ value }: { value: string }) {
  const groups = showAmount(value).match(/[^,]+,?/g) ?? [];
  return (
    <span className="cell-figure">
      {groups.map((group, at) => (
        <Fragment key={at}>
          {group}
          <wbr />
        </Fragment>
      ))}
    </span>
  );
}

export function Time({ at }: { at: string }) {
  return (
    // Said anew whenever it is looked at: a page may be open for hours.
    <Tooltip title={() => `${showAgo(at)} · ${showZone(at)}`}>
      <time dateTime={at} className="cell-figure">
        {showTime(at)}
      </time>
    </Tooltip>
  );
}

/** A value as its cell shows it; one that cannot be shown breaks its cell only. */
export function Value({ cell, value, row }: { cell: Cell; value: unknown; row: Record<string, unknown> }) {
  return (
    <Guard place="cell" of={value}>
      <Rendered cell={cell} value={value} row={row} />
    </Guard>
  );
}

function Rendered({ cell, value, row }: { cell: Cell; value: unknown; row: Record<string, unknown> }) {
  return cell.render(value, row);
}

/** The name of a column or field, with its unit. */
export function Label({ text: words, cell }: { text: string; cell: Cell | undefined }) {
  if (!cell?.unit) return words;
  return (
    <>
      {words} <small className="unit">{cell.unit()}</small>
    </>
  );
}

function TraceLink({ id }: { id: string }) {
  return (
    <PageLink to={`/logs/operation-logs?trace_id=${encodeURIComponent(id)}`} className="cell-code">
      {id}
    </PageLink>
  );
}
