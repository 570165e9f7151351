// One order: its lines, payments and history.
import { Table } from 'antd';
import type { Data } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { RecordPage, useRecord } from '../parts/list/record-page.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { showAmount, showCount } from '../parts/show/money.ts';
import { RecordsPanel } from '../parts/show/records-panel.tsx';
import { useMay } from '../parts/show/profile.ts';
import type { Resource } from '../parts/resource.ts';
import { Badge } from '../parts/show/states.tsx';
import { History } from '../parts/show/history.tsx';
import { refundStates } from '../parts/show/trade-states.ts';
import { Latest, paymentRow } from './latest.tsx';
import { Pay } from './pay.tsx';

const t = texts({
  lines: ['商品明细', 'Lines'],
  payments: ['支付', 'Payments'],
  product: ['商品', 'Product'],
  price: ['单价', 'Price'],
  quantity: ['数量', 'Quantity'],
  subtotal: ['小计', 'Subtotal'],
  sum: ['合计', 'Total'],
  noPayments: ['还没有支付记录', 'No payment has been started yet'],
  refunds: ['退款', 'Refunds'],
});

type Order = Data<'GET /api/admin/orders/{id}'>;

export default function OrderPage({ id, resource }: { id: string; resource: Resource }) {
  const may = useMay();
  const query = useRecord('GET /api/admin/orders/{id}', id, ['orders', 'payments', 'refunds']);
  const mayPay = may('POST /api/admin/payments') && may('GET /api/admin/payment-methods');
  return (
    <RecordPage
      resource={resource}
      id={id}
      what={['订单', 'Order']}
      query={query}
      buttons={(order) => <Pay order={order} canStart={mayPay && order.status === 'pending'} />}
    >
      {(order) => (
        <div className="two">
          <div className="stack">
            <section className="panel">
              <Facts
                resource={resource}
                row={order}
                without={[
                  ...['order_no', 'status', 'payment_no', 'updated_at'],
                  order.status === 'cancelled' ? 'paid_at' : 'cancelled_at',
                ]}
              />
            </section>
            <Lines order={order} />
            <Payments orderNo={order.order_no} />
            {order.refunds.length > 0 && <Refunds order={order} />}
          </div>
          <History resource={resource} id={order.order_no} createdAt={order.created_at} />
        </div>
      )}
    </RecordPage>
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
          { title: t.product, dataIndex: 'product_name', className: 'any-text' },
          {
            title: t.price,
            dataIndex: 'price',
            align: 'right',
            render: (price: string) => showAmount(price),
          },
          {
            title: t.quantity,
            dataIndex: 'quantity',
            align: 'right',
            className: 'one-line',
            render: showCount,
          },
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

function Refunds({ order }: { order: Order }) {
  return (
    <section className="panel">
      <h2>{t.refunds}</h2>
      <Latest
        rows={order.refunds.map(({ refund_no, created_at, amount, status }) => ({
          number: refund_no,
          to: `/trade/refunds/${refund_no}`,
          amount,
          at: created_at,
          state: <Badge states={refundStates} value={status} />,
        }))}
      />
    </section>
  );
}

function Payments({ orderNo }: { orderNo: string }) {
  return (
    <RecordsPanel
      title={t.payments}
      none={t.noPayments}
      room="trade"
      list="GET /api/admin/payments"
      query={{ order_no: orderNo }}
      scopes={['orders', 'payments']}
      count={50}
    >
      {(rows) => <Latest rows={rows.map(paymentRow)} />}
    </RecordsPanel>
  );
}
