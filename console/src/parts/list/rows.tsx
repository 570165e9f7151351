// The rows of a list as a table.
import { Table, type TableProps } from 'antd';
import { createElement, useState } from 'react';
import { useSettings } from '../../contract/settings.ts';
import { read, texts } from '../../contract/texts.ts';
import { Label, Value } from '../show/cells.tsx';
import { flat } from '../show/tree.ts';
import { labelColumn, labelOf, type AnyRow } from '../resource.ts';
import { useHasActions } from './actions.tsx';
import { useHiddenColumns } from './use-list.ts';
import { keyOf, RowLink, RowMenu, tickName, type RowsProps } from './row.tsx';

const t = texts({
  more: ['操作', 'Actions'],
  all: ['选择全部', 'Select all'],
});

// The header keeps its place in a table of its own. To a reader of the screen both are parts of one.
const as = (tag: string, role: string) => (props: object) => createElement(tag, { ...props, role });

const parts = {
  table: as('table', 'presentation'),
  header: {
    table: as('table', 'presentation'),
    wrapper: as('thead', 'rowgroup'),
    row: as('tr', 'row'),
    cell: as('th', 'columnheader'),
  },
  body: { wrapper: as('tbody', 'rowgroup'), row: as('tr', 'row'), cell: as('td', 'cell') },
};

// Of the element around both, which the library makes for its sign of loading. Rows are not read out whenever they change.
const whole = (name: string) => ({ role: 'table', 'aria-live': 'off', 'aria-label': name });

export function Rows(props: RowsProps) {
  const { resource, rows, isLoading, isPale, onSort, ticked, onTick, empty } = props;
  const columns = useColumns(props, useHiddenColumns(resource));
  const { isCompact } = useSettings();
  const [closed, setClosed] = useState<readonly string[]>([]);
  const width = columns.reduce(
    (sum, column) => sum + Number(column.width ?? column.minWidth ?? 120),
    onTick ? 48 : 0,
  );
  const sort: TableProps<AnyRow>['onChange'] = (_, __, sorter) => {
    const { columnKey, order } = Array.isArray(sorter) ? (sorter[0] ?? {}) : sorter;
    onSort(order ? `${String(columnKey)}:${order === 'ascend' ? 'asc' : 'desc'}` : '');
  };
  return (
    <Table<AnyRow>
      components={parts}
      className={isPale ? 'rows pale' : 'rows'}
      size={isCompact ? 'small' : 'middle'}
      rowKey={(row) => keyOf(resource, row)}
      columns={columns}
      dataSource={withoutNone(rows)}
      loading={{ ...whole(read(resource.spec.title)), spinning: isLoading }}
      pagination={false}
      scroll={rows.length > 0 ? { x: width } : undefined}
      sticky={{ offsetHeader: 48 }}
      onChange={sort}
      locale={{ emptyText: isLoading ? ' ' : empty }}
      expandable={{
        expandedRowKeys: flat(rows)
          .map((row) => keyOf(resource, row))
          .filter((key) => !closed.includes(key)),
        onExpand(isOpen, row) {
          const key = keyOf(resource, row);
          setClosed(isOpen ? closed.filter((one) => one !== key) : [...closed, key]);
        },
      }}
      rowSelection={
        onTick && {
          selectedRowKeys: ticked,
          onChange: (keys) => onTick(keys.map(String)),
          columnWidth: 48,
          preserveSelectedRowKeys: false,
          getTitleCheckboxProps: () => ({ 'aria-label': t.all }),
          getCheckboxProps: (row) => ({ 'aria-label': tickName(resource, row) }),
        }
      }
    />
  );
}

// Without this a row that could have children, but has none, would get an expand button.
const withoutNone = (rows: readonly AnyRow[]): AnyRow[] =>
  rows.map(({ children, ...row }) =>
    Array.isArray(children) && children.length > 0
      ? { ...row, children: withoutNone(children as AnyRow[]) }
      : row,
  );

type Columns = NonNullable<TableProps<AnyRow>['columns']>;

// Without rows the columns share the width, so that the message is centred.
function useColumns({ resource, rows, state, onAct }: RowsProps, off: readonly string[]): Columns {
  const { spec } = resource;
  const isFilled = rows.length > 0;
  const [field, direction] = state.order.split(':');
  const name = labelColumn(resource);
  const hasActions = useHasActions(resource);
  const shown = Object.entries(spec.columns).filter(([column]) => !off.includes(column));
  const columns: Columns = shown.map(([column, cell]) => ({
    key: column,
    dataIndex: column,
    title: <Label text={read(labelOf(resource, column))} cell={cell} />,
    ...(isFilled && cell.width ? { [cell.grows ? 'minWidth' : 'width']: cell.width } : {}),
    align: cell.align,
    ...((spec.sortable as readonly string[] | undefined)?.includes(column)
      ? { sorter: true, sortOrder: field === column ? (direction === 'asc' ? 'ascend' : 'descend') : null }
      : {}),
    render: (value: unknown, row) =>
      column === name ? (
        <RowLink resource={resource} row={row}>
          <Value cell={cell} value={value} row={row} />
        </RowLink>
      ) : (
        <Value cell={cell} value={value} row={row} />
      ),
  }));
  if (!hasActions) return columns;
  return [
    ...columns,
    {
      key: 'actions',
      width: 52,
      fixed: 'end',
      align: 'center',
      title: <span className="unseen">{t.more}</span>,
      render: (_, row) => <RowMenu resource={resource} row={row} onAct={onAct} />,
    },
  ];
}
