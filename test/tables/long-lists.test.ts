// Lists of many rows: deep pages of orders from both ends, logs by time and by record, payments of an assignee. Figures and
// maintenance beside many rows. And totals: exact while counting is quick, else at most twenty times as old as counting takes.
import '../support/environment.js';
import test, { type ExecutionContext } from 'ava';
import { bulk, change, db, select } from '../../src/lib/database/db.js';
import { periodOf, shiftPeriod } from '../../src/lib/values/numbers.js';
import { pruneSessions } from '../../src/models/access/admin-session.js';
import { makeUser, unique } from '../support/factories.js';
import { holding } from '../support/other-connection.js';
import { serviceTest } from '../support/service-test.js';
import { rowsReadBy, statementsDuring } from '../support/statements.js';
import { until } from '../support/until.js';

const rows = 10_000;
const oldSessions = 100;
/** Nobody: payments may keep the number of who was deleted. */
const assigneeId = 4711;
const service = serviceTest({ withWorker: false });
let userId: number;

const digit =
  '(SELECT 0 AS n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)';
const numbers = `SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS n
         FROM ${digit} a, ${digit} b, ${digit} c, ${digit} d`;
const months = [shiftPeriod(periodOf(new Date()), -1), periodOf(new Date())];

// n from 0 to 9,999; many of equal amount, many small ones, a few of any size, in two months.
test.serial.before(async () => {
  userId = (await makeUser(service.admin)).id;
  await bulk.change(
    `INSERT INTO orders (period, order_no, user_id, amount, status, created_at, updated_at)
     SELECT month, CONCAT('ORD', month, LPAD(n, 26, '0')), ?, amount, IF(n % 3, 'pending', 'paid'), at, at FROM (
       SELECT n, IF(n % 2, ?, ?) AS month, NOW(3) AS at,
         CASE WHEN n % 50 = 0 THEN POW(10, n % 13) WHEN n % 7 = 0 THEN 9.99 WHEN n % 5 = 0 THEN n / 12500 ELSE n * 0.37 END AS amount
       FROM (${numbers}) numbers) made`,
    [userId, ...months],
  );
});

// As many entries in each log, two of them on order 77: its change, and its creation under its number.
test.serial.before(async () => {
  const shared = `month, LPAD(n, 26, '0'), 1, 'admin'`;
  const month = 'IF(n % 2, ?, ?) AS month';
  await bulk.change(
    `INSERT INTO operation_logs (period, log_key, admin_id, username, module, action, title, method, path, ip, user_agent,
       status, duration_ms, trace_id, created_at, record_key)
     SELECT ${shared}, 'order', 'update', '', 'PUT', CONCAT('/api/admin/orders', IF(n = 78, '', CONCAT('/', n))), '', '',
       200, 1, '', NOW(3) - INTERVAL n SECOND, NULLIF(n - 1, 76)
     FROM (SELECT n, ${month} FROM (${numbers}) numbers) made`,
    months,
  );
  await bulk.change(
    `INSERT INTO login_logs (period, log_key, admin_id, username, ip, user_agent, browser, os, device, status, outcome, created_at)
     SELECT ${shared}, '', '', '', '', '', 1, '', NOW(3) - INTERVAL n SECOND
     FROM (SELECT n, ${month} FROM (${numbers}) numbers) made`,
    months,
  );
  await bulk.change(
    `INSERT INTO system_logs (period, log_key, level, module, message, trace_id, created_at)
     SELECT month, LPAD(n, 26, '0'), 'info', 'api', '', '', NOW(3) - INTERVAL n SECOND
     FROM (SELECT n, ${month} FROM (${numbers}) numbers) made`,
    months,
  );
});

// As many payments, two of them of an assignee; as many refunds, finished long ago; and as many sessions, the first 100 old.
test.serial.before(async () => {
  const shared = `month, LPAD(n, 26, '0'), 'ORD', ?, 1, 1`;
  const month = 'IF(n % 2, ?, ?) AS month';
  await bulk.change(
    `INSERT INTO payments (period, payment_no, order_no, user_id, payment_method_id, amount, status, assignee_id, created_at, updated_at)
     SELECT ${shared}, 'pending', IF(n IN (7, 77), ?, NULL), NOW(3), NOW(3)
     FROM (SELECT n, ${month} FROM (${numbers}) numbers) made`,
    [userId, assigneeId, ...months],
  );
  await bulk.change(
    `INSERT INTO refunds (period, refund_no, payment_no, order_no, user_id, payment_method_id, amount, destination, status, reason,
       requested_by, finished_at, created_at, updated_at)
     SELECT month, LPAD(n, 26, '0'), 'PAY', 'ORD', ?, 1, 1, 'balance', 'succeeded', '', 1, NOW(3) - INTERVAL 9 DAY, NOW(3), NOW(3)
     FROM (SELECT n, ${month} FROM (${numbers}) numbers) made`,
    [userId, ...months],
  );
  await bulk.change(
    `INSERT INTO admin_sessions (jti, admin_id, ip, user_agent, browser, os, last_used_at, expires_at, created_at)
     SELECT LPAD(n, 26, '0'), 1, '', '', '', '', NOW(3), NOW(3) - INTERVAL IF(n < ?, 31, 0) DAY, NOW(3) FROM (${numbers}) numbers`,
    [oldSessions],
  );
});

/** Ids of the list by hand, upwards; equal amounts go by id the same way. */
async function sorted(where: string): Promise<number[]> {
  const found = await select<{ id: number }>(
    `SELECT id FROM orders WHERE deleted_at IS NULL ${where} ORDER BY amount, id`,
  );
  return found.map(({ id }) => id);
}

