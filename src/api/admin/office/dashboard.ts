// /dashboard: current figures, today's and those of the last months.
import Joi from 'joi';
import { currentZone, inContext } from '../../../lib/context.js';
import { defaultLanguage } from '../../../lib/language.js';
import { readMarks } from '../../../lib/redis/marks.js';
import { clamped } from '../../../lib/input/schema.js';
import { singleFlight } from '../../../lib/single-flight.js';
import {
  dailySales,
  dashboardCount,
  dashboardScopes,
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

const count = resource('DashboardCounts', {
  admin_count: integer(),
  role_count: integer(),
  menu_count: integer(),
  login_count_today: integer(),
  operation_count_today: integer(),
  online_admin_count: integer(),
  order_count_today: integer(),
  paid_amount_today: amount(),
  operation_count_yesterday: integer(),
  order_count_yesterday: integer(),
  paid_amount_yesterday: amount(),
  recent_logins: listOf(
    record({ id: integer(), username: text(), ip: text(), status: enabled(), created_at: timestamp() }),
  ),
  recent_operations: listOf(
    record({ id: integer(), username: text(), module: text(), action: text(), created_at: timestamp() }),
  ),
});

const access = can('dashboard.show', '查看仪表盘', 'Watch the dashboard');

// Operation titles are in the language of each request.
const titled = (activities: Activity[]): Activity[] =>
  activities.map((activity) => ({ ...activity, action: shownTitle(activity.action) }));

// One snapshot per zone and process, shared by all streams.
const snapshot = singleFlight((zone) =>
  inContext({ traceId: '', language: defaultLanguage, zone: zone || undefined }, async () => {
    const marks = await readMarks(dashboardScopes);
    const [counts, sources, weekly, monthly, daily, byChannel, activities] = await Promise.all([
      dashboardCount(marks),
      userAccessSource(marks),
      weeklyUserActivity(marks),
      monthlySales(marks),
      dailySales(marks),
      paymentsByChannel(marks),
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
  }),
);

export const routes = [
  route({
    method: 'GET',
    path: '/dashboard/count',
    name: 'showDashboardCounts',
    summary: 'Counts of now and of today, with the latest sign-ins and operations',
    access,
    response: count,
    versions: dashboardScopes,
    handle: ({ marks }) => dashboardCount(marks),
  }),
  route({
    method: 'GET',
    path: '/dashboard/user-access-source',
    name: 'showAccessSources',
    summary: 'Sign-ins of 30 days by kind of device',
    access,
    response: listOf(record({ name: text(), value: integer() })),
    versions: dashboardScopes,
    handle: ({ marks }) => userAccessSource(marks),
  }),
  route({
    method: 'GET',
    path: '/dashboard/weekly-user-activity',
    name: 'showWeeklyActivity',
    summary: 'Sign-ins and administrators of the last seven days, oldest first',
    access,
    response: listOf(record({ date: date(), visits: integer(), users: integer() })),
    versions: dashboardScopes,
    handle: ({ marks }) => weeklyUserActivity(marks),
  }),
  route({
    method: 'GET',
    path: '/dashboard/monthly-sales',
    name: 'showMonthlySales',
    summary: 'Paid orders of the last twelve months, oldest first',
    access,
    response: listOf(record({ month: month(), orders: integer(), amount: amount() })),
    versions: dashboardScopes,
    handle: ({ marks }) => monthlySales(marks),
  }),
  route({
    method: 'GET',
    path: '/dashboard/daily-sales',
    name: 'showDailySales',
    summary: 'Paid orders of thirty days, the present one included, oldest first',
    access,
    response: listOf(record({ date: date(), orders: integer(), amount: amount() })),
    versions: dashboardScopes,
    handle: ({ marks }) => dailySales(marks),
  }),
  route({
    method: 'GET',
    path: '/dashboard/payments-by-channel',
    name: 'showPaymentsByChannel',
    summary: 'Payments created within thirty days, by channel and state',
    description: 'Each state of every channel that has payments, channels by name.',
    access,
    response: listOf(
      record({ type: text(), status: oneOf(...paymentStatuses), payments: integer(), amount: amount() }),
    ),
    versions: dashboardScopes,
    handle: ({ marks }) => paymentsByChannel(marks),
  }),
  route({
    method: 'GET',
    path: '/dashboard/recent-activities',
    name: 'listRecentActivities',
    summary: 'The last ten operations',
    access,
    response: listOf(
      record({
        id: integer(),
        user: text(),
        action: text(),
        status: oneOf('success', 'failure'),
        created_at: timestamp(),
      }),
    ),
    handle: async () => titled(await recentActivities()),
  }),
  route({
    method: 'GET',
    path: '/dashboard/stream',
    name: 'streamDashboard',
    limit: 'stream',
    summary: 'All figures as server-sent events',
    description: 'Events `connected`, then `dashboard_data` every `interval` seconds.',
    access,
    ticket: true,
    reply: 'event-stream',
    query: Joi.object<{ interval: number }, true>({
      interval: clamped({ fallback: 5, min: 2, max: 60 }),
    }),
    response: null,
    handle({ admin, query }, ctx) {
      const intervalMs = query.interval * 1000;
      const zone = currentZone() ?? '';
      // Slightly less than the interval, so that drifting timers still share a snapshot.
      sendEvents(ctx, admin, {
        type: 'dashboard_data',
        intervalMs,
        read: async () => {
          const shared = await snapshot(zone, intervalMs * 0.9);
          return { ...shared, recent_activities: titled(shared.recent_activities) };
        },
      });
      return Promise.resolve();
    },
  }),
];
