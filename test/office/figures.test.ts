// Figures that every open page requests, beside very many rows: unread notifications at every process, and what a page reads.
import '../support/settings/environment.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { change } from '../../src/lib/database/db.js';
import { pruneNotifications } from '../../src/models/office/notification.js';
import { Client } from '../support/client.js';
import { startApi } from '../support/processes.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';
import { planOf, rowsReadBy, statementsDuring } from '../support/statements.js';
import { until } from '../support/until.js';

const rows = 20_000;
const service = serviceTest({ withWorker: false });
let other: Client;

// n from 0 to 19,999, the highest first.
const digit =
  '(SELECT 0 AS n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)';
const numbers = `(SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n + 10000 * e.n AS n
  FROM ${digit} a, ${digit} b, ${digit} c, ${digit} d, ${digit} e WHERE e.n < 2) numbers`;

/** An instant for each n: from six minutes ago back over so many seconds, in a partition of its month. */
const aged = (seconds: number): string => `NOW(3) - INTERVAL (360 + n * ${seconds / rows}) SECOND`;
const month = (at: string): string => `DATE_FORMAT(${at}, '%Y%m')`;
const day = 86_400;

async function fill(): Promise<void> {
  const [month30, hours3, year] = [aged(29 * day), aged(3 * 3600), aged(330 * day)];
  await change(`INSERT INTO login_logs (period, log_key, admin_id, username, ip, user_agent, browser, os, device, status, outcome, created_at)
    SELECT ${month(month30)}, LPAD(n, 26, '0'), 1 + n % 7, 'admin', '127.0.0.1', '', '', '', IF(n % 3, 'desktop', 'mobile'), n % 5 > 0, 'x', ${month30}
    FROM ${numbers} ORDER BY n DESC`);
  await change(`INSERT INTO operation_logs (period, log_key, admin_id, username, module, action, title, method, path, ip, user_agent, status, duration_ms, trace_id, created_at)
    SELECT ${month(hours3)}, LPAD(n, 26, '0'), 1, 'admin', 'x', 'x', 'x', 'POST', '/x', '127.0.0.1', '', 200, 1, '', ${hours3} FROM ${numbers} ORDER BY n DESC`);
  await change(`INSERT INTO users (username, created_at, updated_at) VALUES ('buyer', NOW(3), NOW(3))`);
  await change(`INSERT INTO orders (period, order_no, user_id, amount, status, paid_at, created_at, updated_at)
    SELECT ${month(year)}, CONCAT('ORD', ${month(year)}, LPAD(n, 26, '0')), 1, n + 0.01, 'paid', ${year}, ${year}, ${year} FROM ${numbers} ORDER BY n DESC`);
  await change(`INSERT INTO payment_methods (name, code, type, config, secrets, created_at, updated_at)
    VALUES ('w', 'w', 'wechat', '{}', '{}', NOW(3), NOW(3)), ('a', 'a', 'alipay', '{}', '{}', NOW(3), NOW(3))`);
  await change(`INSERT INTO payments (period, payment_no, order_no, user_id, payment_method_id, amount, status, created_at, updated_at)
    SELECT ${month(month30)}, CONCAT('PAY', ${month(month30)}, LPAD(n, 28, '0')), 'none', 1, (SELECT MIN(id) FROM payment_methods) + n % 2, n + 0.01, ELT(1 + n % 3, 'pending', 'paid', 'failed'),
      ${month30}, ${month30} FROM ${numbers} ORDER BY n DESC`);
  await change('UPDATE admins SET created_at = NOW(3) - INTERVAL 3 YEAR WHERE id = 1');
  await change(`INSERT INTO notifications (type, title, content, receiver_id, created_at)
    SELECT IF(n % 2, 'system', 'message'), n, 'x', IF(n % 4, NULL, 1), ${month30} FROM ${numbers} ORDER BY n DESC`);
}

test.before(async () => {
  await fill();
  other = service.admin.at((await startApi()).url);
});

const unread = async (caller: Client): Promise<number> => (await caller.get('/heartbeat')).data.unread_count;

test.serial('sales of days and months are added up from an index alone', async (t) => {
  for (const name of ['daily-sales', 'monthly-sales']) {
    const statements = await statementsDuring(() => service.admin.get(`/dashboard/${name}`));
    const sums = statements.filter((sql) => sql.includes('SUM(amount)'));
    t.true(sums.length > 0);
    for (const sum of sums) {
      const sql = sum.slice(sum.indexOf('SELECT'));
      t.regex((await planOf(sql))[0]?.Extra ?? '', /Using index/, sql);
    }
  }
});

test.serial('what is sent and read counts at once', async (t) => {
  t.is(await unread(service.admin), rows);
  await service.admin.post('/notifications', { title: 'news', content: 'x' });
  t.deepEqual([await unread(service.admin), await unread(other)], [rows + 1, rows + 1]);
  const { data: page } = await other.get('/notifications?type=system');
  t.is(page.total, rows / 2);
  await service.admin.post(`/notifications/${page.list[3].id}/read`);
  await service.admin.post(`/notifications/${page.list[3].id}/read`);
  t.deepEqual([await unread(service.admin), await unread(other)], [rows, rows]);
  t.is((await other.get('/notifications?is_read=true')).data.total, 1);
  t.is((await other.get('/notifications?is_read=true&type=system')).data.list[0].id, page.list[3].id);
});

test.serial('a page reads few rows beside its count', async (t) => {
  const pages = [
    '/dashboard/count',
    '/dashboard/recent-activities',
    '/notifications/recent',
    '/notifications',
  ];
  const filtered = [
    '/notifications?type=system',
    '/orders',
    '/orders?status=paid',
    '/payments?status=failed',
  ];
  for (const path of [...pages, ...filtered, '/operation-logs', '/login-logs?status=1', '/users']) {
    const statements = await statementsDuring(() => service.admin.get(path));
    const read = await rowsReadBy(statements.filter((sql) => !/\b(COUNT|SUM)\(/.test(sql)));
    t.true(read <= 200, `${path} reads ${read} rows:\n${statements.join('\n')}`);
  }
});

test.serial('unread counts stay exact when old notifications expire', async (t) => {
  const { list } = (await service.admin.get('/notifications?order_by=id:asc')).data;
  for (const { id } of list.slice(0, 3)) await service.admin.post(`/notifications/${id}/read`);
  const days = config.retention.notificationMs / (day * 1000);
  await change('UPDATE notifications SET created_at = created_at - INTERVAL ? DAY WHERE id < ?', [
    days,
    list[0].id + 5000,
  ]);
  t.is(await pruneNotifications(), 5000);
  const counts = async (caller: Client) => {
    const { data } = await caller.get('/notifications');
    return [data.total, data.unread_count];
  };
  // On a machine that counts slowly the last count is answered a little longer.
  for (const caller of [service.admin, other])
    await until(async () => String(await counts(caller)) === String([rows - 5000 + 1, rows - 5000]));
  const kept = await selectRow<{ total: number }>('SELECT COUNT(*) AS total FROM notification_reads');
  t.is(kept.total, 1);
});

test.serial('everything is marked as read at once', async (t) => {
  await service.admin.post('/notifications/read-all');
  t.deepEqual([await unread(service.admin), await unread(other)], [0, 0]);
  t.is((await other.get('/notifications?is_read=true')).data.total, rows - 5000 + 1);
  await service.admin.post('/notifications', { title: 'more', content: 'x' });
  t.is((await other.get('/notifications?is_read=false')).data.list[0].title, 'more');
});
