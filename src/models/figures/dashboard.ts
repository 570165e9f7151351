// The dashboard's figures. Counts and sums are kept and carried on (models/tables/totals.ts), so that no call reads a table.
import { currentZone } from '../../lib/context.js';
import { now } from '../../lib/clock.js';
import { reports, type Statement } from '../../lib/database/db.js';
import { Where } from '../../lib/input/list-query.js';
import { Money } from '../../lib/money.js';
import { periodOf } from '../../lib/numbers.js';
import { daysBack, monthsBack, type Span } from '../../lib/time.js';
import { adminTotals } from '../access/admin.js';
import { countOnline } from '../access/online-admin.js';
import { logTotals, type LogTable } from '../logs/log.js';
import { addTo, type Group, type Groups } from '../tables/group.js';
import type { Scope } from '../tables/versions.js';
import { orderSales, orderTotals, ordersWhere } from '../trade/order.js';
import { paymentSums } from '../trade/payment.js';
import { methodTypes } from '../trade/payment-method.js';
import { paymentStatuses, type PaymentStatus } from '../trade/tables.js';

/** What the figures follow. */
export const dashboardScopes = [
  'identity',
  'login_logs',
  'operation_logs',
  'orders',
  'payments',
] as const satisfies Scope[];

/** The marks of `dashboardScopes`, in their order, as read at the start of a request; none means to look. */
export type DashboardMarks = readonly (string | undefined)[];

