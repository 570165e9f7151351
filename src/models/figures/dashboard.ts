// The dashboard's figures; slow ones are cached (models/tables/count.ts).
import { currentZone } from '../../lib/process/context.js';
import { now } from '../../lib/values/clock.js';
import { reports, type SqlValue } from '../../lib/database/db.js';
import { Money } from '../../lib/values/money.js';
import { periodOf } from '../../lib/values/numbers.js';
import { daysBack, monthsBack, type CalendarSpan } from '../../lib/values/time.js';
import { countOnline } from '../access/online-admin.js';
import { LoginLog, OperationLog } from '../logs/tables.js';
import { cachedCounts, cachedPastCounts } from '../tables/count.js';
import { columnsOf, computed, selection, type RowOf, type Selection } from '../tables/selection.js';
import { paymentStatuses, type PaymentStatus } from '../trade/tables.js';

const recentLogins = selection(
  columnsOf(LoginLog, 'l', 'id', 'username', 'ip', 'status', 'created_at'),
  'login_logs l',
);

const recentOperations = selection(
  columnsOf(OperationLog, 'l', 'id', 'username', 'module', 'action', 'created_at'),
  'operation_logs l',
);

const log = columnsOf(OperationLog, 'l');
const activity = {
  id: log.id,
  user: log.username,
  action: log.title,
  status: computed<'success' | 'failure'>(`IF(l.status < 400, 'success', 'failure')`),
  created_at: log.created_at,
};
const activities = selection(activity, 'operation_logs l');

export type Activity = RowOf<typeof activity>;

/** Counts of now, of today and of yesterday; days are those of the request zone. */
export async function dashboardCount() {
  const [[counts], week, operations, orders, sales, refunded] = await Promise.all([
    cachedCounts.select<{ admin_count: number; role_count: number; menu_count: number }>(
      `SELECT (SELECT COUNT(*) FROM admins) AS admin_count, (SELECT COUNT(*) FROM roles) AS role_count,
         (SELECT COUNT(*) FROM menus) AS menu_count`,
    ),
    weeklyUserActivity(),
    madeInTwoDays('operation_logs WHERE TRUE'),
    madeInTwoDays('orders WHERE deleted_at IS NULL'),
    dailySales(),
    refundedInTwoDays(),
  ]);
  return {
    admin_count: counts?.admin_count ?? 0,
    role_count: counts?.role_count ?? 0,
    menu_count: counts?.menu_count ?? 0,
    login_count_today: week.at(-1)?.visits ?? 0,
    operation_count_today: operations.today,
    online_admin_count: await countOnline(),
    order_count_today: orders.today,
    paid_amount_today: sales.at(-1)?.amount ?? Money.zero,
    operation_count_yesterday: operations.yesterday,
    order_count_yesterday: orders.yesterday,
    paid_amount_yesterday: sales.at(-2)?.amount ?? Money.zero,
    refunded_amount_today: refunded.today,
    refunded_amount_yesterday: refunded.yesterday,
    recent_logins: await latest(recentLogins),
    recent_operations: await latest(recentOperations),
  };
}

/** @param from a table with months, and a condition */
async function madeInTwoDays(from: string): Promise<{ today: number; yesterday: number }> {
  const [yesterday, today] = daysBack(2, now(), currentZone()) as [CalendarSpan, CalendarSpan];
  const [row] = await cachedCounts.select<{ today: number; yesterday: number }>(
    `SELECT COUNT(IF(created_at >= ?, 1, NULL)) AS today, COUNT(IF(created_at < ?, 1, NULL)) AS yesterday
     FROM ${from} AND created_at >= ? AND period >= ?`,
    [today.start, today.start, yesterday.start, periodOf(yesterday.start)],
  );
  return row ?? { today: 0, yesterday: 0 };
}

/** Money that reached the customers again. */
async function refundedInTwoDays(): Promise<{ today: Money; yesterday: Money }> {
  const [yesterday, today] = daysBack(2, now(), currentZone()) as [CalendarSpan, CalendarSpan];
  const [row] = await cachedCounts.select<{ today: string | null; yesterday: string | null }>(
    `SELECT SUM(IF(finished_at >= ?, amount, 0)) AS today, SUM(IF(finished_at < ?, amount, 0)) AS yesterday
     FROM refunds WHERE status = 'succeeded' AND finished_at >= ?`,
    [today.start, today.start, yesterday.start],
  );
  return { today: Money.from(row?.today ?? '0'), yesterday: Money.from(row?.yesterday ?? '0') };
}

/** Successful sign-ins of 30 days of the request zone, the present one included, by kind of device. */
export async function userAccessSource(): Promise<{ name: string; value: number }[]> {
  const [{ start }] = daysBack(30, now(), currentZone()) as [CalendarSpan];
  const counted = await cachedCounts.select<{ device: string; sign_ins: number }>(
    `SELECT device, COUNT(*) AS sign_ins FROM login_logs
     WHERE status = 1 AND created_at >= ? AND period >= ? GROUP BY device`,
    [start, periodOf(start)],
  );
  return ['desktop', 'mobile', 'tablet', 'other'].map((name) => ({
    name,
    value: counted.find(({ device }) => device === name)?.sign_ins ?? 0,
  }));
}

