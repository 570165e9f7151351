// One customer: balance, orders and balance history.
import { texts } from '../contract/texts.ts';
import { RecordPage, useRecord } from '../parts/list/record-page.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { History } from '../parts/show/history.tsx';
import { showAmount } from '../parts/show/money.ts';
import { RecordsPanel } from '../parts/show/records-panel.tsx';
import type { Resource } from '../parts/resource.ts';
import { Badge, toneOf } from '../parts/show/states.tsx';
import { Timeline } from '../parts/show/timeline.tsx';
import { balanceTypes, orderStates } from '../parts/show/trade-states.ts';
import { Latest, paymentRow } from './latest.tsx';

const t = texts({
  orders: ['最近的订单', 'Latest orders'],
  balance: ['余额变动', 'Balance changes'],
  noOrders: ['还没有订单', 'No orders yet'],
  noChanges: ['余额还没有变动', 'The balance has not changed yet'],
  payments: ['最近的支付', 'Latest payments'],
  noPayments: ['还没有支付', 'No payments yet'],
  after: ['余额', 'balance'],
});

const shown = 10;

export default function UserPage({ id, resource }: { id: string; resource: Resource }) {
  const query = useRecord('GET /api/admin/users/{id}', id, ['users', 'user_balance_logs']);
  return (
    <RecordPage resource={resource} id={id} what={['用户', 'User']} query={query}>
      {(user) => (
        <div className="two">
          <div className="stack">
            <section className="panel">
              <Facts resource={resource} row={user} />
            </section>
            <Orders userId={user.id} />
            <Payments userId={user.id} />
          </div>
          <div className="stack">
            <Balance userId={user.id} />
            <History resource={resource} id={String(user.id)} createdAt={user.created_at} />
          </div>
        </div>
      )}
    </RecordPage>
  );
}

function Orders({ userId }: { userId: number }) {
  return (
    <RecordsPanel
      title={t.orders}
      none={t.noOrders}
      room="trade"
      list="GET /api/admin/orders"
      query={{ user_id: userId }}
      scopes={['orders']}
      count={shown}
    >
      {(rows) => (
        <Latest
          rows={rows.map(({ order_no, amount, status, created_at }) => ({
            number: order_no,
            to: `/trade/orders/${order_no}`,
            amount,
            at: created_at,
            state: <Badge states={orderStates} value={status} />,
          }))}
        />
      )}
    </RecordsPanel>
  );
}

function Payments({ userId }: { userId: number }) {
  return (
    <RecordsPanel
      title={t.payments}
      none={t.noPayments}
      room="trade"
      list="GET /api/admin/payments"
      query={{ user_id: userId }}
      scopes={['payments', 'orders']}
      count={shown}
    >
      {(rows) => <Latest rows={rows.map(paymentRow)} />}
    </RecordsPanel>
  );
}

function Balance({ userId }: { userId: number }) {
  return (
    <RecordsPanel
      title={t.balance}
      none={t.noChanges}
      room="trade"
      list="GET /api/admin/user-balance-logs"
      query={{ user_id: userId }}
      scopes={['user_balance_logs']}
      count={shown}
    >
      {(rows) => (
        <Timeline
          points={rows.map((change) => ({
            key: String(change.id),
            at: change.created_at,
            tone: toneOf(balanceTypes, change.type),
            title: (
              <>
                <Badge states={balanceTypes} value={change.type} />{' '}
                <strong className="cell-figure">{showAmount(change.amount)}</strong>{' '}
                <span className="soft">
                  {t.after} {showAmount(change.balance_after)}
                </span>
              </>
            ),
            children: change.description,
          }))}
        />
      )}
    </RecordsPanel>
  );
}
