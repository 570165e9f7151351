// Saved views of a list: its filters, order and columns under a name. The address of a view shows the same to somebody else.
import { BookOutlined } from '@ant-design/icons';
import { App } from 'antd';
import { lazy, Suspense, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { copyText } from '../../contract/plain-http.ts';
import { changeSettings, useSettings, type View } from '../../contract/settings.ts';
import { texts } from '../../contract/texts.ts';
import { MenuButton } from '../show/menu-button.tsx';
import type { Resource } from '../resource.ts';
import { isPeriod, periodBounds, periodOf } from './periods.ts';
import { useHiddenColumns } from './use-list.ts';

const t = texts({
  views: ['视图', 'Views'],
  save: ['保存当前视图…', 'Save this view…'],
  copy: ['复制链接', 'Copy the link'],
  copied: ['链接已复制', 'Link copied'],
  rename: ['重命名视图', 'Rename view'],
  renamed: ['视图已重命名', 'View renamed'],
  remove: ['删除视图', 'Delete view'],
  saved: ['视图已保存', 'View saved'],
});

// Needed when a view is saved or renamed.
const NameView = lazy(() => import('./name-view.tsx'));

// A period that has a name moves with the calendar.
function stored(search: URLSearchParams): string {
  const given = (name: string) => search.get(name) ?? '';
  const period = periodOf(given('start_time'), given('end_time'), given('period'));
  search.delete('period');
  if (period) {
    search.delete('start_time');
    search.delete('end_time');
    search.set('period', period);
  }
  search.delete('page');
  return search.toString();
}

function opened({ search }: View): string {
  const query = new URLSearchParams(search);
  const period = query.get('period') ?? '';
  if (isPeriod(period)) for (const [name, at] of Object.entries(periodBounds(period))) query.set(name, at);
  return query.toString();
}

export function Views({ resource }: { resource: Resource }) {
  const { name, columns } = resource.spec;
  const { views } = useSettings();
  const own = views[name] ?? [];
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  const { message } = App.useApp();
  const hidden = useHiddenColumns(resource);
  // The view that gets another name; empty for a new one.
  const [naming, setNaming] = useState<string>();
  const current = (): URLSearchParams => {
    const query = new URLSearchParams(search);
    query.set(
      'columns',
      Object.keys(columns)
        .filter((column) => !hidden.includes(column))
        .join(),
    );
    return query;
  };
  const keep = (next: View[]) => changeSettings({ views: { ...views, [name]: next } });
  // Either takes the place of another one of that name.
  const save = (title: string) => {
    keep([...own.filter((one) => one.name !== title), { name: title, search: stored(current()) }]);
    void message.success(t.saved);
  };
  const rename = (old: string, title: string) => {
    const others = own.filter((one) => one.name === old || one.name !== title);
    keep(others.map((one) => (one.name === old ? { ...one, name: title } : one)));
    void message.success(t.renamed);
  };
  const copy = async () => {
    await copyText(`${location.origin}${location.pathname}?${current().toString()}`);
    void message.success(t.copied);
  };
  const choose = (key: string) => {
    const [kind, title] = [key.slice(0, key.indexOf(' ')), key.slice(key.indexOf(' ') + 1)];
    if (kind === 'save') return setNaming('');
    if (kind === 'rename') return setNaming(title);
    if (kind === 'copy') return void copy();
    if (kind === 'remove') return keep(own.filter((one) => one.name !== title));
    const view = own.find((one) => one.name === title);
    return view && void navigate(`${pathname}?${opened(view)}`);
  };
  const ofEach = (kind: string, label: string) => ({
    ...{ key: `each ${kind}`, label },
    children: own.map((one) => ({ key: `${kind} ${one.name}`, label: one.name })),
  });
  const items = [
    ...own.map((one) => ({ key: `open ${one.name}`, label: one.name })),
    ...(own.length > 0 ? [{ type: 'divider' as const }] : []),
    { key: 'save ', label: t.save },
    { key: 'copy ', label: t.copy },
    ...(own.length > 0 ? [ofEach('rename', t.rename), ofEach('remove', t.remove)] : []),
  ];
  return (
    <>
      <MenuButton
        items={items}
        onChoose={choose}
        icon={<BookOutlined />}
        aria-label={t.views}
        title={t.views}
      />
      {naming !== undefined && (
        <Suspense fallback={null}>
          <NameView
            title={naming ? t.rename : t.save}
            name={naming}
            onSave={(title) => {
              setNaming(undefined);
              if (naming) rename(naming, title);
              else save(title);
            }}
            onClose={() => setNaming(undefined)}
          />
        </Suspense>
      )}
    </>
  );
}