/** Sign-ins and different administrators of the last seven days of the request zone, oldest first. */
export async function weeklyUserActivity(): Promise<{ date: string; visits: number; users: number }[]> {
  const days = daysBack(7, now(), currentZone()) as [CalendarSpan, ...CalendarSpan[]];
  const { start } = days[0];
  const day = spanOf('created_at', days);
  const found = await cachedCounts.select<{ day: number; visits: number; users: number }>(
    `SELECT ${day.sql} AS day, COUNT(*) AS visits, COUNT(DISTINCT admin_id) AS users FROM login_logs
     WHERE status = 1 AND admin_id IS NOT NULL AND created_at >= ? AND period >= ? GROUP BY day`,
    [...day.values, start, periodOf(start)],
  );
  return days.map(({ label }, index) => {
    const { visits = 0, users = 0 } = found.find((one) => one.day === index) ?? {};
    return { date: label, visits, users };
  });
}

interface Sales {
  orders: number;
  amount: Money;
}

/** Paid orders of the last twelve months of the request zone, oldest first. */
export async function monthlySales(): Promise<({ month: string } & Sales)[]> {
  const months = monthsBack(12, now(), currentZone());
  return Promise.all(
    months.map(async ({ label, start }, index) => {
      const end = months[index + 1]?.start;
      const until = end ? ' AND paid_at < ?' : '';
      const [row] = await (end ? cachedPastCounts : cachedCounts).select<{
        orders: number;
        amount: string | null;
      }>(
        `SELECT COUNT(*) AS orders, SUM(amount) AS amount FROM orders WHERE status = 'paid' AND paid_at >= ?${until}`,
        end ? [start, end] : [start],
      );
      return { month: label, orders: row?.orders ?? 0, amount: Money.from(row?.amount ?? '0') };
    }),
  );
}

/** Paid orders of thirty days of the request zone, the present one included, oldest first. */
export async function dailySales(): Promise<({ date: string } & Sales)[]> {
  const days = daysBack(30, now(), currentZone()) as [CalendarSpan, ...CalendarSpan[]];
  const day = spanOf('paid_at', days);
  const found = await cachedCounts.select<{ day: number; orders: number; amount: string }>(
    `SELECT ${day.sql} AS day, COUNT(*) AS orders, SUM(amount) AS amount FROM orders
     WHERE status = 'paid' AND paid_at >= ? GROUP BY day`,
    [...day.values, days[0].start],
  );
  return days.map(({ label }, index) => {
    const { orders = 0, amount = '0' } = found.find((one) => one.day === index) ?? {};
    return { date: label, orders, amount: Money.from(amount) };
  });
}

interface ChannelState {
  type: string;
  status: PaymentStatus;
  payments: number;
  amount: Money;
}

/**
 * Payments created on the last thirty days of the request zone, by channel and state. Channels without payments are
 * left out; the others have every state.
 */
export async function paymentsByChannel(): Promise<ChannelState[]> {
  const [{ start }] = daysBack(30, now(), currentZone()) as [CalendarSpan];
  // The few methods are joined last: first, the server would look up the payments of each one by one.
  const found = await cachedCounts.select<{ type: string; status: string; payments: number; amount: string }>(
    `SELECT m.type, g.status, CAST(SUM(g.payments) AS UNSIGNED) AS payments, SUM(g.amount) AS amount
     FROM (SELECT payment_method_id, status, COUNT(*) AS payments, SUM(amount) AS amount FROM payments
       WHERE created_at >= ? AND period >= ? GROUP BY payment_method_id, status) g
     JOIN payment_methods m ON m.id = g.payment_method_id GROUP BY m.type, g.status`,
    [start, periodOf(start)],
  );
  const channels = [...new Set(found.map(({ type }) => type))].sort();
  return channels.flatMap((type) =>
    paymentStatuses.map((status) => {
      const { payments = 0, amount = '0' } =
        found.find((one) => one.type === type && one.status === status) ?? {};
      return { type, status, payments, amount: Money.from(amount) };
    }),
  );
}

/** The last ten operations. */
export const recentActivities = (): Promise<Activity[]> => latest(activities);

// By their ids, which grow with time: sorted by created_at and id the server would read the whole log.
const latest = <R extends object>(entries: Selection<R>): Promise<R[]> =>
  entries.rows('ORDER BY l.id DESC LIMIT 10', [], { on: reports });

// The number of the span that contains a time. Offsets of zones change, so each span has its own start.
function spanOf(column: string, spans: readonly CalendarSpan[]): { sql: string; values: SqlValue[] } {
  const later = spans.slice(1);
  const cases = later.map((_, index) => `WHEN ${column} < ? THEN ${index}`).join(' ');
  return { sql: `CASE ${cases} ELSE ${later.length} END`, values: later.map(({ start }) => start) };
}
