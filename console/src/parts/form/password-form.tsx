// Changes one's own password.
import { useMutation } from '@tanstack/react-query';
import { Button, Form, Input } from 'antd';
import { useEffect } from 'react';
import { call, type Body } from '../../contract/api.ts';
import { read, texts } from '../../contract/texts.ts';
import { failureOf, SendProblem } from '../show/problem.tsx';
import { passwordRules } from './password-rules.ts';

const t = texts({
  old: ['原密码', 'Old password'],
  fresh: ['新密码', 'New password'],
  again: ['再次输入新密码', 'Repeat the new password'],
  save: ['修改密码', 'Change password'],
  differ: ['两次输入不一致', 'The passwords do not match'],
  needed: ['必填', 'Required'],
});

type Change = Body<'PUT /api/admin/password'>;

interface Props {
  /** It is all there is to do on the page. */
  isAlone?: boolean;
  onDone: () => void;
}

export function PasswordForm({ isAlone, onDone }: Props) {
  const [form] = Form.useForm<Change>();
  const change = useMutation({
    mutationFn: (body: Change) => call('PUT /api/admin/password', { body }),
    onSuccess: () => {
      form.resetFields();
      onDone();
    },
  });
  const failure = change.error ? failureOf(change.error) : undefined;
  const { errors } = failure?.details ?? {};
  // Once the fields are enabled again: a disabled one takes no focus.
  useEffect(() => {
    const wrong = Object.entries(errors ?? {}) as [keyof Change, string[]][];
    form.setFields(wrong.map(([name, messages]) => ({ name, errors: messages })));
    const [first] = wrong;
    if (first) form.focusField(first[0]);
  }, [errors]);
  const rules = [{ required: true, message: t.needed }];
  const isSame = (_: unknown, again: string) =>
    again === form.getFieldValue('password') ? Promise.resolve() : Promise.reject(new Error(t.differ));
  return (
    <Form
      form={form}
      layout="vertical"
      onFinish={(body) => change.mutate(body)}
      onFinishFailed={({ errorFields: [first] }) => first && form.focusField(first.name)}
      disabled={change.isPending}
    >
      {failure && !errors && <SendProblem failure={failure} />}
      <Form.Item name="old_password" label={t.old} rules={rules}>
        <Input.Password autoComplete="current-password" autoFocus={isAlone} />
      </Form.Item>
      <Form.Item name="password" label={t.fresh} rules={rules} extra={read(passwordRules)}>
        <Input.Password autoComplete="new-password" />
      </Form.Item>
      <Form.Item name="password_confirmation" label={t.again} rules={[...rules, { validator: isSame }]}>
        <Input.Password autoComplete="new-password" />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={change.isPending}>
        {t.save}
      </Button>
    </Form>
  );
}
