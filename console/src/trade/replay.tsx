// Replays a stored callback: after a wrong secret was corrected, or when it is pending.
import { RedoOutlined } from '@ant-design/icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { App, Button } from 'antd';
import { call, type Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { useShowFailure } from '../parts/show/dialogs.tsx';

type Outcome = Data<'POST /api/admin/payments/{payment_no}/callbacks/{id}/replay'>['outcome'];

const t = texts<{ replay: string } & Record<Outcome, string>>({
  replay: ['重放', 'Replay'],
  paid: ['已到账', 'The payment is paid'],
  already_paid: ['之前已经到账，没有变化', 'It was paid before; nothing has changed'],
  paid_needs_attention: [
    '款项已记录，但订单已无法支付，请处理',
    'The money is recorded, but its order could not be paid; needs attention',
  ],
  paid_twice: [
    '该支付此前已用另一个交易号付清，请处理',
    'It was already paid under another number; needs attention',
  ],
  processing: ['已保存，稍后入账', 'Stored; it will be settled shortly'],
  noted: ['通知真实，但没有款项到账', 'Genuine, but it reports no money'],
});

export function Replay({ paymentNo, id }: { paymentNo: string; id: number }) {
  const { message } = App.useApp();
  const showFailure = useShowFailure();
  const client = useQueryClient();
  const replay = useMutation({
    mutationFn: () =>
      call('POST /api/admin/payments/{payment_no}/callbacks/{id}/replay', {
        path: { payment_no: paymentNo, id: String(id) },
      }),
    onSuccess: ({ outcome }) => {
      void message.info(t[outcome]);
      return client.invalidateQueries();
    },
    onError: showFailure,
  });
  return (
    <Button size="small" icon={<RedoOutlined />} loading={replay.isPending} onClick={() => replay.mutate()}>
      {t.replay}
    </Button>
  );
}
