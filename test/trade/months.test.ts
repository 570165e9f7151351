// Month partitions: a callback in the month after its payment, months without a partition, a clock far ahead.
import '../support/settings/environment.js';
import test from 'ava';
import { setClock, stopClock } from '../../src/lib/values/clock.js';
import { change, db, select } from '../../src/lib/database/db.js';
import { periodOf, shiftPeriod } from '../../src/lib/values/numbers.js';
import { checkBooks } from '../../src/models/figures/consistency.js';
import { extendPartitions, partitionedTables } from '../../src/models/tables/partitions.js';
import type { Client } from '../support/client.js';
import {
  callBack,
  makeMethod,
  makeOrder,
  makePayment,
  makePaymentOf,
  makeUser,
} from '../support/factories.js';
import { partitionsOf, planOf, statementsDuring } from '../support/statements.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

test.serial.after.always(() => setClock());

const service = serviceTest();

/** An administrator signed in at that instant, from which the clock runs. */
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
    (sql) => /^(SELECT|UPDATE)/.test(sql) && tables.test(sql) && !/LIMIT [15]00+$/.test(sql),
  );
}

// A leap year so far ahead that its months and those of the year before have partitions of their own.
const leap = 4 * Math.ceil((new Date().getUTCFullYear() + 2) / 4);

