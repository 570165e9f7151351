// A form over the fields of a body: what the contract demands is checked here, what the service refuses stands at its field.
import { Alert, Drawer, Button, Flex, Form } from 'antd';
import { useEffect, useMemo, useState } from 'react';
import { call, type Route } from '../contract/api.ts';
import { bodies } from '../contract/generated/bodies.ts';
import { read, texts, type Both } from '../contract/texts.ts';
import type { Field } from './fields.tsx';
import { failureOf, Trace } from './problem.tsx';
import type { AnyRow } from './resource.ts';

const t = texts({
  'zh-CN': { save: '保存', cancel: '取消', draft: '已恢复上次未保存的内容', discard: '放弃', needed: '必填' },
  'en-US': {
    save: 'Save',
    cancel: 'Cancel',
    draft: 'What you had typed is back',
    discard: 'Discard',
    needed: 'Required',
  },
});

interface Props {
  title: string;
  route: Route;
  fields: Readonly<Record<string, Field>>;
  labelOf: (name: string) => Both;
  path?: Record<string, string | number>;
  /** Of the row that is changed; only what differs is sent. */
  row?: AnyRow;
  /** Sent along. */
  fixed?: AnyRow;
  wide?: boolean;
  onDone: (answer: AnyRow) => void;
  onClose: () => void;
}

export function FormDrawer({
  title,
  route,
  fields,
  labelOf,
  path,
  row,
  fixed,
  wide,
  onDone,
  onClose,
}: Props) {
  const [form] = Form.useForm<AnyRow>();
  const [isBusy, setBusy] = useState(false);
  const [failure, setFailure] = useState<ReturnType<typeof failureOf>>();
  // As long as the form is open, sending it again is the same wish.
  const key = useMemo(() => crypto.randomUUID(), []);
  const initial = useMemo(() => initialOf(fields, row), [fields, row]);
  const draft = useDraft(`${route} ${JSON.stringify(path ?? {})}`, fields);
  const rules = bodies[route];

  useEffect(() => {
    form.setFieldsValue({ ...initial, ...draft.known });
  }, [form, initial, draft.known]);

  const save = async (values: AnyRow) => {
    setBusy(true);
    setFailure(undefined);
    try {
      const body = { ...(row ? changed(values, initial) : given(values)), ...fixed };
      const isWrite = route.startsWith('POST');
      const answer = await call(route, {
        path,
        body: body as never,
        idempotencyKey: isWrite ? key : undefined,
      });
      draft.forget();
      onDone(answer ?? {});
    } catch (error) {
      const known = failureOf(error);
      const atFields = Object.entries(known.details.errors ?? {}).map(([name, messages]) => ({
        name: name.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part)),
        errors: messages,
      }));
      form.setFields(atFields);
      const [first] = atFields;
      if (first) form.scrollToField(first.name, { focus: true });
      setFailure(known);
      setBusy(false);
    }
  };

  const submit = () => form.submit();
  return (
    <Drawer
      open
      title={title}
      size={wide ? 720 : 480}
      onClose={onClose}
      footer={
        <Flex gap={8} justify="end">
          <Button onClick={onClose}>{t.cancel}</Button>
          <Button type="primary" loading={isBusy} onClick={submit}>
            {t.save}
          </Button>
        </Flex>
      }
    >
      {failure && (
        <Alert
          type="error"
          showIcon
          role="alert"
          className="form-failure"
          title={failure.message}
          description={<Trace failure={failure} />}
        />
      )}
      {draft.known && !failure && (
        <Alert
          type="info"
          className="form-failure"
          title={t.draft}
          action={
            <Button
              size="small"
              onClick={() => {
                draft.forget();
                form.resetFields();
                form.setFieldsValue(initial);
              }}
            >
              {t.discard}
            </Button>
          }
        />
      )}
      <Form
        form={form}
        layout="vertical"
        disabled={isBusy}
        requiredMark
        onFinish={(values) => void save(values)}
        onValuesChange={(_, values: AnyRow) => draft.keep(values)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit();
        }}
      >
        {Object.entries(fields).map(([name, field]) => (
          <Form.Item
            key={name}
            name={name}
            label={read(labelOf(name))}
            rules={[
              { required: !row && rules?.required.includes(name), message: t.needed },
              ...(rules?.max[name] ? [{ max: rules.max[name] }] : []),
              ...(field.problem ? [{ validator: (_: unknown, value: unknown) => check(field, value) }] : []),
            ]}
          >
            <Slot field={field} />
          </Form.Item>
        ))}
        <button type="submit" hidden tabIndex={-1} aria-hidden />
      </Form>
    </Drawer>
  );
}

// Form.Item hands id, value and onChange to its child.
function Slot({ field, ...props }: { field: Field }) {
  return field.control(props);
}

function check(field: Field, value: unknown): Promise<void> {
  const problem = field.problem?.(value);
  return problem ? Promise.reject(new Error(problem)) : Promise.resolve();
}

function initialOf(fields: Props['fields'], row: AnyRow | undefined): AnyRow {
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [
      name,
      row
        ? field.isSecret
          ? undefined
          : field.from
            ? field.from(row)
            : (row[name] ?? undefined)
        : field.initial,
    ]),
  );
}

const given = (values: AnyRow): AnyRow =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== '' && value !== null),
  );

// An emptied field is sent as null: that clears it.
const changed = (values: AnyRow, initial: AnyRow): AnyRow =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([name, value]) => JSON.stringify(value ?? null) !== JSON.stringify(initial[name] ?? null))
      .map(([name, value]) => [name, value === undefined ? null : value]),
  );

// What was typed outlives a reload, a new sign-in and a new version of the page; secrets do not.
function useDraft(name: string, fields: Props['fields']) {
  const place = `console.draft ${name}`;
  const [known, setKnown] = useState<AnyRow | undefined>(() => {
    try {
      return (JSON.parse(sessionStorage.getItem(place) ?? 'null') as AnyRow | null) ?? undefined;
    } catch {
      return undefined;
    }
  });
  return {
    known,
    keep(values: AnyRow) {
      const open = Object.entries(values).filter(
        ([field, value]) => !fields[field]?.isSecret && value !== undefined,
      );
      sessionStorage.setItem(place, JSON.stringify(Object.fromEntries(open)));
    },
    forget() {
      sessionStorage.removeItem(place);
      setKnown(undefined);
    },
  };
}
