// Inputs of forms and filters. Every control gets its accessible name from its label.
import { useQuery } from '@tanstack/react-query';
import { Input, Select } from 'antd';
import { lazy, Suspense, type ReactNode } from 'react';
import { call, type Route } from '../../contract/api.ts';
import { texts, type Both } from '../../contract/texts.ts';
import { isAmount, typedAmount } from '../show/money.ts';
import { failureOf } from '../show/problem.tsx';
import { useMay } from '../show/profile.ts';
import { enabled, isOneOf, nameOf, yesNo, type States } from '../show/states.tsx';
import { flat } from '../show/tree.ts';
import { clearing } from './clearing.tsx';
import { passwordRules } from './password-rules.ts';

export interface Control<V = unknown> {
  id?: string;
  value?: V;
  // A method, so that a field of texts fits into a form of fields of anything.
  onChange?(value: V): void;
  'aria-label'?: string;
  'aria-invalid'?: boolean;
  placeholder?: string;
}

export interface Field<V = unknown> {
  /** @param row that the form changes */
  control(props: Control<V>, row?: Record<string, unknown>): ReactNode;
  /** Initial value of an empty form. */
  initial?: V;
  /** The value of the control for an existing row; by default its field of the same name. */
  from?(row: Record<string, unknown>): V;
  /** Whether a text of the URL is a value of this filter. */
  check?(text: string): boolean;
  /** Converts the text of the URL to the value of the control. */
  parse?(text: string): V;
  /** Checks beyond the contract; returns the problem. */
  problem?(value: V): string | undefined;
  /** What is missing, said once it is sent: it is being filled in. */
  missing?(value: V): string | undefined;
  /** Required here, though the contract does not say so. */
  isRequired?: boolean;
  /** What is accepted, said beforehand. */
  hint?: Both;
  /** The route its control asks: who may not call it gets no such filter. */
  needs?: Route;
  /** Write-only: not stored in drafts. */
  isSecret?: boolean;
  /** The part of the value that may be stored in a draft. */
  withoutSecrets?(value: unknown): unknown;
  /** Several controls instead of one, with names below this field's. */
  items?(place: { name: string; row: Record<string, unknown> | undefined }): ReactNode;
  /** Typed: replaces the URL instead of adding to the history. */
  isTyped?: boolean;
}

const t = texts({
  choose: ['请选择', 'Choose'],
  badAmount: ['请输入最多两位小数的金额', 'Enter an amount with at most two decimals'],
  denied: ['没有查看该列表的权限，无法选择', 'You may not list these, so none can be chosen'],
  disabled: [(name: string) => `${name}（已停用）`, (name) => `${name} (disabled)`],
});

// Rare in filters, so loaded with the first form.
const NumberInput = lazy(() => import('./number-input.tsx'));
const Switch = lazy(() => import('antd/es/switch'));

export const words = (): Field<string> => ({
  isTyped: true,
  control: ({ onChange, ...props }) => (
    <Input {...props} allowClear={clearing()} onChange={(event) => onChange?.(event.target.value)} />
  ),
});

/** A name that is to be given to an account. */
export const newUsername = (): Field<string> => ({
  ...words(),
  hint: ['3 至 50 位，只能包含字母、数字和 _ . @ -', '3 to 50 letters, digits and _ . @ -'],
});

export const slug = (): Field<string> => ({
  ...words(),
  hint: [
    '只能包含字母、数字和 _ . : -，以字母或数字开头',
    'Letters, digits and _ . : -, beginning with a letter or digit',
  ],
});

export const note = (rows = 3): Field<string> => ({
  control: ({ onChange, ...props }) => (
    <Input.TextArea {...props} rows={rows} onChange={(event) => onChange?.(event.target.value)} />
  ),
});

const secret = (): Field<string> => ({
  isSecret: true,
  control: ({ onChange, ...props }) => (
    <Input.Password
      {...props}
      autoComplete="new-password"
      onChange={(event) => onChange?.(event.target.value)}
    />
  ),
});

