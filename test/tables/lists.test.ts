// Lists of orders and payments: their filters, and pages over many months, which equal the slices of the whole list, filtered and
// sorted by hand. Lists of many rows: deep pages from both ends, logs by time and by record, payments of an assignee. Figures
// and maintenance beside many rows. And totals: exact while counting is quick, else at most twenty times as old as counting takes.
import '../support/settings/environment.js';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { bulk, change, db, select } from '../../src/lib/database/db.js';
import { setClock } from '../../src/lib/values/clock.js';
import { newOrderNumber, periodOf, shiftPeriod } from '../../src/lib/values/numbers.js';
import { pruneSessions } from '../../src/models/access/admin-session.js';
import { extendPartitions } from '../../src/models/tables/partitions.js';
import {
  makeMethod,
  makeOrder,
  makePayment,
  makeUser,
  unique,
  type MadeOrder,
} from '../support/factories.js';
import { holding } from '../support/other-connection.js';
import { serviceTest } from '../support/service-test.js';
import { rowsReadBy, statementsDuring } from '../support/statements.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });

test.serial('orders are filtered by number, user, status, amount, remark and time', async (t) => {
  const { admin } = service;
  const user_id = (await makeUser(admin)).id;
  const prices = ['1.00', '2.50', '2.51', '10.00'];
  const orders: MadeOrder[] = [];
  for (const [index, price] of prices.entries()) {
    orders.push(
      await makeOrder(admin, price, { user_id, remark: ['50% off', '50x off', 'a_b', 'a\\b'][index] }),
    );
  }
  await admin.put(`/orders/${orders[3]?.order_no}`, { status: 'cancelled' });
  const found = async (query: string) => {
    const { data } = await admin.get(`/orders?user_id=${user_id}&order_by=id:asc&${query}`);
    t.is(data.total, data.list.length);
    return data.list.map(({ amount }: MadeOrder) => amount.toFixed(2));
  };
  t.deepEqual(await found(''), prices);
  t.deepEqual(await found(`order_no=${orders[1]?.order_no.slice(9)}`), ['2.50']);
  t.deepEqual(await found('status=cancelled'), ['10.00']);
  t.deepEqual(await found('status=pending&min_amount=2.50&max_amount=2.51'), ['2.50', '2.51']);
  t.deepEqual(await found('min_amount=2.51'), ['2.51', '10.00']);
  t.deepEqual(await found(`keyword=${encodeURIComponent('50%')}`), ['1.00']);
  t.deepEqual(await found('keyword=a_b'), ['2.51']);
  t.deepEqual(await found(`keyword=${encodeURIComponent('a\\')}`), ['10.00']);
  t.deepEqual(await found('start_time=2000-01-01&end_time=2000-01-02'), []);
  t.deepEqual(await found('start_date=2000-01-01&end_date=9999-12-31'), prices);
  t.deepEqual(await found('order_no='), prices);
  const sorted = await admin.get(
    `/orders?user_id=${user_id}&order_by=status:desc,amount:desc&page_size=2&page=2`,
  );
  t.deepEqual(
    sorted.data.list.map(({ amount }: MadeOrder) => amount),
    [1, 10],
  );
  t.like(sorted.data, { page: 2, page_size: 2, total: 4 });
  t.is((await admin.get(`/orders?page=99&page_size=1000&user_id=${user_id}`)).data.page_size, 100);
});

test.serial('a number that was pasted with spaces is found', async (t) => {
  const { admin } = service;
  const { order_no, payment_no } = await makePayment(admin);
  const third_party_no = `MOCK-${payment_no}`;
  await change('UPDATE payments SET third_party_no = ? WHERE payment_no = ?', [third_party_no, payment_no]);
  for (const query of [
    `orders?order_no=${order_no}`,
    `payments?payment_no=${payment_no}`,
    `payments?order_no=${order_no.slice(-20)}`,
    `payments?third_party_no=${third_party_no}`,
  ])
    t.is((await admin.get(`/${query.replace('=', '=%20')}%20`)).data.total, 1, query);
});

test.serial('a number in small letters is found, as by the search', async (t) => {
  const { admin } = service;
  const { order_no, payment_no } = await makePayment(admin);
  const end = order_no.slice(-20).toLowerCase();
  for (const query of [
    `orders?order_no=${order_no.toLowerCase()}`,
    `orders?order_no=${end}`,
    `payments?payment_no=${payment_no.toLowerCase()}`,
    `payments?order_no=${end}`,
  ])
    t.is((await admin.get(`/${query}`)).data.total, 1, query);
  t.is((await admin.get(`/search?q=${end}`)).data.list[0].id, order_no);
  // Its capitals are ASCII.
  t.is((await admin.get(`/orders?order_no=${encodeURIComponent('oﬀ')}`)).data.total, 0);
});

