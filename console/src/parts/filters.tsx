// The filters of a list, each bound to its name in the URL.
import { Button, DatePicker, Flex } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { read, texts } from '../contract/texts.ts';
import type { ListState } from './codec.ts';
import type { Control, Field } from './fields.tsx';
import { labelOf, type Resource } from './resource.ts';
import { dayToInstant, instantToDay } from './time.ts';

const t = texts({
  'zh-CN': { from: '开始日期', to: '结束日期', clear: '清除筛选', period: '时间' },
  'en-US': { from: 'From', to: 'To', clear: 'Clear filters', period: 'Period' },
});

type Change = (changes: Partial<ListState>, options?: { replace?: boolean }) => void;

export function Filters({
  resource,
  state,
  change,
}: {
  resource: Resource;
  state: ListState;
  change: Change;
}) {
  const { filters, period } = resource.spec;
  const set = (name: string, text: string, isTyped = false) =>
    change({ filters: { ...state.filters, [name]: text } }, { replace: isTyped });
  const isAnything = Object.keys(state.filters).length > 0;
  return (
    <Flex wrap gap={8} className="filters" role="search">
      {Object.entries(filters).map(([name, field]) => (
        <FilterControl
          key={name}
          name={name}
          field={field}
          label={read(labelOf(resource, name))}
          value={state.filters[name]}
          onChange={(text) => set(name, text, field.isTyped)}
        />
      ))}
      {period && <Period state={state} change={change} />}
      {isAnything && (
        <Button type="link" onClick={() => change({ filters: {} })}>
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

// What is typed goes into the URL when the typing pauses; the URL wins whenever it changes by itself.
function FilterControl({ name, field, label, value, onChange }: FilterProps) {
  const [draft, setDraft] = useState<string | undefined>();
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const shown = draft ?? value;
  const parsed = shown === undefined ? undefined : field.parse ? field.parse(shown) : shown;
  const take = (next: unknown) => {
    const text = textOf(next);
    clearTimeout(timer.current);
    if (!field.isTyped) return onChange(text);
    setDraft(text);
    if (text !== '' && field.check && !field.check(text)) return undefined;
    timer.current = setTimeout(() => {
      setDraft(undefined);
      onChange(text);
    }, typingMs);
    return undefined;
  };
  const props: Control = { value: parsed, onChange: take, 'aria-label': label, placeholder: label };
  return (
    <div className="filter" data-filter={name}>
      {field.control(props)}
    </div>
  );
}

function Period({ state, change }: { state: ListState; change: Change }) {
  const { start_time = '', end_time = '', ...others } = state.filters;
  return (
    <DatePicker.RangePicker
      aria-label={t.period}
      className="filter-period"
      placeholder={[t.from, t.to]}
      allowEmpty
      value={[instantToDay(start_time), instantToDay(end_time)]}
      onChange={(days) => {
        const [from, to] = days ?? [];
        const range = {
          ...(from ? { start_time: dayToInstant(from, 'start') } : {}),
          ...(to ? { end_time: dayToInstant(to, 'end') } : {}),
        };
        change({ filters: { ...others, ...range } });
      }}
    />
  );
}