/** A password to be set. */
export const newPassword = (): Field<string> => ({ ...secret(), hint: passwordRules });

export const amount = (): Field<string> => ({
  isTyped: true,
  check: isAmount,
  problem: (value) => (value && !isAmount(value) ? t.badAmount : undefined),
  control: ({ onChange, ...props }) => (
    <Input
      {...props}
      inputMode="decimal"
      prefix="¥"
      onChange={(event) => onChange?.(typedAmount(event.target.value))}
    />
  ),
});

export const integer = (min: number, max: number): Field<number | null> => ({
  check: (text) => /^-?\d{1,12}$/.test(text),
  parse: Number,
  isTyped: true,
  control: (props) => <Whole {...props} min={min} max={max} />,
});

const Whole = (props: Control<number | null> & { min: number; max: number }) => (
  <Suspense fallback={<Input disabled placeholder={props.placeholder} />}>
    <NumberInput {...props} />
  </Suspense>
);

/** Where an entry stands among the others of its list. */
export const position = (): Field<number | null> => integer(-1_000_000, 1_000_000);

/** Minutes for people, seconds in the API. */
export const minutes = (max: number): Field<number | null> => ({
  control: ({ value, onChange, ...props }) => (
    <Whole
      {...props}
      min={1}
      max={max}
      value={typeof value === 'number' ? value / 60 : value}
      onChange={(count) => onChange?.(typeof count === 'number' ? count * 60 : null)}
    />
  ),
});

const oneOf = <V extends string | number>(all: States<string>, parse: (text: string) => V): Field<V> => ({
  check: (text) => isOneOf(all, text),
  parse,
  control: (props) => (
    <Select<V>
      {...props}
      allowClear={clearing()}
      placeholder={props.placeholder ?? t.choose}
      options={Object.keys(all).map((key) => ({ value: parse(key), label: nameOf(all, key) }))}
    />
  ),
});

/** One of a few states. */
export const choice = <K extends string>(all: States<K>): Field<K> => oneOf(all, (text) => text as K);

/** The same for numbers, such as a status. */
export const numberChoice = (all: States<string>): Field<number> => oneOf(all, Number);

export const status = (): Field<number> => numberChoice(enabled);

export const yesOrNo = (): Field<boolean> => ({
  check: (text) => text === 'true' || text === 'false',
  parse: (text) => text === 'true',
  control: ({ value, onChange, ...props }) => (
    <Select<string>
      {...props}
      allowClear={clearing()}
      placeholder={props.placeholder ?? t.choose}
      value={value === undefined ? undefined : String(value)}
      onChange={(chosen) => onChange?.((chosen === undefined ? undefined : chosen === 'true') as boolean)}
      options={['true', 'false'].map((one) => ({ value: one, label: nameOf(yesNo, one) }))}
    />
  ),
});

const toggle = <V,>(on: V, off: V, initial: V): Field<V> => ({
  initial,
  control: ({ value, onChange, ...props }) => (
    <Suspense fallback={null}>
      <Switch {...props} checked={value === on} onChange={(isOn) => onChange?.(isOn ? on : off)} />
    </Suspense>
  ),
});

/** A switch in a form; 0 and 1 in the API. */
export const onOff = (initial = 1): Field<number> => toggle(1, 0, initial);

export const trueOrFalse = (): Field<boolean> => toggle(true, false, true);

type Option = { value: string | number; label: string; children?: Option[] };

/** What may be chosen from, and the list with the same entries, whose right the choice needs. */
const lists = {
  role: 'GET /api/admin/roles',
  admin: 'GET /api/admin/admins',
  payment_method: 'GET /api/admin/payment-methods',
  department: 'GET /api/admin/departments',
  menu: 'GET /api/admin/menus',
} as const satisfies Record<string, Route>;

type OptionKind = keyof typeof lists;

