// One customer: balance, orders and balance history.
import { EditOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Skeleton } from 'antd';
import { useNavigate } from 'react-router';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { ActionButtons } from '../parts/list/actions.tsx';
import { Facts } from '../parts/show/facts.tsx';
import { History } from '../parts/show/history.tsx';
import { LinkButton } from '../parts/show/link-button.tsx';
import { showAmount } from '../parts/show/money.ts';
import { RowPage } from '../parts/show/page.tsx';
import { Problem } from '../parts/show/problem.tsx';
import { useMay } from '../parts/show/profile.ts';
import { RecordsPanel } from '../parts/show/records-panel.tsx';
import type { Resource } from '../parts/resource.ts';
import { Badge, enabled, toneOf } from '../parts/show/states.tsx';
import { Timeline } from '../parts/show/timeline.tsx';
import { balanceTypes, orderStates } from '../parts/show/trade-states.ts';
import { Latest, paymentRow } from './latest.tsx';

const t = texts({
  'zh-CN': {
    orders: '最近的订单',
    balance: '余额变动',
    noOrders: '还没有订单',
    noChanges: '余额还没有变动',
    payments: '最近的支付',
    noPayments: '还没有支付',
    edit: '修改',
    after: '余额',
  },
  'en-US': {
    orders: 'Latest orders',
    balance: 'Balance changes',
    noOrders: 'No orders yet',
    noChanges: 'The balance has not changed yet',
    payments: 'Latest payments',
    noPayments: 'No payments yet',
    edit: 'Edit',
    after: 'balance',
  },
});

const shown = 10;

export default function UserPage({ id, resource }: { id: string; resource: Resource }) {
  const may = useMay();
  const navigate = useNavigate();
  const {
    data: user,
    error,
    refetch,
  } = useQuery({
    queryKey: ['users', 'one', id],
    queryFn: ({ signal }) => call('GET /api/admin/users/{id}', { path: { id }, signal }),
    meta: { scopes: ['users', 'user_balance_logs'] },
  });
  return (
    <RowPage
      list="/trade/users"
      title={user?.username ?? id}
      what={['用户', 'User']}
      state={user && <Badge states={enabled} value={user.status} />}
      actions={
        user && (
          <>
            {may('PUT /api/admin/users/{id}') && (
              <LinkButton to={`/trade/users/${user.id}/edit`} icon={<EditOutlined />}>
                {t.edit}
              </LinkButton>
            )}
            <ActionButtons
              resource={resource}
              row={user}
              onDone={({ route }) => route.startsWith('DELETE') && void navigate('/trade/users')}
            />
          </>
        )
      }
    >
      {error && <Problem error={error} list={resource.spec.title} onRetry={() => void refetch()} />}
      {!user && !error && <Skeleton active />}
      {user && (
        <div className="two">
          <div className="stack">
            <section className="panel">
              <Facts resource={resource} row={user} />
            </section>
            {may('GET /api/admin/orders') && <Orders userId={user.id} />}
            {may('GET /api/admin/payments') && <Payments userId={user.id} />}
          </div>
          <div className="stack">
            {may('GET /api/admin/user-balance-logs') && <Balance userId={user.id} />}
            <History resource={resource} id={String(user.id)} createdAt={user.created_at} />
          </div>
        </div>
      )}
    </RowPage>
  );
}

function Orders({ userId }: { userId: number }) {
  const query = useQuery({
    queryKey: ['orders', 'list', { user_id: userId }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/orders', { query: { user_id: userId, page_size: shown }, signal }),
    meta: { scopes: ['orders'] },
  });
  return (
    <RecordsPanel
      title={t.orders}
      none={t.noOrders}
      query={query}
      total={query.data?.total}
      all={`/trade/orders?user_id=${userId}`}
    >
      <Latest
        rows={query.data?.list.map(({ order_no, amount, status, created_at }) => ({
          number: order_no,
          to: `/trade/orders/${order_no}`,
          amount,
          at: created_at,
          state: <Badge states={orderStates} value={status} />,
        }))}
      />
    </RecordsPanel>
  );
}

function Payments({ userId }: { userId: number }) {
  const query = useQuery({
    queryKey: ['payments', 'list', { user_id: userId }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/payments', { query: { user_id: userId, page_size: shown }, signal }),
    meta: { scopes: ['payments', 'orders'] },
  });
  return (
    <RecordsPanel
      title={t.payments}
      none={t.noPayments}
      query={query}
      total={query.data?.total}
      all={`/trade/payments?user_id=${userId}`}
    >
      <Latest rows={query.data?.list.map(paymentRow)} />
    </RecordsPanel>
  );
}

function Balance({ userId }: { userId: number }) {
  const query = useQuery({
    queryKey: ['user-balance-logs', 'list', { user_id: userId }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/user-balance-logs', { query: { user_id: userId, page_size: shown }, signal }),
    meta: { scopes: ['user_balance_logs'] },
  });
  return (
    <RecordsPanel
      title={t.balance}
      none={t.noChanges}
      query={query}
      total={query.data?.total}
      all={`/trade/user-balance-logs?user_id=${userId}`}
    >
      <Timeline
        points={(query.data?.list ?? []).map((change) => ({
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
    </RecordsPanel>
  );
}
