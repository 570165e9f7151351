// One customer: balance, orders and balance history.
import { useQuery } from '@tanstack/react-query';
import { Empty, Skeleton } from 'antd';
import { Link, useNavigate } from 'react-router';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { ActionButtons } from '../parts/actions.tsx';
import { Facts } from '../parts/facts.tsx';
import { showAmount } from '../parts/money.ts';
import { RowPage } from '../parts/page.tsx';
import { Problem } from '../parts/problem.tsx';
import { useMay } from '../parts/profile.ts';
import type { Resource } from '../parts/resource.ts';
import { Badge, enabled } from '../parts/states.tsx';
import { Timeline } from '../parts/timeline.tsx';
import { balanceTypes, orderStates } from './states.ts';

const t = texts({
  'zh-CN': {
    orders: '最近的订单',
    balance: '余额变动',
    noOrders: '还没有订单',
    noChanges: '余额还没有变动',
    all: '全部',
    after: '余额',
  },
  'en-US': {
    orders: 'Latest orders',
    balance: 'Balance changes',
    noOrders: 'No orders yet',
    noChanges: 'The balance has not changed yet',
    all: 'All',
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
          <ActionButtons
            resource={resource}
            row={user}
            onDone={({ route }) => route.startsWith('DELETE') && void navigate('/trade/users')}
          />
        )
      }
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!user && !error && <Skeleton active />}
      {user && (
        <div className="two">
          <div className="stack">
            <section className="panel">
              <Facts resource={resource} row={user} />
            </section>
            {may('GET /api/admin/orders') && <Orders userId={user.id} />}
          </div>
          {may('GET /api/admin/user-balance-logs') && <Balance userId={user.id} />}
        </div>
      )}
    </RowPage>
  );
}

function Orders({ userId }: { userId: number }) {
  const { data, error } = useQuery({
    queryKey: ['orders', 'list', { user_id: userId }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/orders', { query: { user_id: userId, page_size: shown }, signal }),
    meta: { scopes: ['orders'] },
  });
  return (
    <section className="panel">
      <h2>{t.orders}</h2>
      {error && <Problem error={error} />}
      {data?.list.length === 0 && <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.noOrders} />}
      <ul className="plain-list">
        {data?.list.map((order) => (
          <li key={order.order_no}>
            <Link to={`/trade/orders/${order.order_no}`} className="cell-code">
              {order.order_no}
            </Link>
            <span className="cell-figure">{showAmount(order.amount)}</span>
            <Badge states={orderStates} value={order.status} />
          </li>
        ))}
      </ul>
      {(data?.total ?? 0) > shown && <Link to={`/trade/orders?user_id=${userId}`}>{t.all}</Link>}
    </section>
  );
}

function Balance({ userId }: { userId: number }) {
  const { data, error } = useQuery({
    queryKey: ['user-balance-logs', 'list', { user_id: userId }],
    queryFn: ({ signal }) =>
      call('GET /api/admin/user-balance-logs', { query: { user_id: userId, page_size: shown }, signal }),
    meta: { scopes: ['user_balance_logs'] },
  });
  return (
    <section className="panel">
      <h2>{t.balance}</h2>
      {error && <Problem error={error} />}
      {data?.list.length === 0 && <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.noChanges} />}
      <Timeline
        points={(data?.list ?? []).map((change) => ({
          key: String(change.id),
          at: change.created_at,
          tone: balanceTypes[change.type][2],
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
    </section>
  );
}
