// One row of a list in any view: its key, its link, its menu of actions.
import { MoreOutlined } from '@ant-design/icons';
import type { ReactNode } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { read, texts } from '../../contract/texts.ts';
import { useListAddress } from '../show/location.ts';
import { MenuButton } from '../show/menu-button.tsx';
import { useMay } from '../show/profile.ts';
import { idOf, nameOf, type AnyRow, type Resource } from '../resource.ts';
import { useActions, useMayEdit, type AnyAction } from './actions.tsx';
import type { ListState } from './codec.ts';

const t = texts({
  more: ['操作', 'Actions'],
  tick: [(name: string) => `选择 ${name}`, (name) => `Select ${name}`],
});

/** What a list passes to its view. */
export interface RowsProps {
  resource: Resource;
  rows: AnyRow[];
  isLoading: boolean;
  isPale: boolean;
  state: ListState;
  onSort: (order: string) => void;
  ticked: string[];
  onTick: ((ids: string[]) => void) | undefined;
  onAct: (action: AnyAction, row: AnyRow) => void;
  empty: ReactNode;
}

// Rows are deleted by id.
export const keyOf = (resource: Resource, row: AnyRow): string =>
  typeof row.id === 'number' ? String(row.id) : idOf(resource, row);

/** The name of the box that chooses a row. */
export const tickName = (resource: Resource, row: AnyRow): string => t.tick(nameOf(resource, row));

const useRowAddress = (resource: Resource, row: AnyRow): string =>
  `${useListAddress()}/${encodeURIComponent(idOf(resource, row))}`;

export function RowLink({
  resource,
  row,
  children,
}: {
  resource: Resource;
  row: AnyRow;
  children: ReactNode;
}) {
  const { detail, show } = resource.spec;
  const { search } = useLocation();
  const address = useRowAddress(resource, row);
  const may = useMay();
  if (!(detail ?? show) || (show && !may(show))) return children;
  return (
    <Link className="row-link" to={`${address}${detail ? '' : search}`}>
      {children}
    </Link>
  );
}

export function RowMenu({ resource, row, onAct }: Pick<RowsProps, 'resource' | 'onAct'> & { row: AnyRow }) {
  const navigate = useNavigate();
  const { search } = useLocation();
  const address = useRowAddress(resource, row);
  const actions = useActions(resource)(row);
  const edit = useMayEdit(resource) ? [{ key: 'edit', label: read(['修改', 'Edit']) }] : [];
  const items = [
    ...edit,
    ...actions.map((one, index) => ({ key: String(index), label: read(one.text), danger: one.danger })),
  ];
  if (items.length === 0) return null;
  const choose = (key: string) => {
    const action = actions[Number(key)];
    if (key === 'edit') void navigate(`${address}/edit${search}`);
    else if (action) onAct(action, row);
  };
  return (
    <MenuButton
      items={items}
      onChoose={choose}
      type="text"
      size="small"
      icon={<MoreOutlined />}
      aria-label={`${t.more} ${nameOf(resource, row)}`}
    />
  );
}
