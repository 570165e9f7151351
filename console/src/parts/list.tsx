// The screen of a list: title, filters, table, pages; forms and details open beside it as routes of their own.
import {
  DeleteOutlined,
  MoreOutlined,
  PlusOutlined,
  ReloadOutlined,
  SettingOutlined,
} from '@ant-design/icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import {
  App,
  Button,
  Checkbox,
  Dropdown,
  Empty,
  Flex,
  Pagination,
  Popover,
  Table,
  type TableProps,
} from 'antd';
import { useState } from 'react';
import { Link, Outlet, useLocation, useNavigate } from 'react-router';
import { call } from '../contract/api.ts';
import { changeSettings, useSettings } from '../contract/settings.ts';
import { plural, read, texts } from '../contract/texts.ts';
import { useAct, useActions } from './actions.tsx';
import type { ListState } from './codec.ts';
import { ExportButton } from './export.tsx';
import { Filters } from './filters.tsx';
import { showCount } from './money.ts';
import { failureOf, Problem } from './problem.tsx';
import { useMay } from './profile.ts';
import { idOf, labelOf, type AnyRow, type Resource } from './resource.ts';
import { useList, useListState, type Page } from './use-list.ts';
import { useTitle } from './use-title.ts';

const t = texts({
  'zh-CN': {
    rows: (count: string, _: number) => `共 ${count} 条`,
    create: '新建',
    reload: '刷新',
    columns: '显示的列',
    empty: '还没有数据',
    nothing: '没有符合条件的数据',
    clear: '清除筛选',
    more: '操作',
    remove: (count: number) => `删除 ${count} 条`,
    removeSure: (count: number) => `确定删除选中的 ${count} 条？删除后无法恢复`,
    removed: '已删除',
    back: '返回',
  },
  'en-US': {
    rows: (count: string, exact: number) => `${count} ${plural(exact, 'entry', 'entries')}`,
    create: 'New',
    reload: 'Refresh',
    columns: 'Columns',
    empty: 'Nothing here yet',
    nothing: 'Nothing matches these filters',
    clear: 'Clear filters',
    more: 'Actions',
    remove: (count: number) => `Delete ${count}`,
    removeSure: (count: number) =>
      `Delete ${count} ${plural(count, 'entry', 'entries')}? This cannot be undone`,
    removed: 'Deleted',
    back: 'Back',
  },
});

export function ListScreen({ resource }: { resource: Resource }) {
  const { spec } = resource;
  const { state, change } = useListState(resource);
  const list = useList(resource, state);
  const [ticked, setTicked] = useState<string[]>([]);
  const Above = spec.above;
  const View = spec.view;
  useTitle(read(spec.title));
  const rows = list.data?.list ?? [];
  const isFiltered = Object.keys(state.filters).length > 0;
  return (
    <section className="screen" aria-busy={list.isFetching} data-resource={spec.name}>
      <Head resource={resource} data={list.data} onReload={() => void list.refetch()} state={state}>
        {spec.removeMany && ticked.length > 0 && (
          <RemoveMany resource={resource} ids={ticked} onDone={() => setTicked([])} />
        )}
      </Head>
      {Above && <Above data={list.data as never} />}
      {Object.keys(spec.filters).length > 0 || spec.period ? (
        <Filters resource={resource} state={state} change={change} />
      ) : null}
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {(list.data || !list.error) &&
        (View && rows.length > 0 ? (
          <View rows={rows} />
        ) : (
          <Rows
            resource={resource}
            rows={rows}
            isLoading={list.isPending}
            isPale={list.isPlaceholderData}
            state={state}
            onSort={(order) => change({ order, page: 1 })}
            ticked={ticked}
            onTick={spec.removeMany ? setTicked : undefined}
            empty={
              <Nothing resource={resource} isFiltered={isFiltered} onClear={() => change({ filters: {} })} />
            }
          />
        ))}
      <Pages state={state} data={list.data} onPage={(page) => change({ page })} />
      <Outlet />
    </section>
  );
}

interface HeadProps {
  resource: Resource;
  data: Page | undefined;
  state: ListState;
  onReload: () => void;
  children: React.ReactNode;
}

