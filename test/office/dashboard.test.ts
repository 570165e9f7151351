// /dashboard: figures from grouped SQL, "today" in the zone of the request.
import '../support/settings/environment.js';
import test from 'ava';
import moment from 'moment-timezone';
import { change, select } from '../../src/lib/database/db.js';
import { periodOf } from '../../src/lib/values/numbers.js';
import {
  callBack,
  makeAdmin,
  makeMethod,
  makeOrder,
  makePayment,
  mockCallback,
  unique,
} from '../support/factories.js';
import { writeLogins } from '../support/logs.js';
import { paidPayment } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();

const login = (at: Date, device: string, adminId = 1) => ({
  ...{
    log_key: unique('L').toUpperCase().padEnd(26, '0').slice(0, 26),
    admin_id: adminId,
    username: 'admin',
    ip: '127.0.0.1',
  },
  ...{
    user_agent: '',
    browser: '',
    os: '',
    device,
    status: 1,
    outcome: 'login_success',
    created_at: at.toISOString(),
  },
});

test.serial('counts follow the tables', async (t) => {
  const before = (await service.admin.get('/dashboard/count')).data;
  await makeAdmin(service.admin);
  const method = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, method.id, '1000000000000.01');
  await makeOrder(service.admin, '5.00');
  await service.anonymous.post('//api/payment/notify/mock', {
    ...mockCallback(payment),
    sign: mockCallback({ ...payment, amount: 0 }).sign,
  });
  const { createHmac } = await import('node:crypto');
  const sign = createHmac('sha256', 'shared secret')
    .update(`${payment.payment_no}|SUCCESS|1000000000000.01`)
    .digest('hex');
  const paid = await service.anonymous.post('//api/payment/notify/mock', {
    out_trade_no: payment.payment_no,
    trade_status: 'SUCCESS',
    sign,
  });
  t.is(paid.data.status, 'paid');
  const after = await service.admin.get('/dashboard/count');
  t.is(after.data.admin_count, before.admin_count + 1);
  t.is(after.data.order_count_today, before.order_count_today + 2);
  t.regex(after.text, /"paid_amount_today":1000000000000\.01/);
  t.is(after.data.online_admin_count, 1);
  t.true(after.data.recent_operations.length > 0);
});

test.serial('today is the day of the request zone', async (t) => {
  // Of two zones 26 hours apart, at least one has begun a day that the other has not.
  const zones = ['Pacific/Kiritimati', 'Etc/GMT+12', 'UTC'];
  const at = new Date(Date.now() - 13 * 3_600_000);
  await writeLogins([login(at, 'desktop')]);
  for (const zone of zones) {
    const start = moment.tz(zone).startOf('day').toDate();
    const [{ expected } = { expected: -1 }] = await select<{ expected: number }>(
      'SELECT COUNT(*) AS expected FROM login_logs WHERE created_at >= ? AND status = 1',
      [start],
    );
    const counts = await until(async () => {
      const { data } = await service.admin.get(`/dashboard/count?timezone=${encodeURIComponent(zone)}`);
      return data.login_count_today === expected ? data : undefined;
    });
    t.is(counts.login_count_today, expected, zone);
  }
});

test.serial('sign-ins are counted by device and by day', async (t) => {
  await change('DELETE FROM login_logs');
  const noon = moment.utc().startOf('day').subtract(1, 'minute').toDate();
  await writeLogins([login(noon, 'mobile'), login(noon, 'mobile', 2), login(noon, 'tablet')]);
  const sources = (await service.admin.get('/dashboard/user-access-source')).data;
  const byName = Object.fromEntries(
    sources.map(({ name, value }: { name: string; value: number }) => [name, value]),
  );
  t.like(byName, { mobile: 2, tablet: 1, other: 0 });
  const week = (await service.admin.get('/dashboard/weekly-user-activity')).data;
  t.is(week.length, 7);
  t.deepEqual(week[5], { date: moment.utc().subtract(1, 'day').format('YYYY-MM-DD'), visits: 3, users: 2 });
  t.is(week[6].date, moment.utc().format('YYYY-MM-DD'));
});

test.serial('sales are summed exactly by month of payment', async (t) => {
  const month = moment.utc().subtract(2, 'months').startOf('month').add(10, 'days');
  t.is((await service.admin.get('/dashboard/monthly-sales')).data[9].orders, 0);
  const [{ id: userId } = { id: 0 }] = await select<{ id: number }>('SELECT MIN(id) AS id FROM users');
  for (const [index, amount] of ['0.10', '0.20', '9999999999999.99'].entries()) {
    await change(
      `INSERT INTO orders (period, order_no, user_id, amount, status, paid_at, created_at, updated_at) VALUES (?, ?, ?, ?, 'paid', ?, ?, ?)`,
      [
        periodOf(month.toDate()),
        `ORD202601${unique('').toUpperCase()}${index}`,
        userId,
        amount,
        month.toDate(),
        month.toDate(),
        month.toDate(),
      ],
    );
  }
  const sales = await service.admin.get('/dashboard/monthly-sales');
  t.is(sales.data.length, 12);
  t.is(sales.data[9].month, month.format('YYYY-MM'));
  t.is(sales.data[9].orders, 3);
  t.regex(sales.text, /"amount":10000000000000\.29/);
});

