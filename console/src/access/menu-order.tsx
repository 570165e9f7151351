// Arranges the menu: entries are dragged, or moved by keys and buttons; moves are announced and saved together.
import { ArrowDownOutlined, ArrowUpOutlined, MenuFoldOutlined, MenuUnfoldOutlined } from '@ant-design/icons';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Alert, Button, Flex, Skeleton, Tree } from 'antd';
import { useEffect, useMemo, useState, type KeyboardEvent } from 'react';
import { useBlocker } from 'react-router';
import { call } from '../contract/api.ts';
import { plural, texts } from '../contract/texts.ts';
import { DraftNote } from '../parts/form/draft-note.tsx';
import { useDraft, useLeaveGuard } from '../parts/form/draft.ts';
import { useAskDiscard } from '../parts/show/dialogs.tsx';
import { RowPage } from '../parts/show/page.tsx';
import { Problem } from '../parts/show/problem.tsx';
import { idsOf } from '../parts/show/tree.ts';
import { changesOf, find, moved, placed, stepped, type Entry, type Place, type Step } from './tree-moves.ts';

const t = texts({
  title: ['调整菜单顺序', 'Arrange the menu'],
  save: ['保存', 'Save'],
  reset: ['撤销全部', 'Undo all'],
  none: ['没有改动', 'No changes'],
  saved: ['菜单顺序已保存', 'Menu saved'],
  up: ['上移', 'Up'],
  down: ['下移', 'Down'],
  in: ['移入上一项', 'Move in'],
  out: ['移出上级', 'Move out'],
  how: [
    '拖动条目来移动它；或选中一项，用按钮或 Alt + 方向键移动',
    'Drag an entry to move it; or select one and use the buttons, or Alt and the arrow keys',
  ],
  changed: [
    (count: number) => `${count} 项将被改动`,
    (count) => `${count} ${plural(count, 'entry', 'entries')} will change`,
  ],
  place: [
    (title: string, at: number, of: number, parent: string) =>
      `${title}：${parent === '' ? '顶级' : `“${parent}”下`}第 ${at} 项，共 ${of} 项`,
    (title, at, of, parent) => `${title}: ${at} of ${of} ${parent === '' ? 'at the top' : `below ${parent}`}`,
  ],
});

const steps: readonly { step: Step; key: string; icon: React.ReactNode }[] = [
  { step: 'up', key: 'ArrowUp', icon: <ArrowUpOutlined /> },
  { step: 'down', key: 'ArrowDown', icon: <ArrowDownOutlined /> },
  { step: 'in', key: 'ArrowRight', icon: <MenuUnfoldOutlined /> },
  { step: 'out', key: 'ArrowLeft', icon: <MenuFoldOutlined /> },
];

interface Node {
  key: number;
  title: string;
  children: Node[];
}

const nodesOf = (tree: readonly Entry[]): Node[] =>
  tree.map(({ id, title, children = [] }) => ({ key: id, title, children: nodesOf(children) }));