export interface DashboardCount {
  admin_count: number;
  role_count: number;
  menu_count: number;
  login_count_today: number;
  operation_count_today: number;
  online_admin_count: number;
  order_count_today: number;
  paid_amount_today: Money;
  operation_count_yesterday: number;
  order_count_yesterday: number;
  paid_amount_yesterday: Money;
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

/** Counts of now, of today and of the whole day before; days are those of the request zone. */
export async function dashboardCount(marks: DashboardMarks): Promise<DashboardCount> {
  const [admins, , operations, orders] = marks;
  const days = daysBack(2, now(), currentZone()) as [Span, Span];
  const [{ start }] = days;
  const logged = { where: loggedSince(start), by: spanOf('l.created_at', days) };
  const made = { where: ordersWhere({ start_time: start }), by: spanOf('o.created_at', days) };
  const [[counts], admin_count, week, loggedOn, madeOn, sales] = await Promise.all([
    reports.select<{ role_count: number; menu_count: number }>(
      'SELECT (SELECT COUNT(*) FROM roles) AS role_count, (SELECT COUNT(*) FROM menus) AS menu_count',
    ),
    adminTotals.count(new Where(), admins),
    weeklyUserActivity(marks),
    logTotals.operation_logs.groups(logged, operations),
    orderTotals.groups(made, orders),
    dailySales(marks),
  ]);
  return {
    admin_count,
    role_count: counts?.role_count ?? 0,
    menu_count: counts?.menu_count ?? 0,
    login_count_today: week.at(-1)?.visits ?? 0,
    operation_count_today: loggedOn.get('1')?.rows ?? 0,
    online_admin_count: await countOnline(),
    order_count_today: madeOn.get('1')?.rows ?? 0,
    paid_amount_today: sales.at(-1)?.amount ?? nothing,
    operation_count_yesterday: loggedOn.get('0')?.rows ?? 0,
    order_count_yesterday: madeOn.get('0')?.rows ?? 0,
    paid_amount_yesterday: sales.at(-2)?.amount ?? nothing,
    recent_logins: await latest('login_logs', 'id, username, ip, status, created_at'),
    recent_operations: await latest('operation_logs', 'id, username, module, action, created_at'),
  };
}

/** Successful sign-ins of 30 days of the request zone, the present one included, by kind of device. */
export async function userAccessSource(marks: DashboardMarks): Promise<{ name: string; value: number }[]> {
  const [{ start }] = daysBack(30, now(), currentZone()) as [Span];
  const by = { sql: 'l.device', values: [] };
  const counted = await logTotals.login_logs.groups({ where: signedInSince(start), by }, marks[1]);
  return ['desktop', 'mobile', 'tablet', 'other'].map((name) => ({
    name,
    value: counted.get(name)?.rows ?? 0,
  }));
}

/** Sign-ins and different administrators of the last seven days of the request zone, oldest first. */
export async function weeklyUserActivity(
  marks: DashboardMarks,
): Promise<{ date: string; visits: number; users: number }[]> {
  const days = daysBack(7, now(), currentZone()) as [Span, ...Span[]];
  const day = spanOf('l.created_at', days);
  const by = { sql: `CONCAT(${day.sql}, ' ', l.admin_id)`, values: day.values };
  const where = signedInSince(days[0].start).and('l.admin_id IS NOT NULL');
  const figures = days.map(({ label }) => ({ date: label, visits: 0, users: 0 }));
  for (const [name, { rows }] of await logTotals.login_logs.groups({ where, by }, marks[1])) {
    const figure = figures[Number(name.split(' ')[0])];
    if (!figure || rows <= 0) continue;
    figure.visits += rows;
    figure.users++;
  }
  return figures;
}

/** Paid orders of the last twelve months of the request zone, oldest first. */
export async function monthlySales(
  marks: DashboardMarks,
): Promise<{ month: string; orders: number; amount: Money }[]> {
  const months = monthsBack(12, now(), currentZone()) as [Span, ...Span[]];
  return (await salesIn(months, marks)).map(({ label, ...sales }) => ({ month: label, ...sales }));
}

/** Paid orders of thirty days of the request zone, the present one included, oldest first. */
export async function dailySales(
  marks: DashboardMarks,
): Promise<{ date: string; orders: number; amount: Money }[]> {
  const days = daysBack(30, now(), currentZone()) as [Span, ...Span[]];
  return (await salesIn(days, marks)).map(({ label, ...sales }) => ({ date: label, ...sales }));
}

async function salesIn(
  spans: readonly [Span, ...Span[]],
  marks: DashboardMarks,
): Promise<{ label: string; orders: number; amount: Money }[]> {
  const by = spanOf('o.paid_at', spans);
  const sales = await orderSales.groups({ where: paidSince(spans[0].start), by, amount: 'amount' }, marks[3]);
  return spans.map(({ label }, index) => {
    const { rows, amount }: Group = sales.get(String(index)) ?? none;
    return { label, orders: rows, amount };
  });
}

export interface ChannelState {
  type: string;
  status: PaymentStatus;
  payments: number;
  amount: Money;
}

/** Payments by channel and state: those created on the last thirty days, as the request zone has them; every state of each channel that has payments. */
export async function paymentsByChannel(marks: DashboardMarks): Promise<ChannelState[]> {
  const [{ start }] = daysBack(30, now(), currentZone()) as [Span];
  const where = new Where().and('p.created_at >= ? AND p.period >= ?', start, periodOf(start));
  const by = { sql: `CONCAT(p.payment_method_id, ' ', p.status)`, values: [] };
  const groups = await paymentSums.groups({ where, by, amount: 'amount' }, marks[4]);
  // Afterwards: a method that is new to the groups is among them then.
  const types = await methodTypes();
  const sums: Groups = new Map();
  for (const [name, group] of groups) {
    const [method, status] = name.split(' ') as [string, string];
    if (group.rows > 0) addTo(sums, `${types.get(Number(method))} ${status}`, group);
  }
  const channels = [...new Set([...sums.keys()].map((name) => name.split(' ')[0] as string))].sort();
  return channels.flatMap((type) =>
    paymentStatuses.map((status) => {
      const { rows, amount } = sums.get(`${type} ${status}`) ?? none;
      return { type, status, payments: rows, amount };
    }),
  );
}

/** The last ten operations. */
export function recentActivities(): Promise<Activity[]> {
  const outcome = `IF(status < 400, 'success', 'failure') AS status`;
  return latest('operation_logs', `id, username AS user, title AS action, ${outcome}, created_at`);
}

// By their ids, which grow with time: sorted by created_at and id the server would read the whole log.
const latest = <T extends object>(log: LogTable, columns: string): Promise<T[]> =>
  reports.select<T>(`SELECT ${columns} FROM ${log} ORDER BY id DESC LIMIT 10`);

const nothing = new Money(0n);

const none: Group = { rows: 0, amount: nothing };

const loggedSince = (start: Date): Where =>
  new Where().and('l.created_at >= ? AND l.period >= ?', start, periodOf(start));

const signedInSince = (start: Date): Where => loggedSince(start).and('l.status = 1');

const paidSince = (start: Date): Where => new Where().and(`o.status = 'paid' AND o.paid_at >= ?`, start);

// The number of the span a time lies in. Zones change their offset, so the spans' starts are computed, not added up.
function spanOf(column: string, spans: readonly Span[]): Statement {
  const later = spans.slice(1);
  const cases = later.map((_, index) => `WHEN ${column} < ? THEN ${index}`).join(' ');
  return { sql: `CASE ${cases} ELSE ${later.length} END`, values: later.map(({ start }) => start) };
}