function Head({ resource, data, state, onReload, children }: HeadProps) {
  const { spec } = resource;
  const may = useMay();
  const { search } = useLocation();
  const Extra = spec.extra;
  return (
    <Flex wrap gap={8} align="center" justify="space-between" className="screen-head">
      <Flex align="baseline" gap={12}>
        <h1>{read(spec.title)}</h1>
        <span className="soft" role="status">
          {data?.total !== undefined && t.rows(showCount(data.total), data.total)}
        </span>
      </Flex>
      <Flex gap={8} wrap>
        {children}
        <Button icon={<ReloadOutlined />} aria-label={t.reload} title={t.reload} onClick={onReload} />
        {!spec.view && <Columns resource={resource} />}
        {spec.exportTo && may(spec.exportTo) && (
          <ExportButton route={spec.exportTo} filters={state.filters} />
        )}
        {Extra && <Extra />}
        {spec.create && may(spec.create.route) && (
          <Link to={`new${search}`}>
            <Button type="primary" icon={<PlusOutlined />} tabIndex={-1}>
              {t.create}
            </Button>
          </Link>
        )}
      </Flex>
    </Flex>
  );
}

// Which columns somebody wants is theirs, not the link's.
function Columns({ resource }: { resource: Resource }) {
  const { hidden } = useSettings();
  const { name, columns } = resource.spec;
  const off = hidden[name] ?? [];
  const names = Object.keys(columns);
  return (
    <Popover
      trigger="click"
      placement="bottomRight"
      title={t.columns}
      content={
        <Checkbox.Group
          className="column-choice"
          value={names.filter((column) => !off.includes(column))}
          options={names.map((column) => ({ value: column, label: read(labelOf(resource, column)) }))}
          onChange={(on) =>
            changeSettings({ hidden: { ...hidden, [name]: names.filter((column) => !on.includes(column)) } })
          }
        />
      }
    >
      <Button icon={<SettingOutlined />} aria-label={t.columns} title={t.columns} />
    </Popover>
  );
}

interface RowsProps {
  resource: Resource;
  rows: AnyRow[];
  isLoading: boolean;
  isPale: boolean;
  state: ListState;
  onSort: (order: string) => void;
  ticked: string[];
  onTick: ((ids: string[]) => void) | undefined;
  empty: React.ReactNode;
}

function Rows({ resource, rows, isLoading, isPale, state, onSort, ticked, onTick, empty }: RowsProps) {
  const { spec } = resource;
  const { hidden } = useSettings();
  const columns = useColumns(resource, state, hidden[spec.name] ?? []);
  const width = columns.reduce((sum, column) => sum + Number(column.width ?? 120), onTick ? 48 : 0);
  const sort: TableProps<AnyRow>['onChange'] = (_, __, sorter) => {
    const { columnKey, order } = Array.isArray(sorter) ? (sorter[0] ?? {}) : sorter;
    onSort(order ? `${String(columnKey)}:${order === 'ascend' ? 'asc' : 'desc'}` : '');
  };
  return (
    <Table<AnyRow>
      className={isPale ? 'rows pale' : 'rows'}
      size="middle"
      rowKey={(row) => keyOf(resource, row)}
      columns={columns}
      dataSource={rows}
      loading={isLoading}
      pagination={false}
      scroll={rows.length > 0 ? { x: width } : undefined}
      sticky={{ offsetHeader: 48 }}
      onChange={sort}
      locale={{ emptyText: isLoading ? ' ' : empty }}
      expandable={{ defaultExpandAllRows: true }}
      rowSelection={
        onTick && {
          selectedRowKeys: ticked,
          onChange: (keys) => onTick(keys.map(String)),
          columnWidth: 48,
          preserveSelectedRowKeys: false,
        }
      }
    />
  );
}

// Ids are what several rows are deleted by.
const keyOf = (resource: Resource, row: AnyRow): string =>
  typeof row.id === 'number' ? String(row.id) : idOf(resource, row);

type Columns = NonNullable<TableProps<AnyRow>['columns']>;

