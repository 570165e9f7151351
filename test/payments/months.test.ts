// Month partitions: a payment of one month called back in the next, months without a partition, a clock far ahead.
import '../support/environment.js';
import test from 'ava';
import { setClock } from '../../src/lib/clock.js';
import { db, select } from '../../src/lib/db.js';
import { periodOf, shiftPeriod } from '../../src/lib/numbers.js';
import { extendPartitions, partitionedTables } from '../../src/models/partitions.js';
import type { Client } from '../support/client.js';
import { makeMethod, makeOrder, makePayment, mockCallback } from '../support/factories.js';
import { partitionsOf, statementsDuring } from '../support/statements.js';
import { startService, type Service } from '../support/service.js';

let service: Service;

test.before(async () => {
  service = await startService();
});

test.after.always(async () => {
  setClock();
  await service.stop();
});

/** An administrator signed in at that instant, from which the clock goes on. */
async function adminAt(instant: string | Date): Promise<Client> {
  setClock(new Date(instant));
  return service.anonymous.signIn();
}

const periodsOf = async (table: string) => {
  const rows = await select<{ period: number }>(
    `SELECT CAST(SUBSTRING(PARTITION_NAME, 2) AS UNSIGNED) AS period FROM information_schema.PARTITIONS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = ? AND PARTITION_NAME <> 'p_before' ORDER BY PARTITION_ORDINAL_POSITION`,
    [table],
  );
  return rows.map(({ period }) => Number(period));
};

/** Reads and updates of the payment tables meanwhile, without those of the sweeper, which looks through all months. */
async function touchedDuring(work: () => Promise<unknown>): Promise<string[]> {
  const tables = /\b(orders|payments|payment_callbacks)\b/;
  return (await statementsDuring(work)).filter(
    (sql) => /^(SELECT|UPDATE)/.test(sql) && tables.test(sql) && !sql.includes('LIMIT 500'),
  );
}

for (const [made, called] of [
  ['2027-01-31T23:59:59Z', '2027-02-01T00:00:30Z'],
  ['2027-12-31T23:59:59Z', '2028-01-01T00:00:30Z'],
  ['2028-02-29T12:00:00Z', '2028-03-05T12:00:00Z'],
] as const) {
  test.serial(
    `a payment made on ${made.slice(0, 10)} is settled by its callback on ${called.slice(0, 10)}, in one partition`,
    async (t) => {
      const before = await adminAt(made);
      const payment = await makePayment(before, (await makeMethod(before)).id);
      const month = Number(made.slice(0, 7).replace('-', ''));
      t.is(payment.payment_no.slice(3, 11), made.slice(0, 10).replaceAll('-', ''));
      t.is(payment.order_no.slice(3, 9), String(month));
      const admin = await adminAt(called);
      const statements = await touchedDuring(async () => {
        const answer = await service.anonymous.post('//api/payment/notify/mock', mockCallback(payment));
        t.deepEqual(answer.data, {
          payment_no: payment.payment_no,
          order_no: payment.order_no,
          status: 'paid',
        });
      });
      const counts = { orders: 0, payments: 0, payment_callbacks: 0 };
      for (const sql of statements) {
        for (const table of Object.keys(counts) as (keyof typeof counts)[]) {
          if (new RegExp(`(FROM|UPDATE|JOIN) ${table}\\b`).test(sql)) counts[table]++;
        }
        for (const partitions of await partitionsOf(sql)) t.is(partitions, `p${month}`, sql);
      }
      t.true(
        counts.orders >= 1 && counts.payments >= 3 && counts.payment_callbacks >= 2,
        JSON.stringify(counts),
      );
      const rows = await select<object>(
        `SELECT p.period, c.period AS attempt_period, o.period AS order_period, p.status, o.status AS order_status,
         o.payment_no = p.payment_no AS is_linked
       FROM payments p JOIN orders o ON o.order_no = p.order_no JOIN payment_callbacks c ON c.payment_no = p.payment_no
       WHERE p.payment_no = ?`,
        [payment.payment_no],
      );
      const states = { status: 'paid', order_status: 'paid', is_linked: 1 };
      t.deepEqual(rows, [{ period: month, attempt_period: month, order_period: month, ...states }]);
      const shown = await admin.get(`/payments/${payment.payment_no}`);
      t.true(shown.data.pay_time.startsWith(called.slice(0, 10)));
      const listed = await admin.get(
        `/payments?time_field=pay_time&start_time=${called.slice(0, 10)}&payment_no=${payment.payment_no}`,
      );
      t.is(listed.data.total, 1);
    },
  );
}

test.serial('an order of one month is paid by a payment of the next, and cancelled with it', async (t) => {
  const before = await adminAt('2027-03-31T23:00:00Z');
  const [paid, cancelled] = [await makeOrder(before), await makeOrder(before)];
  const admin = await adminAt('2027-04-01T01:00:00Z');
  const { id } = await makeMethod(admin);
  const [first, second] = await Promise.all(
    [paid, cancelled].map(
      async ({ order_no }) => (await admin.post('/payments', { order_no, payment_method_id: id })).data,
    ),
  );
  t.is(first.payment_no.slice(3, 9), '202704');
  await service.anonymous.post('//api/payment/notify/mock', mockCallback(first));
  await admin.put(`/orders/${cancelled.order_no}`, { status: 'cancelled' });
  t.is((await admin.get(`/orders/${paid.order_no}`)).data.payment_no, first.payment_no);
  t.is((await admin.get(`/payments/${second.payment_no}`)).data.status, 'cancelled');
  t.is((await admin.get(`/payments?payment_no=${second.payment_no}&status=cancelled`)).data.total, 1);
});

test.serial(
  'a month without a partition gets one at once, even behind a reader that is in the way',
  async (t) => {
    const admin = await adminAt('2029-06-15T00:00:00Z');
    const reader = await db.transaction();
    await db.query('SELECT COUNT(*) FROM orders', { transaction: reader });
    t.false((await periodsOf('orders')).includes(202906));
    const placing = makeOrder(admin);
    const [waiting] = await Promise.all([
      Promise.race([
        placing.then(() => 'done'),
        new Promise((resolve) => setTimeout(resolve, 500, 'waiting')),
      ]),
    ]);
    t.is(waiting, 'waiting');
    await reader.commit();
    t.is((await placing).order_no.slice(3, 9), '202906');
    t.true((await periodsOf('orders')).includes(202906));
  },
);

test.serial(
  'with the clock 36 months ahead nothing is refused, and partitions are extended once',
  async (t) => {
    const later = new Date();
    later.setUTCMonth(later.getUTCMonth() + 36);
    const admin = await adminAt(later);
    const payment = await makePayment(admin, (await makeMethod(admin)).id);
    t.is(
      (await service.anonymous.post('//api/payment/notify/mock', mockCallback(payment))).data.status,
      'paid',
    );
    t.is((await service.anonymous.post('//api/payment/notify/mock', {})).status, 400);
    await Promise.all([extendPartitions(), extendPartitions(), extendPartitions()]);
    const last = shiftPeriod(periodOf(later), 3);
    const sizes: number[] = [];
    for (const table of partitionedTables) {
      const periods = await periodsOf(table);
      t.is(periods.at(-1), last, table);
      for (const [index, period] of periods.entries())
        t.is(period, shiftPeriod(periods[0] as number, index), table);
      sizes.push(periods.length);
    }
    await extendPartitions();
    for (const [index, table] of partitionedTables.entries())
      t.is((await periodsOf(table)).length, sizes[index] ?? -1);
  },
);
