// One order: its lines, payments and history.
import { CreditCardOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Empty, Skeleton, Table } from 'antd';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { call, type Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { ActionButtons } from '../parts/actions.tsx';
import { Facts } from '../parts/facts.tsx';
import { showAmount } from '../parts/money.ts';
import { RowPage } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { useMay } from '../parts/profile.ts';
import type { Resource } from '../parts/resource.ts';
import { Badge } from '../parts/states.tsx';
import { History } from '../parts/history.tsx';
import { PayDrawer } from './pay.tsx';
import { paymentStates } from '../parts/payment-states.ts';
import { orderStates } from './states.ts';
import { meaningOf } from './verdicts.ts';

const t = texts({
  'zh-CN': {
    ...{
      lines: '商品明细',
      payments: '支付',
      history: '操作记录',
      product: '商品',
      price: '单价',
      quantity: '数量',
      subtotal: '小计',
      sum: '合计',
    },
    ...{ pay: '发起支付', noPayments: '还没有支付记录' },
  },
  'en-US': {
    ...{
      lines: 'Lines',
      payments: 'Payments',
      history: 'History',
      product: 'Product',
      price: 'Price',
      quantity: 'Quantity',
      subtotal: 'Subtotal',
      sum: 'Total',
    },
    ...{ pay: 'Create a payment', noPayments: 'Nobody has tried to pay it yet' },
  },
});

type Order = Data<'GET /api/admin/orders/{id}'>;

export default function OrderPage({ id, resource }: { id: string; resource: Resource }) {
  const may = useMay();
  const navigate = useNavigate();
  const [isPaying, setPaying] = useState(false);
  const {
    data: order,
    error,
    refetch,
  } = useQuery({
    queryKey: ['orders', 'one', id],
    queryFn: ({ signal }) => call('GET /api/admin/orders/{id}', { path: { id }, signal }),
    meta: { scopes: ['orders', 'payments'] },
  });
  const canPay = order?.status === 'pending' && may('POST /api/admin/payments');
  return (
    <RowPage
      list="/trade/orders"
      title={id}
      what={['订单', 'Order']}
      state={order && <Badge states={orderStates} value={order.status} />}
      actions={
        order && (
          <>
            {canPay && (
              <Button type="primary" icon={<CreditCardOutlined />} onClick={() => setPaying(true)}>
                {t.pay}
              </Button>
            )}
            <ActionButtons
              resource={resource}
              row={order}
              onDone={({ route }) => route.startsWith('DELETE') && void navigate('/trade/orders')}
            />
          </>
        )
      }
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!order && !error && <Skeleton active />}
      {order && (
        <div className="two">
          <div className="stack">
            <section className="panel">
              <Facts
                resource={resource}
                row={order}
                only={['user', 'amount', 'created_at', 'paid_at', 'expire_at', 'remark']}
              />
            </section>
            <Lines order={order} />
            {may('GET /api/admin/payments') && <Payments orderNo={order.order_no} />}
          </div>
          {may('GET /api/admin/operation-logs') && (
            <section className="panel">
              <h2>{t.history}</h2>
              <History path={`/api/admin/orders/${order.order_no}`} />
            </section>
          )}
        </div>
      )}
      {isPaying && order && <PayDrawer orderNo={order.order_no} onClose={() => setPaying(false)} />}
    </RowPage>
  );
}

function Lines({ order }: { order: Order }) {
  return (
    <section className="panel">
      <h2>{t.lines}</h2>
      <Table
        size="small"
        rowKey={(line) => order.details.indexOf(line)}
        pagination={false}
        scroll={{ x: 420 }}
        dataSource={order.details}
        columns={[
          { title: t.product, dataIndex: 'product_name' },
          {
            title: t.price,
            dataIndex: 'price',
            align: 'right',
            render: (price: string) => showAmount(price),
          },
          { title: t.quantity, dataIndex: 'quantity', align: 'right' },
          {
            title: t.subtotal,
            dataIndex: 'subtotal',
            align: 'right',
            render: (sum: string) => showAmount(sum),
          },
        ]}
        footer={() => (
          <div className="sum">
            {t.sum} <strong className="cell-figure">{showAmount(order.amount)}</strong>
          </div>
        )}
      />
    </section>
  );
}

function Payments({ orderNo }: { orderNo: string }) {
  const { data, error } = useQuery({
    queryKey: ['payments', 'list', { order_no: orderNo }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/payments', { query: { order_no: orderNo, page_size: 50 }, signal }),
    meta: { scopes: ['orders', 'payments'] },
  });
  return (
    <section className="panel">
      <h2>{t.payments}</h2>
      {error && <Problem error={error} />}
      {data?.list.length === 0 && <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.noPayments} />}
      <ul className="plain-list">
        {data?.list.map((payment) => (
          <li key={payment.payment_no}>
            <Link to={`/trade/payments/${payment.payment_no}`} className="cell-code">
              {payment.payment_no}
            </Link>
            <span>{payment.payment_method?.name}</span>
            <span className="cell-figure">{showAmount(payment.amount)}</span>
            <Badge states={paymentStates} value={payment.status} />
            {payment.fail_reason && <span className="soft">{meaningOf(payment.fail_reason)}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
