// /dashboard: current figures, today's and those of the last months.
import Joi from 'joi';
import { LRUCache } from 'lru-cache';
import { currentZone, inContext } from '../../../lib/process/context.js';
import { defaultLanguage } from '../../../lib/values/language.js';
import { clamped } from '../../../lib/input/schema.js';
import {
  dailySales,
  dashboardCount,
  monthlySales,
  paymentsByChannel,
  recentActivities,
  userAccessSource,
  weeklyUserActivity,
  type Activity,
} from '../../../models/figures/dashboard.js';
import { paymentStatuses } from '../../../models/trade/tables.js';
import { sendEvents } from '../../http/event-stream.js';
import { shownTitle } from '../../declare/operation-log.js';
import {
  amount,
  date,
  enabled,
  integer,
  listOf,
  month,
  oneOf,
  record,
  resource,
  text,
  timestamp,
} from '../../declare/response.js';
import { can, route } from '../../declare/route.js';

const counts = {
  admin_count: integer().description('Number of administrators').example(12),
  role_count: integer().description('Number of roles').example(4),
  menu_count: integer().description('Number of menus').example(30),
  login_count_today: integer().description('Sign-ins today').example(9),
  operation_count_today: integer().description('Operations today').example(57),
  online_admin_count: integer()
    .description('Administrators who were active in the last 15 minutes')
    .example(3),
  order_count_today: integer().description('Orders placed today').example(42),
  paid_amount_today: amount().description('Amount paid today').example(3180.6),
  operation_count_yesterday: integer().description('Operations of the whole previous day').example(61),
  order_count_yesterday: integer().description('Orders placed on the previous day').example(39),
  paid_amount_yesterday: amount().description('Amount paid on the previous day').example(2954.1),
  refunded_amount_today: amount().description('Amount refunded today, whenever it was paid').example(25.5),
  refunded_amount_yesterday: amount().description('Amount refunded on the previous day').example(0),
};

const count = resource('DashboardCounts', {
  ...counts,
  recent_logins: listOf(
    record({ id: integer(), username: text(), ip: text(), status: enabled(), created_at: timestamp() }),
  ).description('The ten latest sign-ins'),
  recent_operations: listOf(
    record({ id: integer(), username: text(), module: text(), action: text(), created_at: timestamp() }),
  ).description('The ten latest operations'),
});

const sales = {
  orders: integer().description('Number of paid orders').example(230),
  amount: amount().description('Sum of their amounts').example(12_480.5),
};

const access = can('dashboard.show', '查看仪表盘', 'Watch the dashboard');

// Operation titles are in the language of each request.
const titled = (activities: Activity[]): Activity[] =>
  activities.map((activity) => ({ ...activity, action: shownTitle(activity.action) }));

async function readSnapshot(zone: string) {
  return inContext({ traceId: '', language: defaultLanguage, zone: zone || undefined }, async () => {
    const [counts, sources, weekly, monthly, daily, byChannel, activities] = await Promise.all([
      dashboardCount(),
      userAccessSource(),
      weeklyUserActivity(),
      monthlySales(),
      dailySales(),
      paymentsByChannel(),
      recentActivities(),
    ]);
    return {
      count: counts,
      user_access_source: sources,
      weekly_user_activity: weekly,
      monthly_sales: monthly,
      daily_sales: daily,
      payments_by_channel: byChannel,
      recent_activities: activities,
    };
  });
}

// Shared by all streams of a zone, which ask every two seconds at most.
const snapshots = new LRUCache<string, Awaited<ReturnType<typeof readSnapshot>>>({
  max: 100,
  ttl: 1800,
  fetchMethod: readSnapshot,
});

export const routes = [
  route('GET', '/dashboard/count', {
    name: 'showDashboardCounts',
    summary: 'Get current and daily counts, with the latest sign-ins and operations',
    access,
    response: count,
    handle: () => dashboardCount(),
  }),
  route('GET', '/dashboard/user-access-source', {
    name: 'showAccessSources',
    summary: 'Get sign-ins of the last thirty days by kind of device',
    access,
    response: listOf(
      record({
        name: text().description('Kind of device: desktop, mobile, tablet or other').example('desktop'),
        value: integer().description('Number of sign-ins').example(31),
      }),
    ),
    handle: () => userAccessSource(),
  }),
  route('GET', '/dashboard/weekly-user-activity', {
    name: 'showWeeklyActivity',
    summary: 'Get sign-ins of the last seven days, oldest first',
    access,
    response: listOf(
      record({
        date: date().description('The day').example('2026-11-22'),
        visits: integer().description('Number of sign-ins').example(17),
        users: integer().description('Number of administrators who signed in').example(5),
      }),
    ),
    handle: () => weeklyUserActivity(),
  }),
  route('GET', '/dashboard/monthly-sales', {
    name: 'showMonthlySales',
    summary: 'Get paid orders of the last twelve months, oldest first',
    access,
    response: listOf(record({ month: month().description('The month').example('2026-11'), ...sales })),
    handle: () => monthlySales(),
  }),
  route('GET', '/dashboard/daily-sales', {
    name: 'showDailySales',
    summary: 'Get paid orders of the last thirty days, oldest first',
    access,
    response: listOf(record({ date: date().description('The day').example('2026-11-22'), ...sales })),
    handle: () => dailySales(),
  }),
  route('GET', '/dashboard/payments-by-channel', {
    name: 'showPaymentsByChannel',
    summary: 'Get payments of the last thirty days by channel and state',
    description: 'Each state of every channel that has payments, channels by name.',
    access,
    response: listOf(
      record({
        type: text().description('Type of the payment channel').example('mock'),
        status: oneOf(...paymentStatuses).description('State of the payments'),
        payments: integer().description('Number of payments').example(17),
        amount: amount().description('Sum of their amounts').example(3180.6),
      }),
    ),
    handle: () => paymentsByChannel(),
  }),
  route('GET', '/dashboard/recent-activities', {
    name: 'listRecentActivities',
    summary: 'List the last ten operations',
    access,
    response: listOf(
      record({
        id: integer(),
        user: text().description('Username of the administrator').example('zhang.wei'),
        action: text()
          .description('Title of the operation, in the language of the request')
          .example('创建订单'),
        status: oneOf('success', 'failure').description('Outcome of the operation'),
        created_at: timestamp().description('When the operation began').example('2026-11-22T08:30:00.000Z'),
      }),
    ),
    handle: async () => titled(await recentActivities()),
  }),
  route('GET', '/dashboard/stream', {
    name: 'streamDashboard',
    summary: 'Stream all figures as server-sent events',
    description: 'Events `connected`, then `dashboard_data` every `interval` seconds.',
    access,
    reply: 'event-stream',
    query: Joi.object<{ interval: number }, true>({
      interval: clamped({ fallback: 5, min: 2, max: 60 })
        .description('Seconds between two events, 2 to 60')
        .example(5),
    }),
    handle({ admin, query }, ctx) {
      const intervalMs = query.interval * 1000;
      const zone = currentZone() ?? '';
      // Slightly less than the interval, so that drifting timers still share a snapshot.
      sendEvents(ctx, admin, {
        type: 'dashboard_data',
        intervalMs,
        read: async () => {
          const shared = await snapshots.forceFetch(zone);
          return { ...shared, recent_activities: titled(shared.recent_activities) };
        },
      });
      return Promise.resolve();
    },
  }),
];
