// The filters of a list, each bound to its name in the URL.
import { DownOutlined, FilterOutlined } from '@ant-design/icons';
import { Button, ConfigProvider, Flex, Input, Space } from 'antd';
import { lazy, startTransition, Suspense, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { read, texts } from '../../contract/texts.ts';
import type { Control, Field } from '../form/fields.tsx';
import { labelOf, type Resource } from '../resource.ts';
import { MenuButton } from '../show/menu-button.tsx';
import { useMay } from '../show/profile.ts';
import { showDay } from '../show/time.ts';
import type { ListState } from './codec.ts';
import { isPeriod, periodBounds, periodNames, periodOf, type PeriodName } from './periods.ts';
import type { Change } from './use-list.ts';

const t = texts({
  from: ['开始日期', 'From'],
  to: ['结束日期', 'To'],
  clear: ['清除筛选', 'Clear filters'],
  period: ['时间', 'Period'],
  filters: ['筛选', 'Filters'],
  more: ['更多筛选', 'More filters'],
  fewer: ['收起', 'Fewer filters'],
  presets: ['常用时间', 'Common periods'],
  any: ['不限', 'Any'],
});

type TakeChange = (change: Change, options?: { replace: boolean }) => void;

export function Filters({
  resource,
  state,
  change,
  clear,
  cleared,
}: {
  resource: Resource;
  state: ListState;
  change: TakeChange;
  clear: () => void;
  /** How often they were cleared. */
  cleared: number;
}) {
  const { filters, dateRange, rare = [] } = resource.spec;
  const set = (name: string, text: string, isTyped = false) =>
    change({ filters: { [name]: text } }, { replace: isTyped });
  const [isOpen, setOpen] = useState(false);
  const [hasMore, setMore] = useState(false);
  const count = Object.keys(state.filters).length;
  const may = useMay();
  const possible = Object.entries(filters).filter(([, { needs }]) => !needs || may(needs));
  const shown = possible.filter(
    ([name]) => hasMore || !rare.includes(name) || state.filters[name] !== undefined,
  );
  return (
    <Flex wrap gap={8} className={isOpen ? 'filters open' : 'filters'} role="search">
      {/* On a narrow screen the rows come first. */}
      <Button
        className="only-narrow"
        icon={<FilterOutlined />}
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {count > 0 ? `${t.filters} (${count})` : t.filters}
      </Button>
      {/* The frame around a control and its name takes the place of the control's own. */}
      <ConfigProvider variant="borderless">
        {shown.map(([name, field]) => (
          <FilterControl
            key={`${name} ${cleared}`}
            name={name}
            field={field}
            label={read(labelOf(resource, name))}
            value={state.filters[name]}
            onChange={(text) => set(name, text, field.isTyped)}
          />
        ))}
      </ConfigProvider>
      {dateRange && <Period state={state} change={change} />}
      {rare.length > 0 && (
        <Button
          type="text"
          className="more-filters"
          aria-expanded={hasMore}
          onClick={() => setMore(!hasMore)}
        >
          {hasMore ? t.fewer : t.more}
        </Button>
      )}
      {count > 0 && (
        <Button type="link" onClick={clear}>
          {t.clear}
        </Button>
      )}
    </Flex>
  );
}

const typingMs = 250;

interface FilterProps {
  name: string;
  field: Field;
  label: string;
  value: string | undefined;
  onChange: (text: string) => void;
}

const textOf = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : '';

const isWrongFor = ({ check }: Field, text: string): boolean =>
  text !== '' && check !== undefined && !check(text);

// Typing updates the URL after a pause. What is typed shows until the list is drawn as the URL says; then the URL wins,
// unless somebody is typing again.
function FilterControl({ name, field, label, value, onChange }: FilterProps) {
  const [draft, setDraft] = useState<string | undefined>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    const isDrawn = (value ?? '') === (new URLSearchParams(location.search).get(name) ?? '');
    if (isDrawn && timer.current === undefined) setDraft(undefined);
  }, [name, value]);
  const shown = draft ?? value;
  const parsed = shown === undefined ? undefined : field.parse ? field.parse(shown) : shown;
  const take = (next: unknown) => {
    const text = textOf(next);
    clearTimeout(timer.current);
    timer.current = undefined;
    if (!field.isTyped) return onChange(text);
    setDraft(text);
    if (isWrongFor(field, text)) return undefined;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      onChange(text);
    }, typingMs);
    return undefined;
  };
  // What is no value yet does not filter, and says so.
  const problem = draft !== undefined && isWrongFor(field, draft) ? field.problem?.(draft) : undefined;
  const props: Control = { value: parsed, onChange: take, 'aria-label': label, placeholder: t.any };
  if (problem) props['aria-invalid'] = true;
  return (
    <div
      className={problem ? 'filter wrong' : shown ? 'filter set' : 'filter'}
      title={problem}
      data-filter={name}
    >
      <span className="filter-name" aria-hidden>
        {label}
      </span>
      {field.control(props)}
    </div>
  );
}

// The calendar is heavy, so it is loaded on demand.
const Calendar = lazy(() => import('./calendar.tsx'));

function Period({ state, change }: { state: ListState; change: TakeChange }) {
  const [search] = useSearchParams();
  const [isWanted, setWanted] = useState(false);
  // The plain fields stay until it is loaded; it takes their focus, unless that has gone elsewhere.
  const want = (isIt: boolean) => startTransition(() => setWanted(isIt));
  const { start_time = '', end_time = '' } = state.filters;
  const shown = [start_time, end_time].map((time) => (time ? showDay(time) : ''));
  const names = [t.from, t.to];
  const plain = (
    <Space.Compact className="filter-period" role="group" aria-label={t.period}>
      {names.map((name, at) => (
        <Input
          key={name}
          readOnly
          aria-label={name}
          placeholder={name}
          value={shown[at]}
          onFocus={() => want(true)}
          onBlur={() => want(false)}
        />
      ))}
    </Space.Compact>
  );
  const take = (range: Record<string, string>, period = '') => change({ filters: range, period });
  const current = periodOf(start_time, end_time, search.get('period') ?? '');
  const periodName = current ? read(periodNames[current]) : t.period;
  const items = (Object.keys(periodNames) as PeriodName[]).map((key) => ({
    key,
    label: read(periodNames[key]),
  }));
  return (
    <Space.Compact className="filter-times">
      <MenuButton
        items={items}
        onChoose={(key) => isPeriod(key) && take({ ...periodBounds(key) }, key)}
        aria-label={`${periodName} – ${t.presets}`}
        icon={<DownOutlined />}
        iconPlacement="end"
      >
        {periodName}
      </MenuButton>
      <Suspense fallback={plain}>
        {isWanted ? (
          <Calendar start={start_time} end={end_time} names={names} onChange={(range) => take(range)} />
        ) : (
          plain
        )}
      </Suspense>
    </Space.Compact>
  );
}