const without = (entries: readonly Option[], id: unknown): Option[] =>
  entries
    .filter(({ value }) => value !== id)
    .map((one) => (one.children ? { ...one, children: without(one.children, id) } : one));

interface Listed {
  id: number;
  name?: string;
  title?: string;
  username?: string;
  children?: Listed[];
}

function useOptions(type: OptionKind) {
  const may = useMay();
  return useQuery({
    queryKey: ['options', type],
    queryFn: ({ signal }) =>
      call('GET /api/admin/options', { query: { type }, signal }) as Promise<unknown> as Promise<Option[]>,
    staleTime: 30_000,
    enabled: may(lists[type]),
  });
}

/** What is chosen but no longer offered because it was disabled since, by its name. */
function useDisabledOptions(
  type: OptionKind,
  offered: readonly Option[] | undefined,
  chosen: number[],
): Option[] {
  const ids = new Set(offered && flat(offered).map(({ value }) => value));
  const missing = offered ? chosen.filter((id) => !ids.has(id)) : [];
  const { data } = useQuery({
    queryKey: ['options', type, 'all'],
    queryFn: async ({ signal }) =>
      flat((await call(lists[type], { query: { page_size: '100' }, signal })).list as Listed[]),
    staleTime: 30_000,
    enabled: missing.length > 0,
  });
  return missing.map((value) => {
    const { name, title, username } = data?.find(({ id }) => id === value) ?? {};
    const known = name ?? title ?? username;
    return { value, label: known === undefined ? String(value) : t.disabled(known) };
  });
}

/** An entry of another resource that is small enough to list. */
export const option = (type: OptionKind): Field<number | null> => ({
  needs: lists[type],
  check: (text) => /^\d+$/.test(text),
  parse: Number,
  control: (props) => <OptionSelect {...(props as Control)} type={type} />,
});

/** The entry above another one of the same tree: neither that one itself nor one below it. */
export const parent = (type: 'department' | 'menu'): Field<number | null> => ({
  ...option(type),
  control: (props, row) => <OptionSelect {...(props as Control)} type={type} child={row?.id} />,
});

export const options = (type: OptionKind): Field<number[]> => ({
  control: (props) => <OptionSelect {...(props as Control)} type={type} multiple />,
});

/** In place of a choice from a list that the administrator may not see. */
export const NotListed = ({ id, 'aria-label': label }: Pick<Control, 'id' | 'aria-label'>) => (
  <Input id={id} aria-label={label} disabled placeholder={t.denied} />
);

// Two resources are trees.
const TreePicker = lazy(() => import('antd/es/tree-select'));

function OptionSelect({
  type,
  multiple,
  child,
  ...props
}: Control & { type: OptionKind; multiple?: boolean; child?: unknown }) {
  const may = useMay();
  const { data, error, isFetching } = useOptions(type);
  // The parent of an entry at the top is 0.
  const value = props.value === 0 ? undefined : (props.value as number | number[] | null | undefined);
  const disabled = useDisabledOptions(type, data, [value ?? []].flat());
  const offered = [...without(data ?? [], child), ...disabled];
  // What is chosen is known by its number only, and stays.
  if (!may(lists[type])) return <NotListed {...props} />;
  const nothing = error ? failureOf(error).message : undefined;
  if (type === 'department' || type === 'menu') {
    return (
      <Suspense fallback={<Input disabled placeholder={props.placeholder} />}>
        <TreePicker
          {...props}
          value={value}
          allowClear={clearing()}
          showSearch
          treeDefaultExpandAll
          loading={isFetching}
          treeNodeFilterProp="label"
          treeData={offered}
          notFoundContent={nothing}
        />
      </Suspense>
    );
  }
  return (
    <Select
      {...props}
      value={value}
      allowClear={clearing()}
      mode={multiple ? 'multiple' : undefined}
      placeholder={props.placeholder ?? (multiple ? undefined : t.choose)}
      loading={isFetching}
      showSearch={{ optionFilterProp: 'label' }}
      options={offered}
      notFoundContent={nothing}
    />
  );
}
