// Whether a callback signed with the stored keys would be accepted, and why not.
import { ExperimentOutlined } from '@ant-design/icons';
import { useMutation } from '@tanstack/react-query';
import { Alert, Button, Flex } from 'antd';
import { call, type Data } from '../contract/api.ts';
import { read, texts, type Both } from '../contract/texts.ts';
import { Problem } from '../parts/show/problem.tsx';
import { useMay } from '../parts/show/profile.ts';
import { Badge, states } from '../parts/show/states.tsx';
import { keyName } from './channel-config.tsx';

const t = texts({
  test: ['测试回调', 'Test the callback'],
  testing: ['测试结果', 'Outcome of the test'],
});

type Test = Data<'POST /api/admin/payment-methods/{id}/test'>;

const outcomes = states<Test['checks'][number]['state']>({
  passed: ['通过', 'Passed', 'green'],
  failed: ['未通过', 'Failed', 'red'],
  skipped: ['未检查', 'Skipped', 'grey'],
});

const notifyUrl: Both = ['回调地址', 'Callback URL'];

export function MethodTest({ row: { id, type } }: { row: { id: number; type: string } }) {
  const may = useMay();
  const test = useMutation({
    mutationFn: () => call('POST /api/admin/payment-methods/{id}/test', { path: { id: String(id) } }),
  });
  if (!may('POST /api/admin/payment-methods/{id}/test')) return null;
  return (
    <Flex vertical gap={12} align="start">
      <Button icon={<ExperimentOutlined />} loading={test.isPending} onClick={() => test.mutate()}>
        {t.test}
      </Button>
      {test.error && <Problem error={test.error} />}
      {test.data && <Outcome of={test.data} type={type} />}
    </Flex>
  );
}

const nameOf = (type: string, field: string): string =>
  field === 'notify_url' ? read(notifyUrl) : (keyName(type, field) ?? field);

function Outcome({ of: test, type }: { of: Test; type: string }) {
  const { accepted, message, notify_url, checks } = test;
  // Nobody but the company can sign: all that can be tried here is in order.
  const isUntried =
    test.verdict === 'payment_sign_invalid' && checks.every(({ state }) => state !== 'failed');
  return (
    <section aria-label={t.testing} role="status" className="stack">
      <Alert
        type={accepted ? 'success' : isUntried ? 'info' : 'warning'}
        showIcon
        title={message}
        description={notify_url}
      />
      <dl className="facts">
        {checks.map(({ field, state, message: reason }) => (
          <div key={field}>
            <dt>{nameOf(type, field.replace('config.', ''))}</dt>
            <dd>
              <Badge states={outcomes} value={state} /> {reason}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
