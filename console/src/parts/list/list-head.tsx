// Title, row count and actions of a list.
import {
  AppstoreOutlined,
  BarsOutlined,
  PlusOutlined,
  PushpinFilled,
  PushpinOutlined,
  ReloadOutlined,
  SettingOutlined,
} from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Checkbox, Flex, Popover } from 'antd';
import { useEffect, useState } from 'react';
import { useLocation } from 'react-router';
import { call } from '../../contract/api.ts';
import { changeSettings, useSettings } from '../../contract/settings.ts';
import { plural, read, texts } from '../../contract/texts.ts';
import { keepFocus } from '../show/focus.ts';
import { LinkButton } from '../show/link-button.tsx';
import { useListAddress } from '../show/location.ts';
import { showAmount, showCount } from '../show/money.ts';
import { failureOf } from '../show/problem.tsx';
import { useMay } from '../show/profile.ts';
import { labelColumn, labelOf, type Resource } from '../resource.ts';
import type { ListState } from './codec.ts';
import { useEditQuery } from './edit-query.ts';
import { ExportButton } from './export.tsx';
import { filterValues, useHiddenColumns, type Page } from './use-list.ts';
import { Views } from './views.tsx';

const t = texts({
  rows: [
    (count: string, _: number) => `共 ${count} 条`,
    (count, exact) => `${count} ${plural(exact, 'entry', 'entries')}`,
  ],
  create: [(what: string) => `新建${what}`, (what) => `New ${what}`],
  reload: ['刷新', 'Refresh'],
  columns: ['显示的列', 'Columns'],
  compact: ['紧凑显示', 'Compact rows'],
  pin: ['固定到菜单顶部', 'Pin to the top of the menu'],
  unpin: ['取消固定', 'Unpin'],
  sum: ['计算合计', 'Sum of amounts'],
  total: [(amount: string) => `合计 ${amount}`, (amount) => `Total ${amount}`],
  tiles: ['显示为网格', 'As a grid'],
  table: ['显示为列表', 'As a list'],
});

interface HeadProps {
  resource: Resource;
  data: Page | undefined;
  state: ListState;
  /** To be listed at all. */
  isAllowed: boolean;
  onReload: () => void;
  children: React.ReactNode;
}

export function ListHead({ resource, data, state, isAllowed, onReload, children }: HeadProps) {
  const { spec } = resource;
  const may = useMay();
  const { search } = useLocation();
  const address = useListAddress();
  const Extra = spec.extra;
  return (
    <Flex wrap gap={8} align="center" justify="space-between" className="screen-head">
      <Flex align="baseline" gap={12} wrap>
        <h1>{read(spec.title)}</h1>
        {isAllowed && <Pin />}
        <span className="soft" role="status">
          {data?.total !== undefined && t.rows(showCount(data.total), data.total)}
        </span>
        {spec.hasSum && data && <Sum resource={resource} state={state} />}
      </Flex>
      <Flex gap={8} wrap>
        {children}
        {isAllowed && (
          <>
            <Button icon={<ReloadOutlined />} aria-label={t.reload} title={t.reload} onClick={onReload} />
            {spec.tiles && <Tiles name={spec.name} />}
            <Views resource={resource} />
            <Columns resource={resource} />
          </>
        )}
        {spec.exportTo && may(spec.exportTo) && may('GET /api/admin/exports/{id}/download') && (
          <ExportButton route={spec.exportTo} filters={filterValues(resource, state)} />
        )}
        {Extra && <Extra />}
        {spec.create && may(spec.create.route) && (
          <LinkButton to={`${address}/new${search}`} type="primary" icon={<PlusOutlined />}>
            {t.create(read(spec.one ?? spec.title))}
          </LinkButton>
        )}
      </Flex>
    </Flex>
  );
}

// The sum costs more than a page of rows, so it is asked for on demand, and again with other filters.
function Sum({ resource: { list, spec }, state }: { resource: Resource; state: ListState }) {
  const filters = JSON.stringify(state.filters);
  const [wanted, setWanted] = useState<string>();
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: [spec.name, 'sum', filters],
    queryFn: async ({ signal }) => {
      const query = { ...state.filters, page_size: '1', with_sum: 'true' };
      const page: unknown = await call(list, { query, signal });
      return page as Page & { amount_sum?: string };
    },
    enabled: wanted === filters,
    meta: { scopes: spec.stale ?? [] },
  });
  const sum = wanted === filters ? data?.amount_sum : undefined;
  const isShown = sum !== undefined;
  // The button that asked for it is gone.
  useEffect(() => {
    if (isShown) keepFocus();
  }, [isShown]);
  if (isShown) return <strong className="cell-figure">{t.total(showAmount(sum))}</strong>;
  const ask = () => (wanted === filters ? void refetch() : setWanted(filters));
  return (
    <span>
      <Button size="small" type="link" loading={isFetching} onClick={ask}>
        {t.sum}
      </Button>
      {error && (
        <span className="broken" role="alert">
          {failureOf(error).message}
        </span>
      )}
    </span>
  );
}

function Pin() {
  const { pinned } = useSettings();
  const { pathname } = useLocation();
  const address = pathname.split('/').slice(0, 3).join('/');
  const isPinned = pinned.includes(address);
  const text = isPinned ? t.unpin : t.pin;
  return (
    <Button
      type="text"
      size="small"
      icon={isPinned ? <PushpinFilled /> : <PushpinOutlined />}
      aria-label={text}
      aria-pressed={isPinned}
      title={text}
      onClick={() =>
        changeSettings({ pinned: isPinned ? pinned.filter((one) => one !== address) : [...pinned, address] })
      }
    />
  );
}

function Tiles({ name }: { name: string }) {
  const { tiled } = useSettings();
  const isTiled = tiled.includes(name);
  const text = isTiled ? t.table : t.tiles;
  return (
    <Button
      icon={isTiled ? <BarsOutlined /> : <AppstoreOutlined />}
      aria-label={text}
      title={text}
      onClick={() =>
        changeSettings({ tiled: isTiled ? tiled.filter((one) => one !== name) : [...tiled, name] })
      }
    />
  );
}

// Chosen columns are a setting, not part of the link.
function Columns({ resource }: { resource: Resource }) {
  const { hidden, isCompact } = useSettings();
  const editQuery = useEditQuery();
  const { name, columns } = resource.spec;
  const off = useHiddenColumns(resource);
  const names = Object.keys(columns);
  const show = (on: readonly string[]) => {
    changeSettings({ hidden: { ...hidden, [name]: names.filter((column) => !on.includes(column)) } });
    const forget = (query: URLSearchParams) => {
      query.delete('columns');
      return query;
    };
    editQuery(forget, { replace: true });
  };
  return (
    // Around both, so that the next Tab leads from the button to the columns.
    <span>
      <Popover
        trigger="click"
        placement="bottomRight"
        getPopupContainer={({ parentElement }) => parentElement ?? document.body}
        title={t.columns}
        content={
          <div className="stack">
            <Checkbox.Group
              className="column-choice"
              value={names.filter((column) => !off.includes(column))}
              options={names.map((column) => ({
                value: column,
                label: read(labelOf(resource, column)),
                disabled: column === labelColumn(resource),
              }))}
              onChange={show}
            />
            <Checkbox
              checked={isCompact}
              onChange={({ target }) => changeSettings({ isCompact: target.checked })}
            >
              {t.compact}
            </Checkbox>
          </div>
        }
      >
        <Button icon={<SettingOutlined />} aria-label={t.columns} title={t.columns} />
      </Popover>
    </span>
  );
}