interface Row {
  id: number;
  number: string;
  amount: number;
  status: string;
  remark: string;
  created_at: string;
}

/** Of the coming months, all but the fourth. */
const periods = [1, 2, 3, 5, 6, 7].map((ahead) => shiftPeriod(periodOf(new Date()), ahead));
const months = periods.map(
  (period) => `${Math.floor(period / 100)}-${String(period % 100).padStart(2, '0')}`,
);
const [, second, third, , fifth] = months as [string, string, string, string, string];
const perMonth = 40;

let userId: number;
const rows: Row[] = [];

// Ids cross over at the turn of two months, as they do when writers meet there; one is far behind the others of its month.
function idOf(month: number, index: number): number {
  if (month === 2 && index === 20) return 3;
  const id = 1000 + (month * perMonth + index) * 10;
  return month % 2 === 1 && index < 3 ? id - 65 : id;
}

test.serial.before(async () => {
  userId = (await makeUser(service.admin)).id;
  const methodId = (await makeMethod(service.admin)).id;
  setClock(new Date(`${fifth}-15`));
  await extendPartitions();
  setClock();
  for (const [month, name] of months.entries()) {
    for (let index = 0; index < perMonth; index++) {
      const at = new Date(Date.parse(`${name}-01T00:00:00Z`) + index * 40_000_000);
      rows.push({
        id: idOf(month, index),
        number: newOrderNumber(at),
        amount: (index * 7) % 10,
        status: ['pending', 'paid', 'cancelled'][(index * month) % 3] as string,
        remark: index % 9 === 0 ? 'a rare thing' : 'thing',
        created_at: at.toISOString(),
      });
    }
  }
  await change(
    `INSERT INTO orders (id, period, order_no, user_id, amount, status, remark, created_at, updated_at)
     VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    rows.flatMap(({ id, number, amount, status, remark, created_at }) => {
      const at = new Date(created_at);
      return [id, Number(number.slice(3, 9)), number, userId, amount, status, remark, at, at];
    }),
  );
  await change(
    `INSERT INTO payments (id, period, payment_no, order_no, user_id, payment_method_id, amount, status, remark, created_at, updated_at)
     SELECT id, period, REPLACE(order_no, 'ORD', 'PAY'), order_no, user_id, ?, amount, status, remark, created_at, updated_at
     FROM orders WHERE user_id = ?`,
    [methodId, userId],
  );
});

type Sort = [field: 'id' | 'created_at' | 'amount' | 'status', direction: 'asc' | 'desc'];

interface Question {
  filter: [query: string, matches: (row: Row) => boolean];
  sort: Sort[];
  size: number;
  page: number;
}

const filters: Question['filter'][] = [
  ['', () => true],
  ['status=paid', ({ status }) => status === 'paid'],
  [
    `status=cancelled&start_time=${second}-10&end_time=${fifth}-10`,
    ({ status, created_at }) =>
      status === 'cancelled' && created_at >= `${second}-10` && created_at < `${fifth}-11`,
  ],
  [
    `start_time=${third}-02&end_time=${third}-11`,
    ({ created_at }) => created_at >= `${third}-02` && created_at < `${third}-12`,
  ],
];

const orderFilters: Question['filter'][] = [
  ...filters,
  ['keyword=rare', ({ remark }) => remark.includes('rare')],
  ['min_amount=3&max_amount=4', ({ amount }) => amount >= 3 && amount <= 4],
  ...[`ORD${third.slice(0, 4)}`, `ORD${periods[2]}`, 'ORD'].map((head): Question['filter'] => [
    `order_no=${head}`,
    ({ number }) => number.startsWith(head),
  ]),
  ['keyword=nowhere', () => false],
];

const question = (choice: Question['filter'][]): fc.Arbitrary<Question> =>
  fc.record({
    filter: fc.constantFrom(...choice),
    sort: fc.uniqueArray(
      fc.tuple(fc.constantFrom('id', 'created_at', 'amount', 'status'), fc.constantFrom('asc', 'desc')),
      { minLength: 1, maxLength: 2, selector: ([field]) => field },
    ),
    size: fc.integer({ min: 1, max: 100 }),
    page: fc.integer({ min: 1, max: 30 }),
  });

/** Ids of the page, found by hand. */
function expected({ filter: [, matches], sort, size, page }: Question): { ids: number[]; total: number } {
  const found = rows.filter(matches);
  const all: Sort[] = [...sort, ['id', (sort.at(-1) as Sort)[1]]];
  const compare = (one: Row, other: Row): number => {
    for (const [field, direction] of all) {
      if (one[field] === other[field]) continue;
      return one[field] < other[field] === (direction === 'asc') ? -1 : 1;
    }
    return 0;
  };
  const ids = found.sort(compare).map(({ id }) => id);
  return { ids: ids.slice((page - 1) * size, page * size), total: ids.length };
}

const asked = ({ filter: [query], sort, size, page }: Question): string =>
  `${query}&order_by=${sort.map((order) => order.join(':')).join(',')}&page_size=${size}&page=${page}`;

for (const [list, choice] of [
  ['orders', orderFilters],
  ['payments', filters],
] as const) {
  test.serial(`any page of ${list} holds the rows of its filter and sort`, async (t) => {
    await fc.assert(
      fc.asyncProperty(question([...choice]), async (wanted) => {
        const { data } = await service.admin.get(`/${list}?user_id=${userId}&${asked(wanted)}`);
        const ids = data.list.map(({ id }: Row) => id);
        t.deepEqual({ ids, total: data.total }, expected(wanted), asked(wanted));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
}

test.serial('pages follow each other through all months without gaps or repeats', async (t) => {
  for (const direction of ['asc', 'desc'] as const) {
    const seen: number[] = [];
    for (let page = 1; ; page++) {
      const { data } = await service.admin.get(
        `/orders?user_id=${userId}&order_by=id:${direction}&page_size=17&page=${page}`,
      );
      if (data.list.length === 0) break;
      seen.push(...data.list.map(({ id }: Row) => id));
    }
    const whole = expected({
      filter: ['', () => true],
      sort: [['id', direction]],
      size: rows.length,
      page: 1,
    });
    t.deepEqual(seen, whole.ids);
  }
});

const many = 10_000;
const oldSessions = 100;
/** Nobody: payments may keep the number of who was deleted. */
const assigneeId = 4711;
let otherId: number;

const digit =
  '(SELECT 0 AS n UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)';
const numbers = `SELECT a.n + 10 * b.n + 100 * c.n + 1000 * d.n AS n
         FROM ${digit} a, ${digit} b, ${digit} c, ${digit} d`;
const lately = [shiftPeriod(periodOf(new Date()), -1), periodOf(new Date())];

// n from 0 to 9,999; many of equal amount, many small ones, a few of any size, in two months.
test.serial.before(async () => {
  otherId = (await makeUser(service.admin)).id;
  await bulk.change(
    `INSERT INTO orders (period, order_no, user_id, amount, status, created_at, updated_at)
     SELECT month, CONCAT('ORD', month, LPAD(n, 26, '0')), ?, amount, IF(n % 3, 'pending', 'paid'), at, at FROM (
       SELECT n, IF(n % 2, ?, ?) AS month, NOW(3) AS at,
         CASE WHEN n % 50 = 0 THEN POW(10, n % 13) WHEN n % 7 = 0 THEN 9.99 WHEN n % 5 = 0 THEN n / 12500 ELSE n * 0.37 END AS amount
       FROM (${numbers}) numbers) made`,
    [otherId, ...lately],
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
    lately,
  );
  await bulk.change(
    `INSERT INTO login_logs (period, log_key, admin_id, username, ip, user_agent, browser, os, device, status, outcome, created_at)
     SELECT ${shared}, '', '', '', '', '', 1, '', NOW(3) - INTERVAL n SECOND
     FROM (SELECT n, ${month} FROM (${numbers}) numbers) made`,
    lately,
  );
  await bulk.change(
    `INSERT INTO system_logs (period, log_key, level, module, message, trace_id, created_at)
     SELECT month, LPAD(n, 26, '0'), 'info', 'api', '', '', NOW(3) - INTERVAL n SECOND
     FROM (SELECT n, ${month} FROM (${numbers}) numbers) made`,
    lately,
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
    [otherId, assigneeId, ...lately],
  );
  await bulk.change(
    `INSERT INTO refunds (period, refund_no, payment_no, order_no, user_id, payment_method_id, amount, destination, status, reason,
       requested_by, finished_at, created_at, updated_at)
     SELECT month, LPAD(n, 26, '0'), 'PAY', 'ORD', ?, 1, 1, 'balance', 'succeeded', '', 1, NOW(3) - INTERVAL 9 DAY, NOW(3), NOW(3)
     FROM (SELECT n, ${month} FROM (${numbers}) numbers) made`,
    [otherId, ...lately],
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
  const { total } = (await service.admin.get('/orders')).data;
  const read = await rowsListedBy(`/orders?order_by=amount:desc&page=${Math.floor(total / 10) - 2}`);
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
  const used = String(many - 1).padStart(26, '0');
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
  for (let added = 0; added < 3; added++) await add();
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
