// One payment as a timeline: why it is paid or not.
import { SearchOutlined, SendOutlined } from '@ant-design/icons';
import { useMutation } from '@tanstack/react-query';
import { Button, Drawer, Skeleton } from 'antd';
import { useState } from 'react';
import { call, type Data } from '../contract/api.ts';
import { read, texts } from '../contract/texts.ts';
import { RecordPage, useRecord } from '../parts/list/record-page.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { keepFocus } from '../parts/show/focus.ts';
import { History } from '../parts/show/history.tsx';
import { PageLink } from '../parts/show/page-link.tsx';
import { Problem } from '../parts/show/problem.tsx';
import { answers, useMay, useProfile } from '../parts/show/profile.ts';
import type { Resource } from '../parts/resource.ts';
import { Time } from '../parts/show/cells.tsx';
import { showAmount } from '../parts/show/money.ts';
import { Badge, nameOf, Tag } from '../parts/show/states.tsx';
import { showTime } from '../parts/show/time.ts';
import { Timeline } from '../parts/show/timeline.tsx';
import { orderStates, paymentStates } from '../parts/show/trade-states.ts';
import { AttentionQueue } from './attention.tsx';
import { GatewayAnswer } from './pay.tsx';
import { Refund } from './refund.tsx';
import { storyOf, type Payment } from './story.tsx';
import { Diagnosis } from './diagnosis.tsx';

const t = texts({
  timeline: ['支付经过', 'What happened'],
  order: ['订单', 'Order'],
  user: ['用户', 'User'],
  waiting: ['尚未收到渠道的回调', 'No callback from the channel yet'],
  query: ['查询渠道', 'Query the channel'],
  place: ['获取付款信息', 'Get payment details'],
  answer: ['渠道的应答', 'Channel’s answer'],
  agrees: ['与本服务的记录一致', 'Matches our records'],
  differs: [(known: string) => `本服务记录为 ${known}`, (known) => `recorded here: ${known}`],
  tradeState: ['交易状态', 'Trade state'],
});

/** Columns that have a place of their own on the page. */
const elsewhere = [
  'payment_no',
  'order_no',
  'user',
  'status',
  'fail_reason',
  'needs_attention',
  'updated_at',
];

export default function PaymentPage({ id, resource }: { id: string; resource: Resource }) {
  const may = useMay();
  const profile = useProfile();
  const mayReplay = may('POST /api/admin/payments/{payment_no}/callbacks/{id}/replay');
  const payment = useRecord('GET /api/admin/payments/{id}', id, ['payments', 'orders', 'refunds']);
  const query = useMutation({
    mutationFn: async () => ({
      answer: await call('POST /api/admin/payments/{payment_no}/query', { path: { payment_no: id } }),
      at: new Date().toISOString(),
    }),
    onSuccess: () => void payment.refetch(),
  });
  const buttons = (known: Payment) => (
    <>
      {may('POST /api/admin/payments/{payment_no}/place') && <Place payment={known} />}
      {answers(profile, known) && may('POST /api/admin/payments/{payment_no}/query') && (
        <Button icon={<SearchOutlined />} loading={query.isPending} onClick={() => query.mutate()}>
          {t.query}
        </Button>
      )}
      {may('POST /api/admin/refunds') && <Refund payment={known} />}
    </>
  );
  return (
    <RecordPage resource={resource} id={id} what={['支付', 'Payment']} query={payment} buttons={buttons}>
      {(known) => (
        <>
          {(known.needs_attention || known.handlings.length > 0) && may('GET /api/admin/payments') && (
            <AttentionQueue payment={known} />
          )}
          <Diagnosis payment={known} />
          {query.error && <Problem error={query.error} />}
          {query.data && <Answer payment={known} answer={query.data.answer} at={query.data.at} />}
          <div className="two">
            <section className="panel">
              <h2>{t.timeline}</h2>
              <Timeline points={storyOf(known, mayReplay)} />
              {known.callbacks.length === 0 && known.status === 'pending' && (
                <span className="soft">{t.waiting}</span>
              )}
            </section>
            <div className="stack">
              <section className="panel">
                <dl className="facts">
                  <div>
                    <dt>{t.order}</dt>
                    <dd>
                      <PageLink to={`/trade/orders/${known.order_no}`} className="cell-code">
                        {known.order_no}
                      </PageLink>{' '}
                      {known.order && <Badge states={orderStates} value={known.order.status} />}
                    </dd>
                  </div>
                  {known.user && (
                    <div>
                      <dt>{t.user}</dt>
                      <dd>
                        <PageLink to={`/trade/users/${known.user.id}`}>{known.user.username}</PageLink>
                      </dd>
                    </div>
                  )}
                </dl>
                <Facts resource={resource} row={known} without={elsewhere} />
              </section>
              <History resource={resource} id={known.payment_no} createdAt={known.created_at} />
            </div>
          </div>
        </>
      )}
    </RecordPage>
  );
}

type Reported = Data<'POST /api/admin/payments/{payment_no}/query'>;

/** What the channel says, each line with what is recorded here where that differs. */
function Answer({ payment, answer, at }: { payment: Payment; answer: Reported; at: string }) {
  const lines: [string, string, string][] = [
    [read(['状态', 'Status']), nameOf(paymentStates, answer.status), nameOf(paymentStates, payment.status)],
    [read(['金额', 'Amount']), showAmount(answer.amount), showAmount(payment.amount)],
    [read(['第三方单号', 'Third-party number']), answer.third_party_no ?? '–', payment.third_party_no ?? '–'],
    [
      read(['支付时间', 'Paid']),
      answer.pay_time ? showTime(answer.pay_time) : '–',
      payment.pay_time ? showTime(payment.pay_time) : '–',
    ],
  ];
  const isEqual = lines.every(([, reported, known]) => reported === known);
  return (
    <section className="panel" aria-label={t.answer} role="status">
      <h2>
        {t.answer} <Time at={at} />
      </h2>
      <dl className="facts">
        {lines.map(([name, reported, known]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              {reported} {reported !== known && <Tag tone="red">{t.differs(known)}</Tag>}
            </dd>
          </div>
        ))}
        <div>
          <dt>{t.tradeState}</dt>
          <dd className="cell-code">{answer.trade_state}</dd>
        </div>
      </dl>
      {isEqual && <span className="soft">{t.agrees}</span>}
    </section>
  );
}

/** An open drawer stays when the payment is paid meanwhile. */
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
      {payment.status === 'pending' && (
        <Button type="primary" icon={<SendOutlined />} onClick={open}>
          {t.place}
        </Button>
      )}
      <Drawer
        open={isOpen}
        title={payment.payment_no}
        size={420}
        onClose={() => setOpen(false)}
        afterOpenChange={(isShown) => !isShown && keepFocus()}
      >
        {place.isPending && <Skeleton active />}
        {place.error && <Problem error={place.error} onRetry={() => place.mutate()} />}
        {place.data && <GatewayAnswer paymentNo={payment.payment_no} gateway={place.data.gateway ?? {}} />}
      </Drawer>
    </>
  );
}