function useColumns(resource: Resource, { order }: ListState, off: string[]): Columns {
  const { spec } = resource;
  const { search } = useLocation();
  const [field, direction] = order.split(':');
  const name = String(spec.label ?? spec.id ?? Object.keys(spec.columns)[0]);
  const hasPage = spec.detail ?? spec.show;
  const may = useMay();
  const canOpen = Boolean(hasPage) && (!spec.show || may(spec.show));
  const shown = Object.entries(spec.columns).filter(([column]) => !off.includes(column));
  const columns: Columns = shown.map(([column, cell]) => ({
    key: column,
    dataIndex: column,
    title: read(labelOf(resource, column)),
    width: cell.width,
    align: cell.align,
    ...((spec.sortable as readonly string[] | undefined)?.includes(column)
      ? { sorter: true, sortOrder: field === column ? (direction === 'asc' ? 'ascend' : 'descend') : null }
      : {}),
    render: (value: unknown, row) =>
      column === name && canOpen ? (
        <Link
          className="row-link"
          to={`${encodeURIComponent(idOf(resource, row))}${spec.detail ? '' : search}`}
        >
          {cell.render(value, row)}
        </Link>
      ) : (
        cell.render(value, row)
      ),
  }));
  return [
    ...columns,
    {
      key: 'actions',
      width: 64,
      fixed: 'end',
      align: 'center',
      title: <span className="unseen">{t.more}</span>,
      render: (_, row) => <RowMenu resource={resource} row={row} />,
    },
  ];
}

function RowMenu({ resource, row }: { resource: Resource; row: AnyRow }) {
  const { update } = resource.spec;
  const may = useMay();
  const navigate = useNavigate();
  const { search } = useLocation();
  const actions = useActions(resource)(row);
  const { start, drawer } = useAct(resource);
  const edit = update && may(update.route) ? [{ key: 'edit', label: read(['修改', 'Edit']) }] : [];
  const items = [
    ...edit,
    ...actions.map((one, index) => ({
      key: String(index),
      label: read(one.text),
      danger: one.danger,
      icon: one.icon,
    })),
  ];
  if (items.length === 0) return null;
  const choose = (key: string) => {
    const action = actions[Number(key)];
    if (key === 'edit') void navigate(`${encodeURIComponent(idOf(resource, row))}/edit${search}`);
    else if (action) start(action, row);
  };
  return (
    <>
      <Dropdown trigger={['click']} menu={{ items, onClick: ({ key }) => choose(key) }}>
        <Button
          type="text"
          size="small"
          icon={<MoreOutlined />}
          aria-label={`${t.more} ${String(row[resource.spec.label ?? 'id'] ?? row.id)}`}
        />
      </Dropdown>
      {drawer}
    </>
  );
}

function RemoveMany({ resource, ids, onDone }: { resource: Resource; ids: string[]; onDone: () => void }) {
  const route = resource.spec.removeMany;
  const may = useMay();
  const client = useQueryClient();
  const { modal, message } = App.useApp();
  const remove = useMutation({
    mutationFn: async () => route && call(route, { body: { ids: ids.map(Number) } as never }),
    onSuccess: async () => {
      onDone();
      void message.success(t.removed);
      await client.invalidateQueries({ queryKey: [resource.spec.name] });
    },
    onError: (error) => void modal.error({ title: failureOf(error).message }),
  });
  if (!route || !may(route)) return null;
  const ask = () =>
    modal.confirm({
      title: t.removeSure(ids.length),
      cancelText: t.back,
      okText: t.remove(ids.length),
      okButtonProps: { danger: true },
      onOk: () => remove.mutateAsync().catch(() => undefined),
    });
  return (
    <Button danger icon={<DeleteOutlined />} loading={remove.isPending} onClick={() => void ask()}>
      {t.remove(ids.length)}
    </Button>
  );
}

function Nothing({
  resource,
  isFiltered,
  onClear,
}: {
  resource: Resource;
  isFiltered: boolean;
  onClear: () => void;
}) {
  const { empty } = resource.spec;
  return (
    <Empty
      image={Empty.PRESENTED_IMAGE_SIMPLE}
      description={isFiltered ? t.nothing : empty ? read(empty) : t.empty}
    >
      {isFiltered && <Button onClick={onClear}>{t.clear}</Button>}
    </Empty>
  );
}

function Pages({
  state,
  data,
  onPage,
}: {
  state: ListState;
  data: Page | undefined;
  onPage: (page: number) => void;
}) {
  const { pageSize } = useSettings();
  if (data?.total === undefined || data.total <= 10) return null;
  return (
    <Flex justify="end" className="pages">
      <Pagination
        current={state.page}
        pageSize={pageSize}
        total={data.total}
        responsive
        showSizeChanger
        pageSizeOptions={[10, 20, 50, 100]}
        onChange={(page, size) => {
          if (size !== pageSize) changeSettings({ pageSize: size });
          onPage(size === pageSize ? page : 1);
        }}
      />
    </Flex>
  );
}
