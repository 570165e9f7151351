// One box for everything: records by number, name or trace, screens by name, what one may do; and the keyboard shortcuts.
import { useQuery } from '@tanstack/react-query';
import { Empty, Input, Modal } from 'antd';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { call, type Row } from '../contract/api.ts';
import { recentRecords } from '../contract/recent.ts';
import { read, texts, type Both } from '../contract/texts.ts';
import { isOfInputMethod, pasted, useSettled } from '../parts/show/typed.ts';
import { failureOf } from '../parts/show/problem.tsx';
import { opens, useProfile, type Profile } from '../parts/show/profile.ts';
import { Badge, enabled, type States } from '../parts/show/states.tsx';
import { orderStates, paymentStates, refundStates } from '../parts/show/trade-states.ts';
import { useReturnFocus } from '../parts/show/focus.ts';
import { menuScreens } from './menu.tsx';
import { placesOf } from './places.ts';

const t = texts({
  find: [
    '查找订单、支付、退款、用户、管理员或页面',
    'Find orders, payments, refunds, users, administrators or pages',
  ],
  keys: ['快捷键', 'Keys'],
  nothing: ['在您有权查看的内容中没有找到', 'Nothing found in what you may open'],
  searching: ['正在查找…', 'Searching…'],
  recent: ['最近打开', 'Recently opened'],
  records: ['记录', 'Records'],
  screens: ['页面', 'Pages'],
  actions: ['操作', 'Actions'],
  hint: [
    '单号（开头或末尾至少 6 位）、第三方单号、用户名、电话、邮箱、追踪号',
    'A number (its start, or at least 6 characters of its end), third-party number, name, phone, email or trace',
  ],
});

type Key = readonly [key: string, meaning: Both];

const inLists: readonly Key[] = [
  ['/', ['查找', 'Find']],
  ['Ctrl K', ['查找（在输入框中也可以）', 'Find, also while typing']],
  ['?', ['显示快捷键', 'Show the keys']],
  ['n', ['新建', 'New']],
  ['j / k', ['下一行、上一行', 'Next row, previous row']],
  ['Enter', ['打开这一行', 'Open the row']],
];

const inForms: readonly Key[] = [
  ['Ctrl Enter', ['保存表单', 'Save a form']],
  ['Esc', ['关闭', 'Close']],
];

