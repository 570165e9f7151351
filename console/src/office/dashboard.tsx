// Live figures of the day.
import { useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { Empty, Skeleton } from 'antd';
import { Link } from 'react-router';
import { call, type Data } from '../contract/api.ts';
import { useSettings } from '../contract/settings.ts';
import { texts } from '../contract/texts.ts';
import { periodBounds } from '../parts/list/periods.ts';
import { Time } from '../parts/show/cells.tsx';
import { showAmount, showCount } from '../parts/show/money.ts';
import { PageLink } from '../parts/show/page-link.tsx';
import { Plot, type Drawing } from '../parts/show/plot.tsx';
import { channels as channelNames, paymentStates } from '../parts/show/trade-states.ts';
import { nameOf, states, toneOf } from '../parts/show/states.tsx';
import { failureOf, Problem } from '../parts/show/problem.tsx';
import { useMay } from '../parts/show/profile.ts';
import { useStream } from '../parts/show/stream.ts';
import { useTitle } from '../parts/show/use-title.ts';

const t = texts({
  title: ['仪表盘', 'Dashboard'],
  paid: ['今日支付金额', 'Paid today'],
  refunded: ['今日退款金额', 'Refunded today'],
  orders: ['今日订单', 'Orders today'],
  online: ['在线管理员', 'Online administrators'],
  operations: ['今日操作', 'Operations today'],
  attention: ['需要处理的支付', 'Needs attention'],
  doubts: ['需要处理的退款', 'Refunds that need attention'],
  approvals: ['待审批退款', 'Refunds awaiting approval'],
  monthly: ['每月销售额', 'Sales by month'],
  monthlyOrders: ['每月已支付订单', 'Paid orders by month'],
  weekly: ['登录（7 天）', 'Sign-ins, last 7 days'],
  devices: ['登录设备（30 天）', 'Devices, last 30 days'],
  recent: ['最近操作', 'Latest operations'],
  daily: ['每日销售额（30 天）', 'Sales by day (30 days)'],
  channels: ['支付：渠道与状态（30 天）', 'Payments by channel and state (30 days)'],
  yesterday: [(figure: string) => `昨日 ${figure}`, (figure) => `Yesterday ${figure}`],
  amount: ['金额', 'Amount'],
  count: ['数量', 'Count'],
  visits: ['登录次数', 'Sign-ins'],
  people: ['管理员', 'Administrators'],
  none: ['还没有操作', 'No operations yet'],
  begin: ['还没有数据。先新建一个用户和一个订单', 'Nothing here yet. Start with a user and an order'],
  create: ['新建订单', 'New order'],
});

const deviceKinds = states({
  desktop: ['电脑', 'Desktop', 'grey'],
  mobile: ['手机', 'Mobile', 'grey'],
  tablet: ['平板', 'Tablet', 'grey'],
  other: ['其他', 'Other', 'grey'],
});

/** What one event of the stream brings, and at first a call each. */
const parts = {
  count: 'GET /api/admin/dashboard/count',
  user_access_source: 'GET /api/admin/dashboard/user-access-source',
  weekly_user_activity: 'GET /api/admin/dashboard/weekly-user-activity',
  monthly_sales: 'GET /api/admin/dashboard/monthly-sales',
  daily_sales: 'GET /api/admin/dashboard/daily-sales',
  payments_by_channel: 'GET /api/admin/dashboard/payments-by-channel',
  recent_activities: 'GET /api/admin/dashboard/recent-activities',
} as const;

type Snapshot = { [P in keyof typeof parts]: Data<(typeof parts)[P]> };

async function firstSnapshot(signal: AbortSignal): Promise<Snapshot> {
  const calls = Object.entries(parts).map(async ([name, route]) => [
    name,
    await call(route, { signal, zoned: true }),
  ]);
  return Object.fromEntries(await Promise.all(calls)) as Snapshot;
}

const stateNames = ['paid', 'pending', 'failed', 'cancelled'] as const;

const key = ['dashboard', 'snapshot'];

export default function Dashboard() {
  const client = useQueryClient();
  useTitle(t.title);
  const { data, error, refetch } = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => firstSnapshot(signal),
  });
  const { zone } = useSettings();
  useStream<Snapshot>(
    'GET /api/admin/dashboard/stream',
    'dashboard_data',
    { interval: '5', timezone: zone },
    (fresh) => client.setQueryData(key, fresh),
  );
  // A card that comes later would move those that somebody is about to press.
  const tasks = useTasks();
  const isWaiting = tasks.some(({ isLoading, isFetched }) => isLoading && !isFetched);
  if (error && !data) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data || isWaiting) return <Skeleton active />;
  return <Figures data={data} tasks={tasks} />;
}

