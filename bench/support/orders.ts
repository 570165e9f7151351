// Fills a site with users and orders by SQL, month by month: a million orders within a minute.
import type { Connection } from 'mysql2/promise';
import { periodOf, shiftPeriod } from '../../src/lib/values/numbers.js';

const users = 1000;
const months = 8;

/**
 * Inserts users and `total` orders of one or two lines each, spread evenly over the last months, oldest first. A third
 * is paid, one in fifty cancelled, the rest pending. Needs an unused site: orders get the ids 1 to `total`.
 */
export async function fillOrders(db: Connection, total: number): Promise<void> {
  await db.query('SET SESSION unique_checks = 0, foreign_key_checks = 0');
  await makeNumbers(db, Math.ceil(total / months));
  await makeUsers(db);
  for (const table of ['orders', 'order_details']) await splitPast(db, table);
  for (let month = 0; month < months; month++) {
    const first = Math.floor((total * month) / months);
    const size = Math.floor((total * (month + 1)) / months) - first;
    await fillMonth(db, shiftPeriod(periodOf(new Date()), month - months + 1), first, size);
  }
  await db.query('ANALYZE TABLE orders, order_details, users');
  await db.query('SET SESSION unique_checks = 1, foreign_key_checks = 1');
}

/** The table bench_numbers with at least 0 to `size` - 1. */
export async function makeNumbers(db: Connection, size: number): Promise<void> {
  await db.query('CREATE TABLE IF NOT EXISTS bench_numbers (n INT UNSIGNED NOT NULL PRIMARY KEY)');
  const digits =
    '(SELECT 0 d UNION SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6 UNION SELECT 7 UNION SELECT 8 UNION SELECT 9)';
  const places = ['a', 'b', 'c', 'd', 'e', 'f'];
  const number = places.map((place, index) => `${place}.d * ${10 ** index}`).join(' + ');
  await db.query(
    `INSERT IGNORE INTO bench_numbers SELECT ${number} AS n FROM ${places.map((place) => `${digits} ${place}`).join(', ')}
     HAVING n < ? ORDER BY n`,
    [size],
  );
}

/** Users 1 to 1,000; needs bench_numbers. */
export async function makeUsers(db: Connection): Promise<void> {
  await db.query(
    `INSERT INTO users (id, username, nickname, created_at, updated_at)
     SELECT n + 1, CONCAT('user', n + 1), CONCAT('User ', n + 1), UTC_TIMESTAMP(3), UTC_TIMESTAMP(3)
     FROM bench_numbers WHERE n < ? ORDER BY n`,
    [users],
  );
}

// Migrations lay out one partition for everything before last month.
async function splitPast(db: Connection, table: string): Promise<void> {
  const current = periodOf(new Date());
  const parts = [`PARTITION p_before VALUES LESS THAN (${shiftPeriod(current, 1 - months)})`];
  for (let month = 1 - months; month < -1; month++) {
    const period = shiftPeriod(current, month);
    parts.push(`PARTITION p${period} VALUES LESS THAN (${shiftPeriod(period, 1)})`);
  }
  await db.query(`ALTER TABLE ${table} REORGANIZE PARTITION p_before INTO (${parts.join(', ')})`);
}

// The ULID's time part is the running number and its random part a hash, both in hexadecimal digits, which are ULID digits.
const orderNo = `CONCAT('ORD', :period, LPAD(HEX(:first + n), 10, '0'), UPPER(LEFT(MD5(:first + n), 16)))`;
const price = '(1000 + n % 9000) / 100';
const isPaid = 'n % 3 = 0 AND n % 50 > 0';

async function fillMonth(db: Connection, period: number, first: number, size: number): Promise<void> {
  const startMs = Date.UTC(Math.floor(period / 100), (period % 100) - 1);
  const endMs = Math.min(Date.now(), Date.UTC(Math.floor(period / 100), period % 100));
  const places = {
    period,
    first,
    size,
    start: new Date(startMs),
    step: Math.floor(((endMs - startMs) * 1000) / size),
  };
  const run = (sql: string): Promise<unknown> => db.query({ sql, namedPlaceholders: true, values: places });
  const at = ':start + INTERVAL :step * n MICROSECOND';
  await run(
    `INSERT INTO orders (id, period, order_no, user_id, amount, status, remark, paid_at, payment_no, created_at, updated_at)
     SELECT :first + n + 1, :period, ${orderNo}, 1 + n % ${users}, ${price} + n % 2 * 10.5, IF(${isPaid}, 'paid', IF(n % 50, 'pending', 'cancelled')),
       CONCAT('order ', n), IF(${isPaid}, ${at}, NULL), IF(${isPaid}, REPLACE(${orderNo}, CONCAT('ORD', :period), CONCAT('PAY', :period, '15')), NULL),
       ${at}, ${at}
     FROM bench_numbers WHERE n < :size ORDER BY n`,
  );
  await run(
    `INSERT INTO order_details (period, order_no, product_id, product_name, price, quantity, subtotal)
     SELECT :period, ${orderNo}, 1 + n % 50, CONCAT('Product ', 1 + n % 50), IF(line, 5.25, ${price}), 1 + line, IF(line, 10.5, ${price})
     FROM bench_numbers JOIN (SELECT 0 AS line UNION SELECT 1) AS both_lines ON line <= n % 2 WHERE n < :size ORDER BY n, line`,
  );
}
