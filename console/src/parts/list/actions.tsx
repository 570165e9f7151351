// Actions on a row: shown by permission and state, confirmed if irreversible, sent once.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { App, Button, Flex } from 'antd';
import { useEffect, useState } from 'react';
import { call, Failure, type Route } from '../../contract/api.ts';
import { forgetOne } from '../../contract/recent.ts';
import { labelled, read, texts, type Both } from '../../contract/texts.ts';
import { FormDrawer } from '../form/form-drawer.tsx';
import { formName, useTakeLeft } from '../form/open-form.ts';
import { useAsk, useShowFailure } from '../show/dialogs.tsx';
import { keepFocus } from '../show/focus.ts';
import { useIsShown } from '../show/is-shown.ts';
import { failureOf } from '../show/problem.tsx';
import { opens, useMay, useProfile, type Profile } from '../show/profile.ts';
import {
  idOf,
  labelOf,
  nameOf,
  type Action,
  type AnyRow,
  type Question,
  type Resource,
} from '../resource.ts';

const t = texts({
  done: ['已完成', 'Done'],
  overtaken: [
    (name: string) => `${name}刚刚被其他人修改，请再看一次`,
    (name) => `${name} has just been changed by someone else: look again`,
  ],
});

/** An action of any resource. */
export type AnyAction = Omit<Action<AnyRow>, 'when' | 'body' | 'form' | 'labels' | 'about' | 'ask'> & {
  about?: (row: AnyRow) => string;
  when?: (row: AnyRow, profile: Profile) => boolean;
  body?: AnyRow | ((row: AnyRow, profile: Profile) => AnyRow);
  form?: Readonly<Record<string, never>>;
  ask?: (row: AnyRow, input: AnyRow) => Question;
  labels?: Readonly<Record<string, Both>>;
};

const removal = (route: Route, when: AnyAction['when']): AnyAction => ({
  route,
  when,
  danger: true,
  text: ['删除', 'Delete'],
  sure: ['删除后无法恢复，确定删除？', 'This cannot be undone. Delete it?'],
});

/** Path parameters from the row. */
export function pathOf(resource: Resource, route: Route, row: AnyRow): Record<string, string> {
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  return Object.fromEntries(
    names.map((name) => [name, name === 'id' ? idOf(resource, row) : String(row[name])]),
  );
}

/** What the action sends besides what is asked for. */
export const bodyOf = ({ body }: AnyAction, row: AnyRow, profile: Profile): AnyRow | undefined =>
  typeof body === 'function' ? body(row, profile) : body;

/** The row as it is by now, for those who may see it. @throws Failure */
async function latestOf(resource: Resource, row: AnyRow, profile: Profile): Promise<AnyRow | undefined> {
  const { show } = resource.spec;
  if (!show || !opens(profile, show)) return undefined;
  return (await call(show, { path: pathOf(resource, show, row) })) as AnyRow;
}

/** Calls the route of the action. What it overwrites is looked at first by those who may. @throws Failure */
export async function act(
  resource: Resource,
  action: AnyAction,
  row: AnyRow,
  body: AnyRow | undefined,
  profile: Profile,
): Promise<unknown> {
  const { route, overwrites } = action;
  const path = pathOf(resource, route, row);
  const latest = overwrites && (await latestOf(resource, row, profile));
  if (latest && latest[overwrites] !== row[overwrites])
    throw new Failure(t.overtaken(read(labelOf(resource, overwrites))), 409);
  return call(route, { path, body: body as never });
}

/** Whether the action is available for that row now. */
export function useActions(resource: Resource): (row: AnyRow) => AnyAction[] {
  const may = useMay();
  const profile = useProfile();
  const {
    actions = [],
    remove,
    removable,
  } = resource.spec as unknown as {
    actions?: AnyAction[];
    remove?: Route;
    removable?: AnyAction['when'];
  };
  const all = [...actions, ...(remove ? [removal(remove, removable)] : [])];
  return (row) => all.filter((one) => may(one.route) && (one.when?.(row, profile) ?? true));
}

/** Whether rows may be edited from the list: the form asks for the row that it changes. */
export function useMayEdit({ spec: { update, show } }: Resource): boolean {
  const may = useMay();
  return update !== undefined && show !== undefined && may(update.route) && may(show);
}

/** Whether the menu of some row may have an entry. */
export function useHasActions(resource: Resource): boolean {
  const may = useMay();
  const mayEdit = useMayEdit(resource);
  const { actions = [], remove } = resource.spec;
  const routes = [...actions.map(({ route }) => route), remove];
  return mayEdit || routes.some((route) => route !== undefined && may(route));
}

/** The actions for several rows at once. */
export const manyOf = ({ spec }: Resource): AnyAction[] =>
  ((spec.actions ?? []) as unknown as AnyAction[]).filter(({ many }) => many);

/** Whether the caller may do something with several rows. */
export function useIsSelectable(resource: Resource): boolean {
  const may = useMay();
  const { removeMany } = resource.spec;
  return (removeMany !== undefined && may(removeMany)) || manyOf(resource).some(({ route }) => may(route));
}

