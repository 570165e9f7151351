// One sweep queues every row without a job, however many there are, and none twice. Money is settled before orders expire.
import '../support/settings/environment.js';
import test from 'ava';
import { Queue } from 'bullmq';
import { config } from '../../config/index.js';
import { expireOrder } from '../../src/jobs/expire-order.js';
import { change } from '../../src/lib/database/db.js';
import { newOrderNumber, newRefundNumber, periodOf } from '../../src/lib/values/numbers.js';
import { queuePrefix, type QueueName } from '../../src/lib/queue/names.js';
import { countJobs } from '../../src/lib/queue/queue.js';
import { redis } from '../../src/lib/redis/redis.js';
import { setClock } from '../../src/lib/values/clock.js';
import { consume } from '../../src/worker/consume.js';
import { queueMaintenance, sweep } from '../../src/worker/sweeper.js';
import { makeMethod, makeOrder, makePayment, mockCallback, somePaymentNumber } from '../support/factories.js';
import { serviceTest } from '../support/service-test.js';
import { statementsDuring } from '../support/statements.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });

const insertMany = (
  table: string,
  row: (index: number) => Record<string, string | number | Date>,
  length: number,
) => {
  const rows = Array.from({ length }, (_, index) => row(index));
  const columns = Object.keys(rows[0] as object);
  const places = `(${columns.map(() => '?').join(', ')})`;
  return change(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${rows.map(() => places).join(', ')}`,
    rows.flatMap((values) => Object.values(values)),
  );
};

const queued = async (queue: QueueName = 'payments'): Promise<number> => {
  const counts = (await countJobs()).find(({ name }) => name === queue);
  return (counts?.waiting ?? 0) + (counts?.delayed ?? 0);
};

test.serial('a callback is settled before the orders that were to expire earlier', async (t) => {
  const { id } = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, id);
  const orders = await Promise.all(Array.from({ length: 20 }, () => makeOrder(service.admin)));
  for (const { order_no } of orders) await expireOrder.enqueue({ order_no });
  const { data } = await service.anonymous.post('//api/payment/notify/mock', mockCallback(payment));
  t.is(data.status, 'processing');
  const statements = await statementsDuring(async () => {
    const worker = consume('payments');
    await until(async () => (await queued()) === 0);
    await worker.close();
  });
  const { status } = (await service.admin.get(`/payments/${payment.payment_no}`)).data;
  t.is(status, 'paid');
  const locks = statements.filter((sql) => sql.includes('FROM orders o') && sql.includes('FOR UPDATE'));
  t.is(locks.length, 1 + orders.length);
  const place = locks.findIndex((sql) => sql.includes(payment.order_no));
  // The jobs that begin at once have no order among each other.
  t.true(place < config.worker.concurrency, `after ${place} orders`);
});

test.serial('a sweep queues every overdue order and every unsettled callback once', async (t) => {
  const [past, future] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)];
  const period = periodOf(past);
  const made = { period, created_at: past };
  // Many share an instant, so that portions end among equals.
  const earlier = (index: number) => new Date(past.getTime() - Math.floor(index / 400));
  const order = (index: number) => ({
    ...{ ...made, order_no: newOrderNumber(past), user_id: 1, amount: 1, updated_at: past },
    ...{ status: index < 50 ? 'pending' : 'cancelled', expire_at: earlier(index) },
  });
  await insertMany('orders', order, 60);
  // More than a portion.
  const callback = (index: number) => ({
    ...{
      ...made,
      type: 'mock',
      payment_no: somePaymentNumber(past),
      third_party_no: String(index),
      body: '{}',
    },
    ...{ ip: '127.0.0.1', state: 'pending', verdict: 'verified', trace_id: 'sweep' },
    created_at: index < 650 ? earlier(index) : future,
  });
  await insertMany('payment_callbacks', callback, 700);
  await sweep();
  t.is(await queued(), 50 + 650);
  await sweep();
  t.is(await queued(), 50 + 650, 'young callbacks may be in hand, the others are queued already');
});

test.serial('a sweep queues due refunds, and the exports and imports that nobody works on', async (t) => {
  const [past, future] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)];
  const times = (index: number) => ({ created_at: past, updated_at: index < 3 ? past : future });
  const refund = (status: string, due: Date) => ({
    ...{ period: periodOf(past), refund_no: newRefundNumber(past), payment_no: somePaymentNumber(past) },
    ...{ order_no: newOrderNumber(past), user_id: 1, payment_method_id: 1, amount: 1, reason: 'x' },
    ...{ destination: 'channel', status, requested_by: 1, due_at: due, created_at: past, updated_at: past },
  });
  const states = ['pending', 'processing', 'succeeded', 'pending'];
  await insertMany('refunds', (index) => refund(states[index] ?? '', index < 3 ? past : future), 4);
  const transfer = { admin_id: 1, type: 'orders', filename: 'a.csv', language: 'en-US' };
  // Two are left behind, one has ended, one is in hand.
  const ended = (index: number) => Number(index === 2);
  await insertMany(
    'exports',
    (index) => ({ ...transfer, format: 'csv', filter: '{}', status: 2 * ended(index), ...times(index) }),
    4,
  );
  const file = { size: 1, encoding: 'utf-8', delimiter: ',' };
  await insertMany(
    'imports',
    (index) => ({ ...transfer, ...file, status: 2 * ended(index), concluded: ended(index), ...times(index) }),
    4,
  );
  await sweep();
  for (const queue of ['channels', 'exports', 'imports'] as const) t.is(await queued(queue), 2, queue);
});

test.serial('maintenance of a day is queued once, however late a worker runs', async (t) => {
  const queue = new Queue('maintenance', { prefix: queuePrefix('maintenance'), connection: redis });
  const queuedAt = async (time: string) => {
    setClock(new Date(time));
    await queueMaintenance();
    const jobs = await queue.getJobs(['waiting']);
    // What has run is not kept.
    await Promise.all(jobs.map((job) => job.remove()));
    return jobs.map(({ id }) => id);
  };
  t.teardown(() => setClock());
  t.deepEqual(await queuedAt('2028-03-01T03:16:59Z'), ['maintain-tables-2028-02-29']);
  t.deepEqual(await queuedAt('2028-03-01T03:17:30Z'), ['maintain-tables-2028-03-01']);
  t.deepEqual(await queuedAt('2028-03-01T19:00:00Z'), []);
  t.deepEqual(await queuedAt('2028-03-02T03:00:00Z'), []);
  t.deepEqual(await queuedAt('2028-03-02T09:00:00Z'), ['maintain-tables-2028-03-02']);
});
