// Changes one's own password.
import { useMutation } from '@tanstack/react-query';
import { Alert, Button, Form, Input } from 'antd';
import { call, type Body } from '../../contract/api.ts';
import { texts } from '../../contract/texts.ts';
import { failureOf } from '../show/problem.tsx';

const t = texts({
  'zh-CN': {
    old: '当前密码',
    fresh: '新密码',
    again: '再次输入新密码',
    save: '修改密码',
    differ: '两次输入不一致',
    needed: '必填',
  },
  'en-US': {
    old: 'Current password',
    fresh: 'New password',
    again: 'Repeat the new password',
    save: 'Change password',
    differ: 'The passwords do not match',
    needed: 'Required',
  },
});

type Change = Body<'PUT /api/admin/password'>;

export function PasswordForm({ onDone }: { onDone: () => void }) {
  const [form] = Form.useForm<Change>();
  const change = useMutation({
    mutationFn: (body: Change) => call('PUT /api/admin/password', { body }),
    onSuccess: () => {
      form.resetFields();
      onDone();
    },
    onError: (error) => {
      const { errors = {} } = failureOf(error).details;
      form.setFields(
        Object.entries(errors).map(([name, messages]) => ({ name: name as keyof Change, errors: messages })),
      );
    },
  });
  const rules = [{ required: true, message: t.needed }];
  const isSame = (_: unknown, again: string) =>
    again === form.getFieldValue('password') ? Promise.resolve() : Promise.reject(new Error(t.differ));
  return (
    <Form form={form} layout="vertical" onFinish={(body) => change.mutate(body)} disabled={change.isPending}>
      {change.error && (
        <Alert type="error" role="alert" className="form-failure" title={failureOf(change.error).message} />
      )}
      <Form.Item name="old_password" label={t.old} rules={rules}>
        <Input.Password autoComplete="current-password" />
      </Form.Item>
      <Form.Item name="password" label={t.fresh} rules={rules}>
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
