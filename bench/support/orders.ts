// Fills a site with users and orders by SQL, month by month: a million orders within a minute.
import type { Connection } from 'mysql2/promise';
import { periodOf, shiftPeriod, startOfPeriod } from '../../src/lib/values/numbers.js';

/**
 * Inserts users 1 to 1,000 and `total` orders of one or two lines each, spread evenly over the last `months`, oldest first,
 * with the ids 1 to `total`. A third is paid, one in fifty cancelled, the rest pending.
 */
export async function fillOrders(db: Connection, total: number, months: number): Promise<void> {
  await db.query('SET SESSION unique_checks = 0, foreign_key_checks = 0');
  await makeNumbers(db, Math.max(1000, Math.ceil(total / months)));
  await db.query(
    `INSERT INTO users (id, username, nickname, created_at, updated_at)
     SELECT n + 1, CONCAT('user', n + 1), CONCAT('User ', n + 1), UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)
     FROM bench_numbers WHERE n < 1000 ORDER BY n`,
  );
  const latest = periodOf(new Date());
  const periods = Array.from({ length: months }, (_, month) => shiftPeriod(latest, month - months + 1));
  for (const table of ['orders', 'order_details']) await splitPast(db, table, periods);
  for (const [month, period] of periods.entries()) {
    const first = Math.floor((total * month) / months);
    await fillMonth(db, period, first, Math.floor((total * (month + 1)) / months) - first);
  }
  await db.query('ANALYZE TABLE orders, order_details, users');
  await db.query('SET SESSION unique_checks = 1, foreign_key_checks = 1');
}

/** The table bench_numbers with at least 0 to `size` - 1. */
async function makeNumbers(db: Connection, size: number): Promise<void> {
  await db.query('CREATE TABLE bench_numbers (n INT UNSIGNED NOT NULL PRIMARY KEY)');
  await db.query('INSERT INTO bench_numbers VALUES (0)');
  for (let made = 1; made < size; made *= 2)
    await db.query(`INSERT INTO bench_numbers SELECT n + ${made} FROM bench_numbers`);
}

// Migrations lay out one partition for everything before last month.
async function splitPast(db: Connection, table: string, periods: number[]): Promise<void> {
  if (periods.length === 1) return;
  const names = ['p_before', ...periods.map((period) => `p${period}`)];
  const parts = periods
    .slice(0, -1)
    .map((period, index) => `PARTITION ${names[index]} VALUES LESS THAN (${period})`);
  await db.query(`ALTER TABLE ${table} REORGANIZE PARTITION p_before INTO (${parts.join(', ')})`);
}

// The ULID's time part is the running number and its random part a hash, both in hexadecimal digits, which are ULID digits.
const ulid = `LPAD(HEX(:first + n), 10, '0'), UPPER(LEFT(MD5(:first + n), 16))`;
const orderNo = `CONCAT('ORD', :period, ${ulid})`;
const price = '(1000 + n % 9000) / 100';
const isPaid = 'n % 3 = 0 AND n % 50 > 0';
const at = ':start + INTERVAL :step * n MICROSECOND';

async function fillMonth(db: Connection, period: number, first: number, size: number): Promise<void> {
  const start = startOfPeriod(period);
  const end = Math.min(Date.now(), startOfPeriod(shiftPeriod(period, 1)).getTime());
  const values = { period, first, size, start, step: Math.floor(((end - start.getTime()) * 1000) / size) };
  const run = (sql: string): Promise<unknown> => db.query({ sql, namedPlaceholders: true, values });
  await run(
    `INSERT INTO orders (id, period, order_no, user_id, amount, status, remark, paid_at, payment_no, created_at, updated_at)
     SELECT :first + n + 1, :period, ${orderNo}, 1 + n % 1000, ${price} + n % 2 * 10.5,
       IF(${isPaid}, 'paid', IF(n % 50, 'pending', 'cancelled')), CONCAT('order ', n), IF(${isPaid}, ${at}, NULL),
       IF(${isPaid}, CONCAT('PAY', :period, '15', ${ulid}), NULL), ${at}, ${at}
     FROM bench_numbers WHERE n < :size ORDER BY n`,
  );
  await run(
    `INSERT INTO order_details (period, order_no, product_id, product_name, price, quantity, subtotal)
     SELECT :period, ${orderNo}, 1 + n % 50, CONCAT('Product ', 1 + n % 50), IF(line, 5.25, ${price}), 1 + line,
       IF(line, 10.5, ${price})
     FROM bench_numbers JOIN (SELECT 0 AS line UNION SELECT 1) AS both_lines ON line <= n % 2
     WHERE n < :size ORDER BY n, line`,
  );
}
