// Actions on selected rows: one call each, one after the other, with one form for all; refusals are reported row by row.
import { useQueryClient } from '@tanstack/react-query';
import { App, Button, Drawer, Flex, Form, Input } from 'antd';
import { useState } from 'react';
import { call } from '../../contract/api.ts';
import { plural, read, texts } from '../../contract/texts.ts';
import { bodyOf, manyOf, pathOf, useActions, type AnyAction } from './actions.tsx';
import { useAskDiscard } from '../form/ask-discard.ts';
import type { Fields } from '../form/form-values.ts';
import { failureOf } from '../show/problem.tsx';
import { useProfile } from '../show/profile.ts';
import { idOf, labelOf, type AnyRow, type Resource } from '../resource.ts';

const t = texts({
  'zh-CN': {
    run: (name: string, count: number) => `${name}（${count}）`,
    sure: (name: string, count: number) => `对选中的 ${count} 条执行“${name}”？`,
    done: (count: number) => `已完成 ${count} 条`,
    refused: (count: number) => `${count} 条被拒绝`,
    back: '返回',
    cancel: '取消',
    once: '对所有选中的记录生效',
    needed: '必填',
  },
  'en-US': {
    run: (name: string, count: number) => `${name} (${count})`,
    sure: (name: string, count: number) => `${name}: ${count} selected ${plural(count, 'row', 'rows')}?`,
    done: (count: number) => `${count} done`,
    refused: (count: number) => `${count} refused`,
    back: 'Back',
    cancel: 'Cancel',
    once: 'Applies to every selected row',
    needed: 'Required',
  },
});

interface Props {
  resource: Resource;
  rows: readonly AnyRow[];
  onDone: (refused: readonly AnyRow[]) => void;
}

export default function ManyActions({ resource, rows, onDone }: Props) {
  const possible = useActions(resource);
  const { modal, message } = App.useApp();
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
        await call(action.route, {
          path: pathOf(resource, action.route, row),
          body: { ...input, ...bodyOf(action, row, profile) } as never,
        });
      } catch (error) {
        refused.push({ row, reason: `${idOf(resource, row)}: ${failureOf(error).message}` });
      }
    }
    setBusy(false);
    // What was typed stays for another attempt.
    if (refused.length < own.length) setAsked(undefined);
    if (refused.length === 0) void message.success(t.done(own.length));
    else
      modal.warning({
        title: `${t.done(own.length - refused.length)} · ${t.refused(refused.length)}`,
        content: refused.map(({ reason }) => <p key={reason}>{reason}</p>),
      });
    onDone(refused.map(({ row }) => row));
    await client.invalidateQueries();
  };
  const start = (action: AnyAction, own: readonly AnyRow[]) => {
    if (action.form) return setAsked({ action, own });
    return void modal.confirm({
      title: t.sure(read(action.text), own.length),
      okText: t.run(read(action.text), own.length),
      cancelText: t.back,
      okButtonProps: { danger: action.danger },
      focusable: { autoFocusButton: action.danger ? 'cancel' : 'ok' },
      onOk: () => run(action, own, {}),
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
        <OneText
          title={t.run(read(asked.action.text), asked.own.length)}
          fields={asked.action.form ?? {}}
          label={(name) => read(asked.action.labels?.[name] ?? labelOf(resource, name))}
          isBusy={isBusy}
          onClose={() => setAsked(undefined)}
          onSave={(input) => void run(asked.action, asked.own, input)}
        />
      )}
    </>
  );
}

interface OneTextProps {
  title: string;
  fields: Fields;
  label: (name: string) => string;
  isBusy: boolean;
  onClose: () => void;
  onSave: (input: AnyRow) => void;
}

// Such actions ask for texts, usually a remark.
function OneText({ title, fields, label, isBusy, onClose, onSave }: OneTextProps) {
  const [form] = Form.useForm<AnyRow>();
  const askDiscard = useAskDiscard();
  const askAndClose = () => {
    if (isBusy) return;
    if (form.isFieldsTouched()) askDiscard(onClose);
    else onClose();
  };
  return (
    <Drawer
      open
      title={title}
      size={480}
      autoFocus={false}
      onClose={askAndClose}
      onKeyDown={({ key, ctrlKey, metaKey }) => {
        if (key === 'Enter' && (ctrlKey || metaKey) && !isBusy) form.submit();
      }}
      footer={
        <Flex gap={8} justify="end">
          <Button disabled={isBusy} onClick={askAndClose}>
            {t.cancel}
          </Button>
          <Button type="primary" loading={isBusy} onClick={() => form.submit()}>
            {title}
          </Button>
        </Flex>
      }
    >
      <p className="soft">{t.once}</p>
      <Form
        form={form}
        layout="vertical"
        onFinish={onSave}
        onFinishFailed={({ errorFields: [first] }) => first && form.focusField(first.name)}
      >
        {Object.entries(fields).map(([name, { isRequired }], at) => (
          <Form.Item
            key={name}
            name={name}
            label={label(name)}
            rules={[{ required: isRequired, whitespace: isRequired, message: t.needed }]}
          >
            <Input.TextArea rows={3} maxLength={500} autoFocus={at === 0} />
          </Form.Item>
        ))}
      </Form>
    </Drawer>
  );
}
