// A user, found by a part of the name, display name or phone.
import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import { call, type Row } from '../../contract/api.ts';
import { texts } from '../../contract/texts.ts';
import { failureOf } from '../show/problem.tsx';
import { useMay } from '../show/profile.ts';
import { useSettled } from '../show/typed.ts';
import { clearing } from './clearing.tsx';
import type { Control, Field } from './fields.tsx';

const t = texts({
  search: ['用户名、昵称或电话', 'Name or phone'],
  searching: ['正在查找…', 'Searching…'],
  none: ['没有找到用户', 'No user found'],
  denied: ['没有查看用户列表的权限，无法选择用户', 'You may not list users, so none can be chosen'],
});

export const userPicker = (): Field<number> => ({
  check: (text) => /^\d+$/.test(text),
  parse: Number,
  needs: 'GET /api/admin/users',
  control: (props) => <UserPicker {...props} />,
});

type User = Row<'GET /api/admin/users'>;

const shown = 20;

/** The latest users, or those that contain the text: the one of exactly that name first, then those that begin with it. */
async function findUsers(text: string, signal: AbortSignal): Promise<User[]> {
  const find = async (query: object) =>
    (await call('GET /api/admin/users', { query: { ...query, page_size: shown }, signal })).list;
  if (text === '') return find({});
  const isNumber = /^[+\d][\d -]*$/.test(text);
  const found = await Promise.all([
    find({ username: text, order_by: 'username:asc' }),
    find({ nickname: text, order_by: 'nickname:asc' }),
    ...(isNumber ? [find({ phone: text })] : []),
  ]);
  const users = [...new Map(found.flat().map((user) => [user.id, user])).values()];
  const wanted = text.toLowerCase();
  const rank = ({ username, nickname, phone }: User): number => {
    const names = [username, nickname, phone ?? ''].map((name) => name.toLowerCase());
    if (names[0] === wanted) return 0;
    if (names.includes(wanted)) return 1;
    return names[0]?.startsWith(wanted) ? 2 : names.some((name) => name.startsWith(wanted)) ? 3 : 4;
  };
  return users.sort((one, other) => rank(one) - rank(other));
}

const labelOf = ({ username, nickname }: User): string =>
  nickname && nickname !== username ? `${username} · ${nickname}` : username;

function UserPicker(props: Control<number>) {
  const may = useMay();
  if (!may('GET /api/admin/users')) return <Select<number> {...props} disabled placeholder={t.denied} />;
  return <UserSelect {...props} />;
}

function UserSelect(props: Control<number>) {
  const may = useMay();
  const [typed, setTyped] = useState('');
  const wanted = typed.trim();
  const asked = useSettled(wanted);
  const [isOpen, setOpen] = useState(false);
  const found = useQuery({
    queryKey: ['users', 'pick', asked],
    queryFn: ({ signal }) => findUsers(asked, signal),
    enabled: isOpen,
    staleTime: 10_000,
  });
  const isPending = wanted !== asked || found.isLoading;
  const users = found.data ?? [];
  const isListed = users.some(({ id }) => id === props.value);
  const known = useQuery({
    queryKey: ['users', 'one', String(props.value)],
    queryFn: ({ signal }) => call('GET /api/admin/users/{id}', { path: { id: props.value ?? 0 }, signal }),
    enabled: props.value !== undefined && !isListed && may('GET /api/admin/users/{id}'),
    staleTime: 60_000,
  });
  const all = known.data && !isListed && wanted === '' ? [...users, known.data] : users;
  const chosen = [...users, known.data].find((user) => user?.id === props.value);
  return (
    // While the answer is pending, Enter would choose what an earlier text has found.
    <div
      className="wide"
      onKeyDownCapture={(event) => {
        if (isPending && event.key === 'Enter' && !event.ctrlKey && !event.metaKey) event.stopPropagation();
      }}
    >
      <Select<number>
        {...props}
        className="wide"
        allowClear={clearing()}
        placeholder={props.placeholder ?? t.search}
        showSearch={{ filterOption: false, onSearch: setTyped }}
        onOpenChange={setOpen}
        loading={found.isFetching}
        labelRender={({ value, label }) => (chosen ? labelOf(chosen) : (label ?? value))}
        notFoundContent={isPending ? t.searching : found.error ? failureOf(found.error).message : t.none}
        options={isPending ? [] : all.map((user) => ({ value: user.id, label: labelOf(user) }))}
      />
    </div>
  );
}