interface Asked {
  action: AnyAction;
  row: AnyRow;
}

/** Of the form: the action and its row. */
const titleOf = (resource: Resource, { action, row }: Asked): string =>
  `${read(action.text)} · ${action.about?.(row) ?? nameOf(resource, row)}`;

const askOf = ({ action: { ask }, row }: Asked) => ask && ((input: AnyRow) => ask(row, input));

/**
 * Runs an action, then refetches all queries of the resource. A form shows the present state of its row.
 *
 * @param rows the rows shown; the form of a row that disappears stays open
 * @param isBehind whether a drawer covers the rows; its own actions come first
 */
export function useAct(
  resource: Resource,
  rows: readonly AnyRow[],
  onDone?: (action: AnyAction, answer: unknown) => void,
  isBehind = false,
) {
  const client = useQueryClient();
  const profile = useProfile();
  const { message } = App.useApp();
  const ask = useAsk();
  const showFailure = useShowFailure();
  const [asked, setAsked] = useState<Asked>();
  const isShown = useIsShown();
  const finish = async (done: Asked, answer: unknown) => {
    setAsked(undefined);
    void message.success(isShown.current ? t.done : labelled(titleOf(resource, done), t.done));
    if (isShown.current) onDone?.(done.action, answer);
    const { name, remove } = resource.spec;
    const gone = done.action.route === remove ? [name, 'one', idOf(resource, done.row)].join() : undefined;
    // What was deleted is not asked for again while its page gives way.
    await client.invalidateQueries({ predicate: ({ queryKey }) => queryKey.join() !== gone });
    keepFocus();
  };
  const run = useMutation({
    mutationFn: ({ action, row }: Asked) => act(resource, action, row, bodyOf(action, row, profile), profile),
    onSuccess: (answer, done) => {
      const { name, remove } = resource.spec;
      if (done.action.route === remove) forgetOne(`/${name}/${idOf(resource, done.row)}`);
      return finish(done, answer);
    },
    onError: (error, tried) => {
      const failure = failureOf(error);
      // What is shown may be out of date.
      void client.invalidateQueries({ queryKey: [resource.spec.name] });
      if (!isShown.current) return void message.error(labelled(titleOf(resource, tried), failure.message));
      return showFailure(failure);
    },
  });
  const start = (action: AnyAction, row: AnyRow) => {
    if (action.form) return setAsked({ action, row });
    if (!action.sure) return run.mutate({ action, row });
    return ask({
      title: read(action.sure),
      content: (
        <>
          <div>{nameOf(resource, row)}</div>
          {action.about && <strong>{action.about(row)}</strong>}
        </>
      ),
      button: read(action.text),
      danger: action.danger,
      onYes: () => run.mutateAsync({ action, row }).catch(() => undefined),
    });
  };
  const actionsOf = useActions(resource);
  const takeLeft = useTakeLeft();
  useEffect(() => {
    if (isBehind) return;
    const nameOfForm = (action: AnyAction, row: AnyRow) =>
      formName(action.route, pathOf(resource, action.route, row), bodyOf(action, row, profile));
    for (const row of rows)
      for (const action of actionsOf(row))
        if (action.form && takeLeft(nameOfForm(action, row))) setAsked({ action, row });
  }, [rows]);
  const isAsked = (row: AnyRow) => asked && idOf(resource, row) === idOf(resource, asked.row);
  const now = asked && { ...asked, row: rows.find(isAsked) ?? asked.row };
  const isChange = asked?.action.route.startsWith('PUT') === true;
  const drawer = now && (
    <FormDrawer
      title={titleOf(resource, now)}
      route={asked.action.route}
      fields={asked.action.form ?? {}}
      labelOf={(name) => asked.action.labels?.[name] ?? labelOf(resource, name)}
      path={pathOf(resource, asked.action.route, asked.row)}
      row={isChange ? now.row : undefined}
      refresh={isChange ? () => latestOf(resource, asked.row, profile) : undefined}
      // Of the row as it was seen: what has changed since is refused.
      fixed={bodyOf(asked.action, asked.row, profile)}
      submit={asked.action.danger ? read(asked.action.text) : undefined}
      ask={askOf(now)}
      onDone={(answer) => void finish(asked, answer)}
      onClose={() => setAsked(undefined)}
    />
  );
  return { start, drawer, isBusy: run.isPending };
}

/** The actions of a row as buttons. */
export function ActionButtons({
  resource,
  row,
  onDone,
}: {
  resource: Resource;
  row: AnyRow;
  onDone?: (action: AnyAction) => void;
}) {
  const actionsOf = useActions(resource);
  const { start, drawer, isBusy } = useAct(resource, [row], onDone);
  return (
    <Flex gap={8} wrap>
      {actionsOf(row).map((action) => (
        <Button
          key={action.route + action.text[1]}
          danger={action.danger}
          disabled={isBusy}
          onClick={() => start(action, row)}
        >
          {read(action.text)}
        </Button>
      ))}
      {drawer}
    </Flex>
  );
}
