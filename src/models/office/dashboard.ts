// The dashboard's figures, each from one grouped statement.
import { currentZone } from '../../lib/context.js';
import { now } from '../../lib/clock.js';
import { reports } from '../../lib/db.js';
import { Money } from '../../lib/money.js';
import { daysBack, monthsBack } from '../../lib/time.js';
import { countOnline } from '../access/online-admin.js';

export interface DashboardCount {
  admin_count: number;
  role_count: number;
  menu_count: number;
  login_count_today: number;
  operation_count_today: number;
  online_admin_count: number;
  order_count_today: number;
  paid_amount_today: Money;
  recent_logins: RecentLogin[];
  recent_operations: RecentOperation[];
}

interface RecentLogin {
  id: number;
  username: string;
  ip: string;
  status: number;
  created_at: Date;
}

interface RecentOperation {
  id: number;
  username: string;
  module: string;
  action: string;
  created_at: Date;
}

export interface Activity {
  id: number;
  user: string;
  action: string;
  status: 'success' | 'failure';
  created_at: Date;
}

const recent = 10;

/** Counts of now and of today; "today" is the day of the request zone. */
export async function dashboardCount(): Promise<DashboardCount> {
  const start = daysBack(1, now(), currentZone())[0]?.start as Date;
  const [[counts], online_admin_count, recent_logins, recent_operations] = await Promise.all([
    reports.select<Omit<DashboardCount, 'paid_amount_today'> & { paid_amount_today: string }>(
      `SELECT (SELECT COUNT(*) FROM admins) AS admin_count, (SELECT COUNT(*) FROM roles) AS role_count,
         (SELECT COUNT(*) FROM menus) AS menu_count,
         (SELECT COUNT(*) FROM login_logs WHERE created_at >= ? AND status = 1) AS login_count_today,
         (SELECT COUNT(*) FROM operation_logs WHERE created_at >= ?) AS operation_count_today,
         (SELECT COUNT(*) FROM orders WHERE created_at >= ? AND deleted_at IS NULL) AS order_count_today,
         (SELECT COALESCE(SUM(amount), 0) FROM orders WHERE paid_at >= ? AND status = 'paid') AS paid_amount_today`,
      [start, start, start, start],
    ),
    countOnline(),
    reports.select<RecentLogin>(
      `SELECT id, username, ip, status, created_at FROM login_logs ORDER BY created_at DESC, id DESC LIMIT ${recent}`,
    ),
    reports.select<RecentOperation>(
      `SELECT id, username, module, action, created_at FROM operation_logs ORDER BY created_at DESC, id DESC LIMIT ${recent}`,
    ),
  ]);
  const { paid_amount_today, ...numbers } = counts as NonNullable<typeof counts>;
  return {
    ...numbers,
    online_admin_count,
    paid_amount_today: Money.from(paid_amount_today),
    recent_logins,
    recent_operations,
  };
}

/** Successful sign-ins of 30 days by kind of device. */
export async function userAccessSource(): Promise<{ name: string; value: number }[]> {
  const since = new Date(now().getTime() - 30 * 86_400_000);
  const rows = await reports.select<{ name: string; value: number }>(
    'SELECT device AS name, COUNT(*) AS value FROM login_logs WHERE created_at >= ? AND status = 1 GROUP BY device',
    [since],
  );
  const counted = new Map(rows.map(({ name, value }) => [name, value]));
  return ['desktop', 'mobile', 'tablet', 'other'].map((name) => ({ name, value: counted.get(name) ?? 0 }));
}

/** Sign-ins and different administrators of the last seven days of the request zone, oldest first. */
export async function weeklyUserActivity(): Promise<{ date: string; visits: number; users: number }[]> {
  const days = daysBack(7, now(), currentZone());
  const rows = await reports.select<{ bucket: number; visits: number; users: number }>(
    `SELECT ${bucketSql('created_at', days)} AS bucket, COUNT(*) AS visits, COUNT(DISTINCT admin_id) AS users
     FROM login_logs WHERE created_at >= ? AND status = 1 GROUP BY bucket`,
    [...days.slice(1).map(({ start }) => start), days[0]?.start as Date],
  );
  return days.map(({ label }, index) => {
    const { visits = 0, users = 0 } = rows.find(({ bucket }) => bucket === index) ?? {};
    return { date: label, visits, users };
  });
}

/** Paid orders of the last twelve months of the request zone, oldest first. */
export async function monthlySales(): Promise<{ month: string; orders: number; amount: Money }[]> {
  const months = monthsBack(12, now(), currentZone());
  const rows = await reports.select<{ bucket: number; orders: number; amount: string }>(
    `SELECT ${bucketSql('paid_at', months)} AS bucket, COUNT(*) AS orders, SUM(amount) AS amount
     FROM orders WHERE paid_at >= ? AND status = 'paid' GROUP BY bucket`,
    [...months.slice(1).map(({ start }) => start), months[0]?.start as Date],
  );
  return months.map(({ label }, index) => {
    const row = rows.find(({ bucket }) => bucket === index);
    return { month: label, orders: row?.orders ?? 0, amount: Money.from(row?.amount ?? '0.00') };
  });
}

/** The last ten operations. */
export async function recentActivities(): Promise<Activity[]> {
  return reports.select(
    `SELECT id, username AS user, title AS action, IF(status < 400, 'success', 'failure') AS status, created_at
     FROM operation_logs ORDER BY created_at DESC, id DESC LIMIT ${recent}`,
  );
}

// The number of the span a time lies in. Zones change their offset, so the spans' starts are computed, not added up.
function bucketSql(column: string, spans: { start: Date }[]): string {
  const later = spans.slice(1);
  return `CASE ${later.map((_, index) => `WHEN ${column} < ? THEN ${index}`).join(' ')} ELSE ${later.length} END`;
}