for (const [made, called] of [
  [`${leap - 1}-01-01T00:00:00.000Z`, `${leap - 1}-01-31T23:59:59.999Z`],
  [`${leap - 1}-01-31T23:59:59.999Z`, `${leap - 1}-02-01T00:00:00.000Z`],
  [`${leap - 1}-12-31T23:59:59.999Z`, `${leap}-01-01T00:00:00.000Z`],
  [`${leap}-02-29T00:00:00.000Z`, `${leap}-02-29T23:59:59.999Z`],
  [`${leap}-02-29T23:59:59.999Z`, `${leap}-03-01T00:00:00.000Z`],
  [`${leap - 1}-11-30T23:59:59.999Z`, `${leap}-12-31T23:59:59.999Z`],
  [`${leap}-02-29T12:00:00.000Z`, `${leap + 1}-03-31T23:59:59.999Z`],
] as const) {
  test.serial(
    `a payment made at ${made} and called back at ${called} is settled in one partition`,
    async (t) => {
      const before = await adminAt(made);
      stopClock(new Date(made));
      const payment = await makePayment(before);
      const month = Number(made.slice(0, 7).replace('-', ''));
      t.is(payment.payment_no.slice(3, 11), made.slice(0, 10).replaceAll('-', ''));
      t.is(payment.order_no.slice(3, 9), String(month));
      const admin = await adminAt(called);
      stopClock(new Date(called));
      const statements = await touchedDuring(async () => {
        const answer = await callBack(service.anonymous, payment);
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
        for (const partitions of await partitionsOf(sql)) {
          const names = partitions.split(',');
          // Other payments of the order may have been made since.
          if (/SET p\.status = 'cancelled'/.test(sql))
            t.true(
              names.every((name) => name >= `p${month}`),
              sql,
            );
          else t.deepEqual(names, [`p${month}`], sql);
        }
      }
      t.true(
        counts.orders >= 1 && counts.payments >= 3 && counts.payment_callbacks >= 1,
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
      t.deepEqual([shown.data.created_at, shown.data.pay_time], [made, called]);
      const listed = await admin.get(
        `/payments?time_field=pay_time&start_time=${called.slice(0, 10)}&payment_no=${payment.payment_no}`,
      );
      t.is(listed.data.total, 1);
    },
  );
}

test.serial('an order is paid by a payment of the next month', async (t) => {
  const before = await adminAt('2027-03-31T23:00:00Z');
  const [paid, cancelled] = [await makeOrder(before), await makeOrder(before)];
  const admin = await adminAt('2027-04-01T01:00:00Z');
  const { id } = await makeMethod(admin);
  const first = await makePaymentOf(admin, paid, id);
  const second = await makePaymentOf(admin, cancelled, id);
  t.is(first.payment_no.slice(3, 9), '202704');
  await callBack(service.anonymous, first);
  await admin.put(`/orders/${cancelled.order_no}`, { status: 'cancelled' });
  t.is((await admin.get(`/orders/${paid.order_no}`)).data.payment_no, first.payment_no);
  t.is((await admin.get(`/payments/${second.payment_no}`)).data.status, 'cancelled');
  t.is((await admin.get(`/payments?payment_no=${second.payment_no}&status=cancelled`)).data.total, 1);
});

test.serial('a missing month gets its partition at once even behind a long read', async (t) => {
  const admin = await adminAt(`${leap + 1}-06-15T00:00:00Z`);
  const june = (leap + 1) * 100 + 6;
  const reader = await db.transaction();
  await db.query('SELECT COUNT(*) FROM orders', { transaction: reader });
  t.false((await periodsOf('orders')).includes(june));
  const placing = makeOrder(admin);
  await until(
    async () =>
      (
        await select(
          "SELECT 1 FROM information_schema.processlist WHERE state LIKE '%metadata lock%' AND db = DATABASE()",
        )
      ).length > 0,
  );
  await reader.commit();
  t.is((await placing).order_no.slice(3, 9), String(june));
  t.true((await periodsOf('orders')).includes(june));
});

test.serial('files are taken while the log has no partition of the month', async (t) => {
  const admin = await adminAt(`${leap + 1}-08-15T00:00:00Z`);
  const august = (leap + 1) * 100 + 8;
  const { id } = await makeUser(admin);
  for (const [path, filename, content] of [
    ['/attachments/upload', 'a.txt', 'hello'],
    ['/orders/import', 'a.csv', `user_id,amount\n${id},5\n`],
  ] as const) {
    const months = (await periodsOf('operation_logs')).filter((period) => period >= august);
    await db.query(`ALTER TABLE operation_logs DROP PARTITION ${months.map((month) => `p${month}`).join()}`);
    t.is((await admin.upload(path, content, { filename })).status, 200, path);
    t.true((await periodsOf('operation_logs')).includes(august));
  }
});

const newYork = 'America/New_York';

for (const { title, zone, day, inside, outside, offset } of [
  {
    title: 'the first of a month in Shanghai, which begins in the month before',
    ...{ zone: 'Asia/Shanghai', day: '2027-06-01', offset: '+08:00' },
    inside: ['2027-05-31T16:00:00.000Z', '2027-06-01T15:59:59.999Z'],
    outside: ['2027-05-31T15:59:59.999Z', '2027-06-01T16:00:00.000Z'],
  },
  {
    title: 'the last of a month in New York, which ends in the next one',
    ...{ zone: newYork, day: '2027-06-30', offset: '-04:00' },
    inside: ['2027-06-30T04:00:00.000Z', '2027-07-01T03:59:59.999Z'],
    outside: ['2027-06-30T03:59:59.999Z', '2027-07-01T04:00:00.000Z'],
  },
  {
    title: 'the day of 23 hours on which summer time begins',
    ...{ zone: newYork, day: '2027-03-14', offset: '-0[45]:00' },
    inside: ['2027-03-14T05:00:00.000Z', '2027-03-15T03:59:59.999Z'],
    outside: ['2027-03-14T04:59:59.999Z', '2027-03-15T04:00:00.000Z'],
  },
  {
    title: 'the day of 25 hours on which summer time ends',
    ...{ zone: newYork, day: '2027-11-07', offset: '-0[45]:00' },
    inside: ['2027-11-07T04:00:00.000Z', '2027-11-08T04:59:59.999Z'],
    outside: ['2027-11-07T03:59:59.999Z', '2027-11-08T05:00:00.000Z'],
  },
]) {
  test.serial(`payments are found by the day they were paid: ${title}`, async (t) => {
    const before = await adminAt('2027-01-31T12:00:00Z');
    const method = await makeMethod(before);
    for (const instant of [...inside, ...outside]) {
      setClock(new Date('2027-01-31T12:00:00Z'));
      const payment = await makePayment(before, method.id);
      stopClock(new Date(instant));
      t.is((await callBack(service.anonymous, payment)).data.status, 'paid');
    }
    const admin = await adminAt('2027-12-01T00:00:00Z');
    const list = `/payments?payment_method_id=${method.id}&time_field=pay_time&order_by=pay_time:asc`;
    const days = `start_time=${day}&end_time=${day}`;
    const range = `${list}&${days}`;
    const { data } = await admin.get(`${range}&timezone=${zone}`);
    const times = data.list.map(({ pay_time }: { pay_time: string }) => pay_time);
    t.deepEqual(
      times.map((time: string) => new Date(time).toISOString()),
      inside,
    );
    t.is(data.total, inside.length);
    for (const time of times) t.regex(time, new RegExp(`^${day}T.*${offset.replace('+', '\\+')}$`));
    const inHeader = await admin.get(range, { 'X-Timezone': zone });
    t.deepEqual(inHeader.data.list, data.list);
    const made = await admin.get(`/payments?payment_method_id=${method.id}&${days}`);
    t.is(made.data.total, 0, 'by when they were made');
    const [start, end] = inside as [string, string];
    const exact = await admin.get(`${list}&start_time=${start}&end_time=${end}`);
    t.deepEqual(
      exact.data.list.map(({ pay_time }: { pay_time: string }) => pay_time),
      inside,
    );
  });
}

test.serial('a payment is found by a time of its company just before its month', async (t) => {
  const admin = await adminAt('2027-02-01T00:00:10Z');
  const { payment_no } = await makePayment(admin, (await makeMethod(admin)).id);
  const paidAt = new Date('2027-01-31T23:59:50Z');
  await change('UPDATE payments SET pay_time = ? WHERE payment_no = ?', [paidAt, payment_no]);
  const { data } = await admin.get('/payments?time_field=pay_time&start_time=2027-01-31&end_time=2027-01-31');
  t.true(data.list.some((payment: { payment_no: string }) => payment.payment_no === payment_no));
});

test.serial('no write is refused while partitions are added over a year', async (t) => {
  // From the last month that has one.
  const made = (await periodsOf('orders')).at(-1) as number;
  const monthsOn = (months: number) =>
    new Date(Date.UTC(Math.floor(made / 100), (made % 100) - 1 + months, 15));
  for (let month = 1; month <= 12; month++) {
    const admin = await adminAt(monthsOn(month));
    const { id } = await makeMethod(admin);
    let isMaintained = false;
    const maintaining = Promise.all([extendPartitions(), extendPartitions()]).finally(
      () => (isMaintained = true),
    );
    const writing = [1, 2].map(async () => {
      do {
        const payment = await makePayment(admin, id);
        const { status, data } = await callBack(service.anonymous, payment);
        t.deepEqual([status, data?.status], [200, 'paid']);
      } while (!isMaintained);
    });
    await Promise.all([maintaining, ...writing]);
  }
  const last = shiftPeriod(periodOf(monthsOn(12)), 3);
  for (const table of partitionedTables) {
    const periods = await periodsOf(table);
    t.true((periods.at(-1) as number) >= last, table);
    const gapless = periods.map((_, index) => shiftPeriod(periods[0] as number, index));
    t.deepEqual(periods, gapless, table);
  }
  const sizes = async () =>
    Promise.all(partitionedTables.map(async (table) => (await periodsOf(table)).length));
  const before = await sizes();
  await Promise.all([extendPartitions(), extendPartitions(), extendPartitions()]);
  t.deepEqual(await sizes(), before);
});

test.serial('the check of the books looks for an order or a payment in its own month', async (t) => {
  const statements = (await statementsDuring(checkBooks)).filter((sql) =>
    /LEFT JOIN (orders|payments) /.test(sql),
  );
  t.is(statements.length, 2);
  for (const sql of statements) {
    // With the number alone it would be ref: one lookup in each partition.
    t.true(
      (await planOf(sql)).some(({ type }) => type === 'eq_ref'),
      sql,
    );
  }
});