test.serial('sales are summed by day of payment in the request zone', async (t) => {
  const zone = 'Asia/Shanghai';
  // Half an hour before and after a midnight of that zone.
  const local = moment.tz(zone);
  const midnight = local.clone().subtract(3, 'days').startOf('day');
  const [{ id: userId } = { id: 0 }] = await select<{ id: number }>('SELECT MIN(id) AS id FROM users');
  for (const [minutes, amount] of [
    [-30, '0.10'],
    [30, '9999999999999.99'],
  ] as const) {
    const at = midnight.clone().add(minutes, 'minutes').toDate();
    await change(
      `INSERT INTO orders (period, order_no, user_id, amount, status, paid_at, created_at, updated_at) VALUES (?, ?, ?, ?, 'paid', ?, ?, ?)`,
      [periodOf(at), `ORD202602${unique('').toUpperCase()}`, userId, amount, at, at, at],
    );
  }
  const sales = await service.admin.get(`/dashboard/daily-sales?timezone=${zone}`);
  t.is(sales.data.length, 30);
  t.is(sales.data[29].date, local.format('YYYY-MM-DD'));
  t.deepEqual(sales.data[25], {
    date: local.subtract(4, 'days').format('YYYY-MM-DD'),
    orders: 1,
    amount: 0.1,
  });
  t.is(sales.data[26].orders, 1);
  t.regex(sales.text, /"amount":9999999999999\.99/);
});

test.serial('payments are counted by channel and status', async (t) => {
  const shown = async (status: string): Promise<{ payments: number; amount: number }> => {
    const { data } = await service.admin.get('/dashboard/payments-by-channel');
    return data.find((one: { type: string; status: string }) => one.type === 'mock' && one.status === status);
  };
  const method = await makeMethod(service.admin);
  await makePayment(service.admin, method.id, '7.00');
  const { data } = await service.admin.get('/dashboard/payments-by-channel');
  t.deepEqual(
    data.map(({ status }: { status: string }) => status),
    ['pending', 'paid', 'failed', 'cancelled'],
  );
  const [pending, paid] = [await shown('pending'), await shown('paid')];
  const payment = await makePayment(service.admin, method.id, '12.34');
  t.is((await shown('pending')).payments, pending.payments + 1);
  t.is((await callBack(service.anonymous, payment)).data.status, 'paid');
  t.deepEqual(await shown('pending'), pending);
  const after = await shown('paid');
  t.is(after.payments, paid.payments + 1);
  t.is((after.amount - paid.amount).toFixed(2), '12.34');
});

test.serial('what was made, paid and refunded yesterday counts for yesterday', async (t) => {
  const { admin } = service;
  const { payment_no, order_no } = await paidPayment(admin, undefined, '12.34');
  for (const amount of ['2.30', '4.04']) {
    const refund = { payment_no, amount, destination: 'balance', reason: 'sold out' };
    t.is((await admin.post('/refunds', refund)).data.status, 'succeeded');
  }
  const earlier = (column: string): string => `${column} = ${column} - INTERVAL 1 DAY`;
  await change(`UPDATE refunds SET ${earlier('finished_at')} WHERE payment_no = ? AND amount = 4.04`, [
    payment_no,
  ]);
  await change(`UPDATE orders SET ${earlier('created_at')}, ${earlier('paid_at')} WHERE order_no = ?`, [
    order_no,
  ]);
  await change(`UPDATE operation_logs SET ${earlier('created_at')} WHERE module = 'refund'`);
  const [made] = await select<object>(
    `SELECT COUNT(*) AS operation_count_today FROM operation_logs WHERE created_at >= UTC_DATE()`,
  );
  t.like((await admin.get('/dashboard/count')).data, {
    ...{ order_count_yesterday: 1, paid_amount_yesterday: 12.34, operation_count_yesterday: 2, ...made },
    ...{ refunded_amount_today: 2.3, refunded_amount_yesterday: 4.04 },
  });
});

test.serial('the latest operations are shown with their outcome', async (t) => {
  await service.admin.post('/roles', {});
  const first = await until(async () => {
    const { data } = await service.admin.get('/dashboard/recent-activities');
    return data[0]?.action === '创建角色' ? data[0] : undefined;
  });
  t.like(first, { user: 'admin', action: '创建角色', status: 'failure' });
});