export default function MenuOrder() {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['menus', 'tree'],
    queryFn: async ({ signal }) => (await call('GET /api/admin/menus', { signal })).list as Entry[],
    meta: { scopes: ['identity'] },
  });
  const draft = useDraft('menu-order', {});
  // The moves alone: what somebody else moves, adds or deletes meanwhile stays so.
  const [places, setPlaces] = useState((draft.known?.values.places ?? []) as readonly Place[]);
  const [chosen, setChosen] = useState<number>();
  const tree = useMemo(() => data && placed(data, places), [data, places]);
  const changes = useMemo(() => (data && tree ? changesOf(data, tree) : []), [data, tree]);
  const reset = () => {
    setPlaces([]);
    draft.forget();
  };
  useLeaveGuard(changes.length > 0);
  const askDiscard = useAskDiscard();
  const blocker = useBlocker(changes.length > 0);
  useEffect(() => {
    if (blocker.state !== 'blocked') return;
    const leave = () => {
      draft.forget();
      blocker.proceed();
    };
    askDiscard(leave, blocker.reset);
  }, [blocker.state]);
  const save = useMutation({
    // Parents are written before their children, so no write forms a cycle.
    mutationFn: async () => {
      for (const { id, ...body } of changes) await call('PUT /api/admin/menus/{id}', { path: { id }, body });
    },
    onSuccess: reset,
    // Also after a refusal: part of the writes may have succeeded.
    onSettled: () => client.invalidateQueries(),
  });
  const change = (next: readonly Entry[]) => {
    // The end of the saving forgets the moves: none may have joined them.
    if (save.isPending) return;
    save.reset();
    const moves = changesOf(data ?? [], next);
    setPlaces(moves);
    draft.keep({ places: moves.length > 0 ? moves : undefined }, {});
  };
  const go = (step: Step) => {
    if (chosen !== undefined && tree) change(stepped(tree, chosen, step));
  };
  const press = (event: KeyboardEvent) => {
    const found = event.altKey ? steps.find(({ key }) => key === event.key) : undefined;
    if (!found) return;
    event.preventDefault();
    event.stopPropagation();
    go(found.step);
  };
  const place = chosen !== undefined && tree ? find(tree, chosen) : undefined;
  return (
    <RowPage
      list="/access/menus"
      title={t.title}
      what={['菜单', 'Menus']}
      actions={
        <>
          <Button disabled={changes.length === 0 || save.isPending} onClick={reset}>
            {t.reset}
          </Button>
          <Button
            type="primary"
            disabled={changes.length === 0}
            loading={save.isPending}
            onClick={() => save.mutate()}
          >
            {t.save}
          </Button>
        </>
      }
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {draft.known && changes.length > 0 && <DraftNote onDiscard={reset} />}
      {save.error && <Problem error={save.error} />}
      {save.isSuccess && changes.length === 0 && (
        <Alert type="success" role="status" showIcon title={t.saved} />
      )}
      <section className="panel narrow">
        <p className="soft">{t.how}</p>
        <Flex gap={8} wrap align="center" role="toolbar" aria-label={t.title}>
          {steps.map(({ step, icon }) => (
            <Button
              key={step}
              icon={icon}
              aria-label={t[step]}
              title={t[step]}
              disabled={!place || !tree || save.isPending || stepped(tree, place.entry.id, step) === tree}
              onClick={() => go(step)}
            />
          ))}
          <span className="soft">{changes.length === 0 ? t.none : t.changed(changes.length)}</span>
        </Flex>
        <span className="unseen" role="status">
          {place &&
            t.place(
              place.entry.title,
              place.at + 1,
              place.siblings.length,
              place.parents.at(-1)?.title ?? '',
            )}
        </span>
        {!tree && !error && <Skeleton active />}
        {tree && (
          <div onKeyDownCapture={press}>
            <Tree<Node>
              aria-label={t.title}
              blockNode
              draggable
              treeData={nodesOf(tree)}
              selectedKeys={chosen === undefined ? [] : [chosen]}
              expandedKeys={idsOf(tree)}
              onActiveChange={(key) => {
                if (key !== null) setChosen(Number(key));
              }}
              onSelect={(keys) => setChosen(keys.length > 0 ? Number(keys[0]) : undefined)}
              onDrop={({ dragNode, node, dropPosition, dropToGap }) => {
                const target = find(tree, node.key);
                if (!target) return;
                setChosen(dragNode.key);
                if (!dropToGap) return change(moved(tree, dragNode.key, node.key, 0));
                // The library counts the gaps with the dragged entry still in place.
                const parent = target.parents.at(-1)?.id ?? null;
                const own = target.siblings.findIndex(({ id }) => id === dragNode.key);
                const at = Math.max(0, dropPosition);
                return change(moved(tree, dragNode.key, parent, own !== -1 && own < at ? at - 1 : at));
              }}
            />
          </div>
        )}
      </section>
    </RowPage>
  );
}
