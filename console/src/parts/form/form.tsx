// A form over the fields of a body: the contract is checked here, errors of the service are shown at their fields.
import { useQueryClient } from '@tanstack/react-query';
import { Alert, App, Drawer, Button, Flex, Form } from 'antd';
import { Fragment, useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { call, Failure, type Route } from '../../contract/api.ts';
import { bodies } from '../../contract/generated/bodies.ts';
import { randomKey } from '../../contract/plain-http.ts';
import { labelled, read, texts, type Both } from '../../contract/texts.ts';
import { useAsk, useAskDiscard } from '../show/dialogs.tsx';
import { failureOf, SendProblem, useCountdown } from '../show/problem.tsx';
import type { AnyRow, Question } from '../resource.ts';
import { useReturnFocus } from '../show/focus.ts';
import { useIsShown } from '../show/is-shown.ts';
import { DraftNote } from './draft-note.tsx';
import { useDraft, useLeaveGuard } from './draft.ts';
import type { Field } from './fields.tsx';
import { FormEnd, fieldOf, formId, goTo } from './form-focus.tsx';
import { rulesOf } from './form-rules.ts';
import { changed, given, initialOf, rebase, touched, type Fields } from './form-values.ts';
import { formName, useOpenNote } from './open-form.ts';

const t = texts({
  save: ['保存', 'Save'],
  cancel: ['取消', 'Cancel'],
  saved: ['已保存', 'Saved'],
  wait: [
    (name: string, seconds: number) => `${name}（${seconds} 秒后）`,
    (name, seconds) => `${name} (in ${seconds} s)`,
  ],
  stay: ['继续填写', 'Keep editing'],
  conflict: [
    (names: string) => `其他人刚刚也修改了：${names}。再次保存将以您填写的内容为准`,
    (names) => `Someone else has just changed ${names}. Save again to overwrite their change`,
  ],
  theirs: ['采用对方的修改', 'Use their change'],
  arrived: [
    '上一次提交其实已经生效。请关闭此表单，先核对记录，再决定是否重新提交',
    'Your earlier attempt did take effect. Close this form and look at the record before you try again',
  ],
});

export interface FormProps {
  title: string;
  /** Said above the fields. */
  about?: string;
  route: Route;
  fields: Fields;
  labelOf: (name: string) => Both;
  path?: Record<string, string | number>;
  /** The current row; only differences are sent. */
  row?: AnyRow;
  /** Refetches the row, so that concurrent changes are seen before saving. */
  refresh?: () => Promise<AnyRow | undefined>;
  /** Added to the body. */
  fixed?: AnyRow;
  wide?: boolean;
  /** On the button; by default Save. */
  submit?: string;
  ask?: (values: AnyRow) => Question;
  /** Instead of one call of the route. @throws Failure */
  send?: (body: AnyRow) => Promise<void>;
  onDone: (answer: AnyRow) => void;
  onClose: () => void;
}

export default function FormDrawer({
  title,
  about,
  route,
  fields,
  labelOf,
  path,
  row,
  refresh,
  fixed,
  wide,
  submit,
  ask,
  send,
  onDone,
  onClose,
}: FormProps) {
  const { message } = App.useApp();
  const askFirst = useAsk();
  const client = useQueryClient();
  const askDiscard = useAskDiscard();
  const [form] = Form.useForm<AnyRow>();
  const [isBusy, setBusy] = useState(false);
  const [isDirty, setDirty] = useState(false);
  const [failure, setFailure] = useState<ReturnType<typeof failureOf>>();
  // The limit that refused the last call; it holds whatever is typed since.
  const [limit, setLimit] = useState<ReturnType<typeof failureOf>>();
  const waitSeconds = useCountdown(limit?.details.retryAfter ?? 0, limit);
  const [conflicts, setConflicts] = useState<string[]>([]);
  const base = useRef<AnyRow>(undefined);
  const name = formName(route, path, fixed);
  const draft = useDraft(name, fields);
  useOpenNote(name);
  // The key of repeated submits: also after a reload, when nobody knows whether the first one has arrived.
  const [key, setKey] = useState(() => draft.known?.key ?? randomKey());
  const isSent = useRef(draft.known?.key !== undefined);
  const keep = (values: AnyRow) => {
    // The others may be changed by somebody else before it is read again.
    const own = touched(values, base.current ?? {});
    draft.keep(own, base.current ?? {}, isSent.current ? key : undefined);
  };
  const required = bodies[route]?.required ?? [];
  useLeaveGuard(isDirty);
  useReturnFocus();
  const isShown = useIsShown();

  // Rebases the edits onto a newer row; returns the fields in conflict.
  const rebaseOn = (latest: AnyRow): string[] => {
    const values = form.getFieldsValue(true) as AnyRow;
    const { taken, conflicts: found } = rebase(values, base.current ?? latest, latest);
    form.setFieldsValue(taken);
    base.current = latest;
    if (found.length > 0) setConflicts(found);
    return found;
  };
  useEffect(() => {
    const latest = initialOf(fields, row);
    if (base.current) return void rebaseOn(latest);
    base.current = { ...latest, ...(row && draft.known?.base) };
    form.setFieldsValue({ ...latest, ...draft.known?.values });
    setDirty(draft.known !== undefined);
    // What somebody else has changed since the draft was written.
    rebaseOn(latest);
    // Only when the row is another one.
  }, [row]);

  const save = async (values: AnyRow) => {
    setBusy(true);
    setFailure(undefined);
    setConflicts([]);
    try {
      const latest = await refresh?.();
      if (latest && rebaseOn(initialOf(fields, latest)).length > 0) return setBusy(false);
      // As the others have changed them meanwhile.
      const filled = latest ? form.getFieldsValue() : values;
      const own = row ? changed(filled, base.current ?? {}, required) : given(filled);
      const body = { ...own, ...fixed };
      if (row && Object.keys(body).length === 0) return close();
      const idempotencyKey = route.startsWith('POST') ? key : undefined;
      isSent.current = true;
      if (isDirty) keep(filled);
      const answer = send
        ? await send(body)
        : await call(route, { path, body: body as never, idempotencyKey });
      draft.forget();
      if (isShown.current) return onDone(answer ?? {});
      void message.success(labelled(title, t.saved));
      void client.invalidateQueries();
    } catch (error) {
      const known = failureOf(error);
      if (!isShown.current) return void message.error(labelled(title, known.message));
      // The answer to the first attempt was lost, and the values have been changed since.
      const hasArrived = known.code === 'idempotency_key_reused';
      setFailure(hasArrived ? new Failure(t.arrived, known.status) : known);
      if (known.status === 429) setLimit(known);
      setBusy(false);
    }
  };
  const askAndSave = (values: AnyRow) => {
    if (!ask) return void save(values);
    return askFirst({ ...ask(values), stay: t.stay, onYes: () => save(values) });
  };
  // Once the controls are enabled again: a disabled one takes no focus.
  useEffect(() => {
    const order = Object.keys(fields);
    const atFields = Object.entries(failure?.details.errors ?? {})
      .map(([name, messages]) => ({ name: fieldOf(name, fields), errors: messages }))
      .filter(({ name: [field = ''] }) => order.includes(field))
      .sort((one, other) => order.indexOf(one.name[0] ?? '') - order.indexOf(other.name[0] ?? ''));
    form.setFields(atFields);
    const [first] = atFields;
    if (first) goTo(form, first.name);
  }, [failure]);

  const close = () => {
    draft.forget();
    onClose();
  };
  const askAndClose = () => {
    // What is being sent can no longer be discarded.
    if (isBusy) return;
    if (isDirty) askDiscard(close);
    else close();
  };
  // For the fields in conflict alone: the other edits are nobody else's.
  const takeTheirs = () => {
    const known = base.current ?? {};
    form.resetFields(conflicts);
    form.setFieldsValue(Object.fromEntries(conflicts.map((field) => [field, known[field]])));
    setConflicts([]);
    const values = form.getFieldsValue(true) as AnyRow;
    setDirty(Object.keys(touched(values, known)).length > 0);
    keep(values);
  };
  const startAgain = (values: AnyRow) => {
    draft.forget();
    setKey(randomKey());
    isSent.current = false;
    form.resetFields();
    form.setFieldsValue(values);
    setDirty(false);
    setConflicts([]);
  };
  const elsewhere = Object.entries(failure?.details.errors ?? {}).filter(
    ([name]) => !Object.hasOwn(fields, name.split('.')[0] ?? ''),
  );
  // What the fields say is not said twice.
  const isAtFields = failure?.details.errors !== undefined && elsewhere.length === 0;
  const submitName = submit ?? t.save;
  const submitByKeys = (event: KeyboardEvent) => {
    const isAsked = event.key === 'Enter' && (event.ctrlKey || event.metaKey);
    if (isAsked && !isBusy && waitSeconds === 0) form.submit();
  };
  return (
    <Drawer
      open
      title={title}
      size={wide ? 720 : 480}
      autoFocus={false}
      onKeyDown={submitByKeys}
      onClose={askAndClose}
      footer={
        <Flex gap={8} justify="end">
          <Button disabled={isBusy} onClick={askAndClose}>
            {t.cancel}
          </Button>
          <Button type="primary" loading={isBusy} disabled={waitSeconds > 0} onClick={() => form.submit()}>
            {waitSeconds > 0 ? t.wait(submitName, waitSeconds) : submitName}
          </Button>
        </Flex>
      }
    >
      {about && <p className="soft">{about}</p>}
      {failure && !isAtFields && <SendProblem failure={failure} elsewhere={elsewhere} />}
      {conflicts.length > 0 && (
        <Alert
          type="warning"
          showIcon
          role="alert"
          className="form-failure"
          title={t.conflict(conflicts.map((name) => read(labelOf(name))).join(', '))}
          action={
            <Button size="small" onClick={takeTheirs}>
              {t.theirs}
            </Button>
          }
        />
      )}
      {draft.known && !failure && <DraftNote onDiscard={() => startAgain(base.current ?? {})} />}
      <Form
        form={form}
        name={formId}
        layout="vertical"
        disabled={isBusy}
        requiredMark
        onFinish={(values) => waitSeconds === 0 && askAndSave(values)}
        onFinishFailed={({ errorFields: [first] }) => first && goTo(form, first.name)}
        onValuesChange={(_, values: AnyRow) => {
          setDirty(true);
          // The errors of the service were about other values.
          setFailure(undefined);
          keep(values);
        }}
      >
        {Object.entries(fields).map(([name, field]) =>
          field.items ? (
            <Fragment key={name}>{field.items({ name, row })}</Fragment>
          ) : (
            <Form.Item
              key={name}
              name={name}
              label={read(labelOf(name))}
              rules={rulesOf(route, name, field)}
              extra={field.hint && read(field.hint)}
            >
              <Slot field={field} row={row} />
            </Form.Item>
          ),
        )}
        <FormEnd />
      </Form>
    </Drawer>
  );
}

// Form.Item passes id, value and onChange to its child.
function Slot({ field, row, ...props }: { field: Field; row: AnyRow | undefined }) {
  return field.control(props, row);
}
