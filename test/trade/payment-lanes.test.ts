// Payments over several queues: each job has its lane by its id, and a worker consumes all of them.
import '../support/environment.js';
import test from 'ava';
import { queuePrefix } from '../../src/lib/queue/names.js';
import { redis } from '../../src/lib/redis/redis.js';
import { makeMethod, makeOrder, makePayment, mockCallback } from '../support/factories.js';
import { killProcesses, startApi, startWorkerProcess } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';
import type { Client } from '../support/client.js';

const lanes = [0, 1, 2];

let service: Service;
let admin: Client;

test.before(async () => {
  service = await startService({ withWorker: false });
  const env = { PAYMENT_LANES: String(lanes.length) };
  const api = await startApi(env);
  await startWorkerProcess(env);
  admin = service.admin.at(api.url);
});

test.after.always(async () => {
  await killProcesses();
  await service.stop();
});

/** Jobs that were ever put into a lane. */
const jobsIn = async (lane: number): Promise<number> =>
  Number(await redis.xlen(`${queuePrefix('payments', lane)}:payments:events`));

test('callbacks are settled over all lanes', async (t) => {
  const { id } = await makeMethod(admin);
  const payments = await Promise.all(Array.from({ length: 40 }, () => makePayment(admin, id)));
  const before = await Promise.all(lanes.map(jobsIn));
  for (const payment of payments)
    t.is((await admin.post('//api/payment/notify/mock', mockCallback(payment))).status, 200);
  for (const { payment_no } of payments)
    await until(async () => (await admin.get(`/payments/${payment_no}`)).data.status === 'paid');
  const after = await Promise.all(lanes.map(jobsIn));
  for (const lane of lanes) t.true((after[lane] ?? 0) > (before[lane] ?? 0), `lane ${lane} had no job`);
});

test('orders expire over all lanes', async (t) => {
  const orders = await Promise.all(
    Array.from({ length: 12 }, () => makeOrder(admin, '1', { expire_in_seconds: 1 })),
  );
  for (const { order_no } of orders)
    await until(async () => (await admin.get(`/orders/${order_no}`)).data.status === 'cancelled');
  t.pass();
});

test('the jobs of all lanes are counted as one queue', async (t) => {
  const { data } = await admin.get('/queues');
  const names = data.list.map(({ name }: { name: string }) => name);
  t.is(names.filter((name: string) => name === 'payments').length, 1);
});