function Figures({ data, tasks }: { data: Snapshot; tasks: Task[] }) {
  const may = useMay();
  const { count, weekly_user_activity: week, user_access_source: devices } = data;
  const months = fromFirstSale(data.monthly_sales);
  const isEmpty = months.every(({ orders }) => orders === 0) && count.order_count_today === 0;
  const names = () => months.map(({ month }) => month);
  const { daily_sales: days } = data;
  const today = new URLSearchParams({ ...periodBounds('today'), period: 'today' }).toString();
  return (
    <section className="screen" data-screen="dashboard">
      <h1>{t.title}</h1>
      {tasks.map((one) => (
        <Missing key={one.name} task={one} />
      ))}
      <div className="cards six">
        {tasks.map((one) => (
          <TaskCard key={one.name} task={one} />
        ))}
        <Card
          label={t.paid}
          value={showAmount(count.paid_amount_today)}
          before={showAmount(count.paid_amount_yesterday)}
          to={`/trade/orders?status=paid&time_field=paid_at&${today}`}
        />
        <Card
          label={t.refunded}
          value={showAmount(count.refunded_amount_today)}
          before={showAmount(count.refunded_amount_yesterday)}
          to={`/trade/refunds?status=succeeded&time_field=finished_at&${today}`}
        />
        <Card
          label={t.orders}
          value={showCount(count.order_count_today)}
          before={showCount(count.order_count_yesterday)}
          to={`/trade/orders?${today}`}
        />
        <Card label={t.online} value={showCount(count.online_admin_count)} to="/access/online-admins" />
        <Card
          label={t.operations}
          value={showCount(count.operation_count_today)}
          before={showCount(count.operation_count_yesterday)}
          to={`/logs/operation-logs?${today}`}
        />
      </div>
      {isEmpty && (
        <section className="panel">
          <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.begin}>
            {may('POST /api/admin/orders') && <Link to="/trade/orders/new">{t.create}</Link>}
          </Empty>
        </section>
      )}
      <div className="plots">
        <Plot
          bars
          unit="¥"
          title={t.daily}
          draw={() => ({ labels: days.map(({ date }) => date.slice(5)), series: [amounts(days)] })}
        />
        <Plot bars unit="¥" title={t.monthly} draw={() => ({ labels: names(), series: [amounts(months)] })} />
        <Plot bars stacked kinds title={t.channels} draw={() => byChannel(data.payments_by_channel)} />
        <Plot
          bars
          title={t.monthlyOrders}
          draw={() => ({
            labels: names(),
            series: [{ label: t.count, values: months.map(({ orders }) => orders) }],
          })}
        />
        <Plot
          title={t.weekly}
          draw={() => ({
            labels: week.map(({ date }) => date.slice(5)),
            series: [
              { label: t.visits, values: week.map(({ visits }) => visits) },
              { label: t.people, values: week.map(({ users }) => users) },
            ],
          })}
        />
        <Plot
          bars
          kinds
          title={t.devices}
          draw={() => ({
            labels: devices.map(({ name }) => nameOf(deviceKinds, name)),
            series: [{ label: t.visits, values: devices.map(({ value }) => value) }],
          })}
        />
      </div>
      <Recent activities={data.recent_activities} />
    </section>
  );
}