export default function Palette({ mode, onClose }: { mode: 'find' | 'keys'; onClose: () => void }) {
  useReturnFocus(false);
  const places = [...placesOf(useProfile())].map(([key, { title }]): Key => [`g ${key}`, title]);
  return mode === 'keys' ? (
    <Modal open title={t.keys} footer={null} onCancel={onClose} width={360}>
      <dl className="keys">
        {[...inLists, ...places, ...inForms].map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{read(meaning)}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  ) : (
    <Finder onClose={onClose} />
  );
}

type Hit = Row<'GET /api/admin/search'>;

/** What each kind of record is called, where its page is, and the states it may have. */
const kinds: Record<Hit['kind'], { name: Both; path: string; states: States<string> }> = {
  order: { name: ['订单', 'Order'], path: '/trade/orders/', states: orderStates },
  payment: { name: ['支付', 'Payment'], path: '/trade/payments/', states: paymentStates },
  refund: { name: ['退款', 'Refund'], path: '/trade/refunds/', states: refundStates },
  user: { name: ['用户', 'User'], path: '/trade/users/', states: enabled },
  admin: { name: ['管理员', 'Administrator'], path: '/access/admins/', states: enabled },
  trace: { name: ['追踪', 'Trace'], path: '/logs/operation-logs?trace_id=', states: {} },
};

interface Entry {
  address: string;
  group: string;
  title: string;
  note?: ReactNode;
}

const fromHit = ({ kind, id, title, note, status }: Hit): Entry => ({
  address: kinds[kind].path + encodeURIComponent(id),
  group: t.records,
  title,
  note: (
    <>
      <span>{read(kinds[kind].name)}</span>
      {note !== '' && note !== title && <span>{note}</span>}
      {status !== '' && <Badge states={kinds[kind].states} value={status} />}
    </>
  ),
});

const actions: readonly (readonly [route: Parameters<typeof opens>[1], address: string, name: Both])[] = [
  ['POST /api/admin/orders', '/trade/orders/new', ['新建订单', 'New order']],
  ['POST /api/admin/orders/import', '/imports/imports/new', ['导入订单', 'Import orders']],
  ['POST /api/admin/users', '/trade/users/new', ['新建用户', 'New user']],
  ['POST /api/admin/admins', '/access/admins/new', ['新建管理员', 'New administrator']],
  [
    'GET /api/admin/payments',
    '/trade/payments?needs_attention=true',
    ['处理异常支付', 'Payments that need attention'],
  ],
  [
    'GET /api/admin/refunds',
    '/trade/refunds?needs_attention=true',
    ['处理异常退款', 'Refunds that need attention'],
  ],
];

function entriesOf(profile: Profile, wanted: string): Entry[] {
  const matches = (text: string) => text.toLowerCase().includes(wanted.toLowerCase());
  const screens = menuScreens(profile)
    .filter(({ title, address }) => matches(`${title} ${address}`))
    .map((one) => ({ ...one, group: t.screens }));
  const possible = actions
    .filter(([route, , name]) => opens(profile, route) && matches(name.join(' ')))
    .map(([, address, name]) => ({ address, title: read(name), group: t.actions }));
  return [...screens, ...possible];
}

const minSearched = 2;

function Finder({ onClose }: { onClose: () => void }) {
  const profile = useProfile();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const [wantsFirst, setWantsFirst] = useState(false);
  const list = useRef<HTMLUListElement>(null);
  const wanted = pasted(typed);
  const asked = useSettled(wanted);
  const isSearched = asked.length >= minSearched && asked.length <= 64;
  const { data, error, isFetching } = useQuery({
    queryKey: ['search', asked],
    queryFn: ({ signal }) => call('GET /api/admin/search', { query: { q: asked }, signal }),
    enabled: isSearched,
    staleTime: 5000,
  });
  const isPending = (wanted !== asked && wanted.length >= minSearched) || (isSearched && isFetching && !data);
  const hits = isSearched && wanted === asked ? (data?.list ?? []).map(fromHit) : [];
  const recent = recentRecords().map((one) => ({ ...one, group: t.recent }));
  const own = entriesOf(profile, wanted);
  // Pages that begin as typed come before records, those that contain it after them.
  const isNamed = ({ title }: Entry) => title.toLowerCase().startsWith(wanted.toLowerCase());
  const found: Entry[] =
    wanted === ''
      ? [...recent, ...own]
      : [...own.filter(isNamed), ...hits, ...own.filter((one) => !isNamed(one))];
  const go = (address: string | undefined) => {
    if (!address) return;
    onClose();
    void navigate(address);
  };
  // Enter pressed before the answer opens its first hit.
  useEffect(() => {
    if (wantsFirst && !isPending) go(found[0]?.address);
  }, [wantsFirst, isPending]);
  useEffect(() => {
    list.current?.querySelector('.chosen')?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const press = ({ key, nativeEvent }: React.KeyboardEvent) => {
    if (isOfInputMethod(nativeEvent)) return;
    if (key === 'ArrowDown') setAt((before) => Math.max(0, Math.min(before + 1, found.length - 1)));
    else if (key === 'ArrowUp') setAt((before) => Math.max(before - 1, 0));
    else if (key === 'Enter' && isPending) setWantsFirst(true);
    else if (key === 'Enter') go(found[at]?.address);
  };
  return (
    <Modal
      open
      footer={null}
      closable={false}
      onCancel={onClose}
      width={600}
      className="palette"
      title={<span className="unseen">{t.find}</span>}
    >
      <Input
        autoFocus
        size="large"
        role="combobox"
        aria-label={t.find}
        aria-expanded={found.length > 0}
        aria-controls="found"
        aria-activedescendant={found.length > 0 ? `found-${at}` : undefined}
        placeholder={t.find}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setAt(0);
          setWantsFirst(false);
        }}
        onKeyDown={press}
      />
      <ul id="found" role="listbox" aria-label={t.find} className="found" ref={list} aria-busy={isPending}>
        {found.map(({ title, address, group, note }, index) => (
          <li key={`${group} ${address}`} role="presentation">
            {group !== found[index - 1]?.group && <span className="found-group">{group}</span>}
            <button
              type="button"
              role="option"
              id={`found-${index}`}
              aria-selected={index === at}
              className={index === at ? 'chosen' : ''}
              onClick={() => go(address)}
            >
              <span className="found-title">{title}</span>
              {note && <span className="found-note">{note}</span>}
            </button>
          </li>
        ))}
      </ul>
      <p className="soft found-state" role="status">
        {isPending ? t.searching : error ? failureOf(error).message : t.hint}
      </p>
      {found.length === 0 && !isPending && !error && (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.nothing} />
      )}
    </Modal>
  );
}
