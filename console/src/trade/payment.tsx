// One payment as a timeline: why it is paid or not.
import { SearchOutlined, SendOutlined } from '@ant-design/icons';
import { useMutation, useQuery } from '@tanstack/react-query';
import { App, Button, Drawer, Skeleton } from 'antd';
import { useState } from 'react';
import { Link } from 'react-router';
import { call, type Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { ActionButtons } from '../parts/actions.tsx';
import { Facts } from '../parts/facts.tsx';
import { History } from '../parts/history.tsx';
import { RowPage } from '../parts/page.tsx';
import { failureOf, Problem } from '../parts/problem.tsx';
import { useMay } from '../parts/profile.ts';
import type { Resource } from '../parts/resource.ts';
import { Badge, type Tone } from '../parts/states.tsx';
import { Json, Timeline, type Point } from '../parts/timeline.tsx';
import { GatewayAnswer } from './pay.tsx';
import { Replay } from './replay.tsx';
import { paymentStates } from '../parts/payment-states.ts';
import { meaningOf } from './verdicts.ts';
import { Why } from './why.tsx';

const t = texts({
  'zh-CN': {
    ...{
      timeline: '经过',
      history: '操作记录',
      created: '支付单已创建',
      settled: '已到账，订单已支付',
      order: '订单',
    },
    ...{
      callback: '渠道回调',
      times: (count: number) => `，共 ${count} 次`,
      from: '来自',
      waiting: '尚未收到渠道的回调',
    },
    ...{
      query: '查询渠道',
      place: '取付款码',
      answer: '渠道的应答',
      cancelled: '支付已取消',
      failed: '支付失败',
      last: '最近一次',
    },
  },
  'en-US': {
    ...{
      timeline: 'What happened',
      history: 'History',
      created: 'The payment was created',
      settled: 'Settled: the order is paid',
      order: 'Order',
    },
    ...{
      callback: 'Callback of the channel',
      times: (count: number) => `, ${count} times`,
      from: 'from',
      waiting: 'No callback of the channel yet',
    },
    ...{
      query: 'Ask the channel',
      place: 'Payment code',
      answer: 'The channel answers',
      cancelled: 'The payment was cancelled',
      failed: 'The payment failed',
      last: 'last',
    },
  },
});

type Payment = Data<'GET /api/admin/payments/{id}'>;

export default function PaymentPage({ id, resource }: { id: string; resource: Resource }) {
  const may = useMay();
  const mayReplay = may('POST /api/admin/payments/{payment_no}/callbacks/{id}/replay');
  const {
    data: payment,
    error,
    refetch,
  } = useQuery({
    queryKey: ['payments', 'one', id],
    queryFn: ({ signal }) => call('GET /api/admin/payments/{id}', { path: { id }, signal }),
    meta: { scopes: ['payments', 'orders'] },
  });
  return (
    <RowPage
      list="/trade/payments"
      title={id}
      what={['支付', 'Payment']}
      state={payment && <Badge states={paymentStates} value={payment.status} />}
      actions={
        payment && (
          <>
            {payment.status === 'pending' && may('POST /api/admin/payments/{payment_no}/place') && (
              <Place payment={payment} />
            )}
            {may('POST /api/admin/payments/{payment_no}/query') && <Ask payment={payment} />}
            <ActionButtons resource={resource} row={payment} />
          </>
        )
      }
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!payment && !error && <Skeleton active />}
      {payment && (
        <>
          <Why payment={payment} />
          <div className="two">
            <div className="stack">
              <section className="panel">
                <h2>{t.timeline}</h2>
                <Timeline points={pointsOf(payment, mayReplay)} />
                {payment.callbacks.length === 0 && payment.status === 'pending' && (
                  <span className="soft">{t.waiting}</span>
                )}
              </section>
            </div>
            <div className="stack">
              <section className="panel">
                <dl className="facts">
                  <div>
                    <dt>{t.order}</dt>
                    <dd>
                      <Link to={`/trade/orders/${payment.order_no}`} className="cell-code">
                        {payment.order_no}
                      </Link>
                    </dd>
                  </div>
                </dl>
                <Facts
                  resource={resource}
                  row={payment}
                  only={['amount', 'payment_method', 'third_party_no', 'pay_time', 'created_at', 'remark']}
                />
              </section>
              {may('GET /api/admin/operation-logs') && (
                <section className="panel">
                  <h2>{t.history}</h2>
                  <History path={`/api/admin/payments/${payment.payment_no}`} />
                </section>
              )}
            </div>
          </div>
        </>
      )}
    </RowPage>
  );
}

const callbackTones: Record<Payment['callbacks'][number]['state'], Tone> = {
  pending: 'gold',
  settled: 'green',
  refused: 'red',
};

function pointsOf(payment: Payment, mayReplay: boolean): Point[] {
  const callbacks = payment.callbacks.map((one): Point => ({
    key: `callback-${one.id}`,
    at: one.created_at,
    tone: callbackTones[one.state],
    title: (
      <>
        <strong>{t.callback}</strong>
        {one.times > 1 && t.times(one.times)} {t.from} {one.ip} · {meaningOf(one.verdict)}
      </>
    ),
    children: (
      <>
        <Json value={one.body} />
        {mayReplay && one.state !== 'settled' && <Replay paymentNo={payment.payment_no} id={one.id} />}
      </>
    ),
  }));
  const end: Point[] =
    payment.status === 'paid' && payment.pay_time
      ? [{ key: 'settled', at: payment.pay_time, tone: 'green', title: t.settled }]
      : payment.status === 'cancelled' || payment.status === 'failed'
        ? [
            {
              key: 'ended',
              at: payment.updated_at,
              tone: payment.status === 'failed' ? 'red' : 'grey',
              title: t[payment.status],
            },
          ]
        : [];
  const points: Point[] = [
    { key: 'created', at: payment.created_at, tone: 'blue', title: t.created },
    ...callbacks,
    ...end,
  ];
  return points.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

function Ask({ payment }: { payment: Payment }) {
  const { modal } = App.useApp();
  const ask = useMutation({
    mutationFn: () =>
      call('POST /api/admin/payments/{payment_no}/query', { path: { payment_no: payment.payment_no } }),
    onSuccess: (answer) => void modal.info({ title: t.answer, content: <Json value={answer} /> }),
    onError: (error) => void modal.error({ title: failureOf(error).message }),
  });
  return (
    <Button icon={<SearchOutlined />} loading={ask.isPending} onClick={() => ask.mutate()}>
      {t.query}
    </Button>
  );
}

function Place({ payment }: { payment: Payment }) {
  const [isOpen, setOpen] = useState(false);
  const place = useMutation({
    mutationFn: () =>
      call('POST /api/admin/payments/{payment_no}/place', { path: { payment_no: payment.payment_no } }),
  });
  const open = () => {
    setOpen(true);
    place.mutate();
  };
  return (
    <>
      <Button type="primary" icon={<SendOutlined />} onClick={open}>
        {t.place}
      </Button>
      <Drawer open={isOpen} title={payment.payment_no} size={420} onClose={() => setOpen(false)}>
        {place.isPending && <Skeleton active />}
        {place.error && <Problem error={place.error} onRetry={() => place.mutate()} />}
        {place.data && <GatewayAnswer paymentNo={payment.payment_no} gateway={place.data.gateway ?? {}} />}
      </Drawer>
    </>
  );
}