function byChannel(payments: Snapshot['payments_by_channel']): Drawing {
  const channels = [...new Set(payments.map(({ type }) => type))];
  return {
    labels: channels.map((type) => nameOf(channelNames, type)),
    series: stateNames.map((state) => ({
      label: nameOf(paymentStates, state),
      tone: toneOf(paymentStates, state),
      values: channels.map(
        (type) => payments.find((one) => one.type === type && one.status === state)?.payments ?? 0,
      ),
    })),
  };
}

const amounts = (spans: readonly { amount: string }[]) => ({
  label: t.amount,
  values: spans.map(({ amount }) => Number(amount)),
  texts: spans.map(({ amount }) => showAmount(amount)),
});

interface CardProps {
  label: string;
  value: string;
  /** The same figure of yesterday. */
  before?: string;
  to: string;
  isUrgent?: boolean;
}

function Card({ label, value, before, to, isUrgent }: CardProps) {
  return (
    <PageLink to={to} className={isUrgent ? 'panel card urgent' : 'panel card'}>
      <span className="card-label">{label}</span>
      <span className={value.length > 9 ? 'figure long' : 'figure'}>{value}</span>
      {before !== undefined && <span className="soft">{t.yesterday(before)}</span>}
    </PageLink>
  );
}

/** What waits for people, by its name in the texts. */
const declared = [
  { name: 'attention', of: 'payments', query: { needs_attention: 'true' } },
  { name: 'doubts', of: 'refunds', query: { needs_attention: 'true' } },
  { name: 'approvals', of: 'refunds', query: { status: 'waiting' } },
] as const;

function useTasks() {
  const may = useMay();
  const counts = useQueries({
    queries: declared.map(({ of, query }) => ({
      queryKey: [of, 'count', query],
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        call(`GET /api/admin/${of}`, { query: { ...query, page_size: '1' }, signal }),
      meta: { scopes: [of] },
      enabled: may(`GET /api/admin/${of}`),
    })),
  });
  return declared.map((task, at) => ({ ...task, ...counts[at]! }));
}

type Task = ReturnType<typeof useTasks>[number];

/** In place of a card whose figure cannot be had. */
function Missing({ task: { name, data, error, refetch } }: { task: Task }) {
  if (data || !error || failureOf(error).code === 'no_permission') return null;
  return (
    <section className="panel">
      <h2>{t[name]}</h2>
      <Problem error={error} onRetry={() => void refetch()} />
    </section>
  );
}

/** Those of refunds are shown while there are any. */
function TaskCard({ task: { name, of, query, data } }: { task: Task }) {
  if (!data || (data.total === 0 && of === 'refunds')) return null;
  const to = `/trade/${of}?${new URLSearchParams(query).toString()}`;
  return <Card label={t[name]} value={showCount(data.total)} isUrgent={data.total > 0} to={to} />;
}

/** Without the months before the service was used. */
function fromFirstSale<T extends { orders: number }>(months: readonly T[]): readonly T[] {
  const first = months.findIndex(({ orders }) => orders > 0);
  return first < 0 ? months : months.slice(Math.min(first, Math.max(0, months.length - 6)));
}

const newestFirst = (activities: Snapshot['recent_activities']) =>
  [...activities].sort((one, other) => Date.parse(other.created_at) - Date.parse(one.created_at));

function Recent({ activities }: { activities: Snapshot['recent_activities'] }) {
  return (
    <section className="panel">
      <h2>{t.recent}</h2>
      {activities.length === 0 && <span className="soft">{t.none}</span>}
      <ul className="plain-list">
        {newestFirst(activities).map(({ id, user, action, created_at }) => (
          <li key={id}>
            <span>
              <strong>{user}</strong> <PageLink to={`/logs/operation-logs/${id}`}>{action}</PageLink>
            </span>
            <span className="soft">
              <Time at={created_at} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
