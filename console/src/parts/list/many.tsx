// Actions on selected rows: one call each, one after the other, with one form for all; refusals are reported row by row.
import { useQueryClient } from '@tanstack/react-query';
import { App, Button } from 'antd';
import { useState } from 'react';
import { Failure } from '../../contract/api.ts';
import { plural, read, texts } from '../../contract/texts.ts';
import { FormDrawer } from '../form/form-drawer.tsx';
import { useAsk } from '../show/dialogs.tsx';
import { keepFocus } from '../show/focus.ts';
import { failureOf } from '../show/problem.tsx';
import { useProfile } from '../show/profile.ts';
import { idOf, labelOf, type AnyRow, type Resource } from '../resource.ts';
import { act, bodyOf, manyOf, useActions, type AnyAction } from './actions.tsx';

const t = texts({
  run: [(name: string, count: number) => `${name}（${count}）`, (name, count) => `${name} (${count})`],
  sure: [
    (name: string, count: number) => `对选中的 ${count} 条执行“${name}”？`,
    (name, count) => `${name}: ${count} selected ${plural(count, 'row', 'rows')}?`,
  ],
  done: [(count: number) => `已完成 ${count} 条`, (count) => `${count} done`],
  refused: [(count: number) => `${count} 条被拒绝`, (count) => `${count} refused`],
  once: ['对所有选中的记录生效', 'Applies to every selected row'],
});

interface Props {
  resource: Resource;
  rows: readonly AnyRow[];
  onDone: (refused: readonly AnyRow[]) => void;
}

export default function ManyActions({ resource, rows, onDone }: Props) {
  const possible = useActions(resource);
  const { modal, message } = App.useApp();
  const ask = useAsk();
  const client = useQueryClient();
  const profile = useProfile();
  const [isBusy, setBusy] = useState(false);
  // With the rows it was opened for: they may leave the page while somebody types.
  const [asked, setAsked] = useState<{ action: AnyAction; own: readonly AnyRow[] }>();
  const offered = manyOf(resource)
    .map((action) => ({ action, own: rows.filter((row) => possible(row).includes(action)) }))
    .filter(({ own }) => own.length > 0);

  const run = async (action: AnyAction, own: readonly AnyRow[], input: AnyRow) => {
    setBusy(true);
    const refused: { row: AnyRow; reason: string }[] = [];
    for (const row of own) {
      try {
        await act(resource, action, row, { ...input, ...bodyOf(action, row, profile) }, profile);
      } catch (error) {
        refused.push({ row, reason: `${idOf(resource, row)}: ${failureOf(error).message}` });
      }
    }
    setBusy(false);
    onDone(refused.map(({ row }) => row));
    void client.invalidateQueries().then(keepFocus);
    const outcome = `${t.done(own.length - refused.length)} · ${t.refused(refused.length)}`;
    // The form stays, and says so.
    if (action.form && refused.length === own.length)
      throw new Failure(outcome, 422, {
        errors: Object.fromEntries(refused.map(({ row, reason }) => [idOf(resource, row), [reason]])),
      });
    if (refused.length === 0) void message.success(t.done(own.length));
    else
      modal.warning({
        title: outcome,
        content: refused.map(({ reason }) => <p key={reason}>{reason}</p>),
      });
  };
  const start = (action: AnyAction, own: readonly AnyRow[]) => {
    if (action.form) return setAsked({ action, own });
    return ask({
      title: t.sure(read(action.text), own.length),
      button: t.run(read(action.text), own.length),
      danger: action.danger,
      onYes: () => run(action, own, {}),
    });
  };
  return (
    <>
      {offered.map(({ action, own }) => (
        <Button
          key={action.route + action.text[1]}
          danger={action.danger}
          loading={isBusy}
          onClick={() => start(action, own)}
        >
          {t.run(read(action.text), own.length)}
        </Button>
      ))}
      {asked && (
        <FormDrawer
          title={t.run(read(asked.action.text), asked.own.length)}
          about={t.once}
          route={asked.action.route}
          fields={asked.action.form ?? {}}
          labelOf={(name) => asked.action.labels?.[name] ?? labelOf(resource, name)}
          submit={t.run(read(asked.action.text), asked.own.length)}
          // Names its draft: other rows are not to begin with what was typed for these.
          path={{ ids: asked.own.map((row) => idOf(resource, row)).join() }}
          send={(input) => run(asked.action, asked.own, input)}
          onDone={() => setAsked(undefined)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}