async function mustAgree(t: ExecutionContext, query: string, where = ''): Promise<void> {
  const upwards = await sorted(where);
  for (const [direction, ids] of Object.entries({ asc: upwards, desc: upwards.toReversed() })) {
    const size = 50;
    const last = Math.ceil(ids.length / size);
    const random = Array.from({ length: 3 }, () => 1 + Math.floor(Math.random() * last));
    // Up to the 21st the end is not looked for (page.ts).
    for (const page of [21, 22, Math.floor(last / 2), last - 21, last, ...random]) {
      const path = `/orders?order_by=amount:${direction}&page_size=${size}&page=${page}${query}`;
      const { data } = await service.admin.get(path);
      t.is(data.total, ids.length, path);
      const shown = data.list.map(({ id }: { id: number }) => id);
      t.deepEqual(shown, ids.slice((page - 1) * size, page * size), path);
    }
  }
}

test.serial('every page sorted by amount equals its part of the whole list', async (t) => {
  await mustAgree(t, '');
  await mustAgree(t, '&status=pending', `AND status = 'pending'`);
});

/** Rows that a list of the API reads beside counting them. */
async function rowsListedBy(path: string): Promise<number> {
  const statements = await statementsDuring(() => service.admin.get(path));
  return rowsReadBy(statements.filter((sql) => !sql.includes('COUNT(*)')));
}

test.serial('a page near the end is read from the end', async (t) => {
  const read = await rowsListedBy(`/orders?order_by=amount:desc&page=${rows / 10 - 2}`);
  t.true(read < 200, `${read} rows`);
});

test.serial('a page of logs by time reads its own entries only', async (t) => {
  for (const path of ['/operation-logs', '/login-logs', '/system-logs']) {
    for (const direction of ['asc', 'desc']) {
      const read = await rowsListedBy(`${path}?order_by=created_at:${direction}`);
      t.true(read < 200, `${path} ${direction}: ${read} rows`);
    }
  }
});

test.serial('what was done to a record is found without reading the log', async (t) => {
  const record = '/operation-logs?record=/api/admin/orders/77';
  const { data } = await service.admin.get(record);
  t.is(data.total, 2);
  const statements = await statementsDuring(() => service.admin.get(record));
  t.true(statements.length >= 2);
  const read = await rowsReadBy(statements);
  t.true(read < 200, `${read} rows`);
});

test.serial('the payments of an assignee are found without reading the others', async (t) => {
  const path = `/payments?assignee_id=${assigneeId}`;
  t.is((await service.admin.get(path)).data.total, 2);
  const read = await rowsReadBy(await statementsDuring(() => service.admin.get(path)));
  t.true(read < 200, `${read} rows`);
});

test.serial('the dashboard reads the refunds of two days', async (t) => {
  const statements = await statementsDuring(() => service.admin.get('/dashboard/count'));
  const sums = statements.filter((sql) => sql.includes('FROM refunds'));
  t.is(sums.length, 1);
  const read = await rowsReadBy(sums);
  t.true(read < 200, `${read} rows`);
});

test.serial('old sessions are deleted without waiting for one that is in use', async (t) => {
  const used = String(rows - 1).padStart(26, '0');
  const letGo = await holding('UPDATE admin_sessions SET last_used_at = NOW(3) WHERE jti = ?', [used]);
  try {
    t.is(await pruneSessions(), oldSessions);
  } finally {
    await letGo();
  }
});

const add = (): Promise<number> =>
  change(`INSERT INTO real_users (username, created_at, updated_at) VALUES (?, NOW(3), NOW(3))`, [
    unique('slow'),
  ]);

/** From now on each user takes so long to be read. */
const slowDown = (rowMs: number) =>
  db.query(`CREATE OR REPLACE VIEW users AS SELECT * FROM real_users WHERE SLEEP(${rowMs / 1000}) = 0`);

const path = '/users?page_size=1';
const countsIn = (statements: string[]): string[] =>
  statements.filter((sql) => sql.includes('COUNT(*) AS total FROM users'));

// The last two: they take the table away.
test.serial('a quick count runs for each request', async (t) => {
  await db.query('RENAME TABLE users TO real_users');
  await change('DELETE FROM real_users');
  await add();
  await slowDown(10);
  const statements = await statementsDuring(async () => {
    for (let asked = 0; asked < 10; asked++) await service.admin.get(path);
  });
  t.is(countsIn(statements).length, 10);
});

test.serial('a slow count is cached for twenty times as long as it takes', async (t) => {
  const rowMs = 30;
  for (let rows = 0; rows < 3; rows++) await add();
  await slowDown(rowMs);
  const { total } = (await service.admin.get(path)).data;
  // Three slow runs are no accident.
  for (let runs = 0; runs < 3; runs++) await service.admin.get(path);
  await add();
  const addedAt = performance.now();
  const countMs = (total + 1) * rowMs;
  t.is((await service.admin.get(path)).data.total, total);
  t.is((await service.admin.get('/users')).data.total, total + 1, 'a page that is not full says its total');
  await until(async () => (await service.admin.get(path)).data.total === total + 1);
  t.true(performance.now() - addedAt < 30 * countMs);
  const [since, watchMs] = [performance.now(), 50 * countMs];
  const statements = await statementsDuring(async () => {
    await until(async () => {
      await service.admin.get(path);
      return performance.now() - since >= watchMs;
    });
  });
  const counts = countsIn(statements);
  t.true(counts.length >= 1 && counts.length <= 4, `${counts.length} counts`);
});
