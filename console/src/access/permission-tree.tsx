// Selects permissions: grouped by menu, searchable, with half-checked parents; changes are shown before saving.
import { useQuery } from '@tanstack/react-query';
import { Flex, Input, Tree } from 'antd';
import { useMemo, useRef, useState } from 'react';
import { call, type Row } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { clearing } from '../parts/form/clearing.tsx';
import { NotListed, type Control, type Field } from '../parts/form/fields.tsx';
import { Problem } from '../parts/show/problem.tsx';
import { useMay } from '../parts/show/profile.ts';
import { Tag } from '../parts/show/states.tsx';
import { flat } from '../parts/show/tree.ts';

const t = texts({
  find: ['查找权限', 'Find a permission'],
  none: ['没有找到权限', 'No permission found'],
  others: ['其他', 'Others'],
  permissions: ['权限', 'Permissions'],
  menus: ['菜单', 'Menus'],
  chosen: [(count: number) => `已选 ${count} 项`, (count) => `${count} chosen`],
  added: [(count: number) => `新增 ${count}`, (count) => `${count} added`],
  removed: [(count: number) => `移除 ${count}`, (count) => `${count} removed`],
});

type Permission = Row<'GET /api/admin/permissions'>;

interface Node {
  key: string;
  title: string;
  children?: Node[];
}

const largestPage = 100;

// All pages: there are some hundred permissions.
async function allPermissions(signal: AbortSignal): Promise<Permission[]> {
  const all: Permission[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await call('GET /api/admin/permissions', {
      query: { page, page_size: largestPage },
      signal,
    });
    all.push(...answer.list);
    if (all.length >= answer.total || answer.list.length === 0) return all;
  }
}

export const permissionTree = (): Field<number[]> => ({
  control: (props) => <Permissions {...props} />,
});

export const menuTree = (): Field<number[]> => ({ control: (props) => <Menus {...props} /> });

function Permissions(props: Control<number[]>) {
  const mayList = useMay()('GET /api/admin/permissions');
  const { data, error, refetch } = useQuery({
    queryKey: ['permissions', 'all'],
    queryFn: ({ signal }) => allPermissions(signal),
    staleTime: 30_000,
    enabled: mayList,
  });
  const nodes = useMemo(() => {
    const groups = new Map<string, Node[]>();
    for (const { id, name, slug, menu } of data ?? []) {
      const group = menu?.title ?? t.others;
      groups.set(group, [...(groups.get(group) ?? []), { key: String(id), title: `${name} · ${slug}` }]);
    }
    return [...groups].map(([title, children]) => ({ key: `group ${title}`, title, children }));
  }, [data]);
  if (!mayList) return <NotListed id={props.id} />;
  // What has been listed stays, with what is chosen, whatever a later call comes to.
  return error && !data ? (
    <Problem error={error} onRetry={() => void refetch()} />
  ) : (
    <Choice {...props} name={t.permissions} nodes={nodes} find={t.find} />
  );
}

function Menus(props: Control<number[]>) {
  const mayList = useMay()('GET /api/admin/menus');
  const { data, error, refetch } = useQuery({
    queryKey: ['menus', 'list'],
    queryFn: ({ signal }) => call('GET /api/admin/menus', { signal }),
    staleTime: 30_000,
    enabled: mayList,
  });
  const nodes = useMemo(() => nodesOf((data?.list ?? []) as MenuNode[]), [data]);
  if (!mayList) return <NotListed id={props.id} />;
  return error && !data ? (
    <Problem error={error} onRetry={() => void refetch()} />
  ) : (
    <Choice {...props} name={t.menus} nodes={nodes} isStrict />
  );
}

interface MenuNode {
  id: number;
  title: string;
  children?: MenuNode[];
}

const nodesOf = (menus: readonly MenuNode[]): Node[] =>
  menus.map(({ id, title, children = [] }) => ({ key: String(id), title, children: nodesOf(children) }));

const matches = (nodes: readonly Node[], wanted: string): Node[] =>
  nodes.flatMap((node) => {
    const children = matches(node.children ?? [], wanted);
    return children.length > 0 || node.title.toLowerCase().includes(wanted)
      ? [{ ...node, ...(node.children ? { children: children.length > 0 ? children : node.children } : {}) }]
      : [];
  });

interface ChoiceProps extends Control<number[]> {
  /** Of the tree: its label names the frame around it. */
  name: string;
  nodes: Node[];
  find?: string;
  /** Parents are selectable entries too. */
  isStrict?: boolean;
}

function Choice({ value = [], onChange, name, nodes, find, isStrict, id }: ChoiceProps) {
  const [typed, setTyped] = useState('');
  // What is chosen here is compared with what was there before: the row, also after somebody else has changed it.
  const own = useRef<string>(undefined);
  const before = useRef<readonly number[]>([]);
  if (String(value) !== own.current) before.current = value;
  const old = before.current;
  const added = value.filter((one) => !old.includes(one)).length;
  const removed = old.filter((one) => !value.includes(one)).length;
  const wanted = typed.trim().toLowerCase();
  const shown = wanted ? matches(nodes, wanted) : nodes;
  const visible = useMemo(() => new Set(flat(shown).map(({ key }) => Number(key))), [shown]);
  // Entries hidden by the search stay selected.
  const take = (keys: readonly React.Key[]) => {
    const chosen = keys.map(Number).filter(Number.isFinite);
    const next = [...value.filter((one) => !visible.has(one)), ...chosen.filter((one) => visible.has(one))];
    own.current = String(next);
    onChange?.(next);
  };
  return (
    <div className="panel" id={id}>
      <Flex gap={8} align="center" wrap>
        {find && (
          <Input
            className="tree-find"
            allowClear={clearing()}
            aria-label={find}
            placeholder={find}
            value={typed}
            onChange={({ target }) => setTyped(target.value)}
          />
        )}
        <span className="soft">{t.chosen(value.length)}</span>
        {added > 0 && <Tag tone="green">{t.added(added)}</Tag>}
        {removed > 0 && <Tag tone="red">{t.removed(removed)}</Tag>}
      </Flex>
      {wanted && shown.length === 0 && <p className="soft">{t.none}</p>}
      {shown.length > 0 && (
        <Tree
          // Another search unfolds what it finds.
          key={wanted}
          aria-label={name}
          checkable
          selectable={false}
          checkStrictly={isStrict}
          defaultExpandAll={Boolean(wanted) || isStrict}
          height={260}
          treeData={shown}
          checkedKeys={value.map(String)}
          onCheck={(keys) => take(Array.isArray(keys) ? keys : keys.checked)}
        />
      )}
    </div>
  );
}
