// Redis stopped, frozen, full, emptied, killed: callbacks are accepted and applied all the same (docs/promises.md R7).
import '../support/settings/environment.js';
import test, { type ExecutionContext } from 'ava';
import { select } from '../../src/lib/database/db.js';
import { stateChanges, watchStates } from '../support/model/changes.js';
import { Client, type Answer } from '../support/client.js';
import {
  callBack,
  makeMethod,
  makeOrder,
  makePayment,
  makeUser,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { FaultyProxy } from '../support/servers/faulty-proxy.js';
import {
  killProcesses,
  runCli,
  startApi,
  startWorkerProcess,
  type TestProcess,
} from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { startOwnRedis, type OwnRedis } from '../support/servers/redis.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

let redis: OwnRedis;
let api: TestProcess;
let worker: TestProcess;
let callers: [Client, Client];
let methodId: number;

// The sweeper stays out of the way except where a test wants it.
const env = () => ({ ...redis.env, CALLBACK_WAIT_MS: '400', SWEEP_SECONDS: '59', SWEEP_AGE_SECONDS: '3600' });

processesTest(() => redis.remove());

test.before(async () => {
  redis = await startOwnRedis();
  await redis.stop();
  const [one, other, consumer] = await Promise.all([
    startApi(env()),
    startApi(env()),
    startWorkerProcess(env()),
  ]);
  [api, worker] = [one, consumer];
  await watchStates();
  const admin = await new Client(one.url).signIn();
  callers = [admin, admin.at(other.url)];
  methodId = (await makeMethod(admin)).id;
});

const notify = async (caller: Client, payment: MadePayment): Promise<Answer & { ms: number }> => {
  const begun = Date.now();
  const answer = await callBack(caller, payment);
  return { ...answer, ms: Date.now() - begun };
};

/** Everything about the payment happened exactly once. */
async function isPaidOnce(t: ExecutionContext, { payment_no, order_no }: MadePayment): Promise<void> {
  for (const number of [payment_no, order_no]) {
    await until(async () => (await stateChanges(number)).length > 0);
    t.deepEqual(await stateChanges(number), [{ number, before: 'pending', after: 'paid' }]);
  }
}

const isPaid = async ({ payment_no }: MadePayment): Promise<boolean> =>
  (await select('SELECT id FROM payments WHERE payment_no = ? AND status = ?', [payment_no, 'paid'])).length >
  0;

/** Callbacks are answered in time and paid, totals are exact on both processes, orders are made once. */
async function worksWithoutRedis(t: ExecutionContext, rounds = 2): Promise<MadePayment[]> {
  const [one, other] = callers;
  const user_id = (await makeUser(one)).id;
  const total = async () =>
    Promise.all(
      callers.map(
        async (caller) => (await caller.get(`/orders?user_id=${user_id}&status=pending`)).data.total,
      ),
    );
  const payments: MadePayment[] = [];
  for (let count = 1; count <= rounds; count++) {
    const caller = callers[count - 1] as Client;
    const payment = await makePayment(caller, methodId);
    payments.push(payment);
    const answer = await notify(caller, payment);
    t.is(answer.status, 200, answer.text);
    t.true(answer.ms < 2500, `answered after ${answer.ms} ms`);
    // Where each command is waited for, a slow machine answers `processing` before the payment is paid.
    await until(() => isPaid(payment));
    const order = await makeOrder(caller, '1', { user_id });
    t.deepEqual(await total(), [count, count], 'after creating');
    const otherCaller = caller === one ? other : one;
    await otherCaller.put(`/orders/${order.order_no}`, { status: 'cancelled' });
    t.deepEqual(await total(), [count - 1, count - 1], 'after cancelling');
    await makeOrder(otherCaller, '1', { user_id });
    t.deepEqual(await total(), [count, count], 'after creating at the other process');
  }
  return payments;
}

/** Delayed jobs are taken by the worker again, without the sweeper's help. */
async function queueWorks(t: ExecutionContext): Promise<void> {
  await until(async () => {
    const order = await makeOrder(callers[0], '1', { expire_in_seconds: 1 });
    const isCancelled = async () =>
      (await callers[0].get(`/orders/${order.order_no}`)).data?.status === 'cancelled';
    return until(isCancelled, 2000).catch(() => false);
  }, 30_000);
  t.is((await callers[0].get('//readyz')).status, 200);
}

test.serial('API and worker start without Redis', async (t) => {
  const payments = await worksWithoutRedis(t);
  await redis.start();
  await queueWorks(t);
  for (const payment of payments) await isPaidOnce(t, payment);
});

test.serial('callbacks are applied inline while Redis is frozen', async (t) => {
  // Connects all of them.
  await callers[0].get('/queues');
  redis.freeze();
  // Each command is waited for, so one round takes its time.
  const payments = await worksWithoutRedis(t, 1);
  t.true((api.output().match(/a queue connection failed/g) ?? []).length <= 1, 'logged once a minute');
  redis.thaw();
  await queueWorks(t);
  for (const payment of payments) await isPaidOnce(t, payment);
});

test.serial('callbacks are applied inline while Redis is stopped', async (t) => {
  const before = await makePayment(callers[0], methodId);
  t.is((await notify(callers[0], before)).data.status, 'paid');
  await redis.stop();
  const payments = await worksWithoutRedis(t);
  const ready = await callers[0].get('//readyz');
  t.deepEqual([ready.status, ready.data], [200, { status: 'ok', database: 'ok', redis: 'away' }]);
  t.is((await callers[0].get('//readyz?strict=1')).code, 50003);
  t.is((await callers[0].get('//healthz')).status, 200);
  await redis.start();
  await queueWorks(t);
  for (const payment of [before, ...payments]) await isPaidOnce(t, payment);
});

test.serial('callbacks are applied inline while Redis is full', async (t) => {
  await redis.run('CONFIG', 'SET', 'maxmemory', '1mb');
  await t.throwsAsync(redis.run('SET', 'filler', 'x'.repeat(2_000_000)), { message: /OOM/ });
  const payments = await worksWithoutRedis(t);
  t.like((await callers[0].get('//readyz')).data, { status: 'ok', redis: 'away' });
  t.is((await callers[0].get('/monitor/system-info')).data.redis.status, 'down');
  const { findings } = JSON.parse((await runCli(['--json', 'doctor'], redis.env)).output) as {
    findings: { check: string; says: string }[];
  };
  t.regex(findings.find(({ check }) => check === 'Redis')?.says ?? '', /maxmemory/);
  await redis.run('CONFIG', 'SET', 'maxmemory', '0');
  await queueWorks(t);
  for (const payment of payments) await isPaidOnce(t, payment);
});

test.serial('the sweeper settles acknowledged callbacks after Redis was emptied', async (t) => {
  await worker.kill();
  const payments = await Promise.all([1, 2, 3].map(() => makePayment(callers[0], methodId)));
  for (const payment of payments) {
    const { status, data } = await notify(callers[1], payment);
    t.deepEqual(
      [status, data],
      [200, { payment_no: payment.payment_no, order_no: payment.order_no, status: 'processing' }],
    );
  }
  const pending = await select(`SELECT id FROM payment_callbacks WHERE state = 'pending'`);
  t.is(pending.length, 3);
  const expiring = await makeOrder(callers[0], '1', { expire_in_seconds: 3 });
  const unpaid = { order_no: expiring.order_no, payment_method_id: methodId };
  const { data: cancelled } = await callers[0].post('/payments', unpaid);
  await redis.run('FLUSHALL');
  // BullMQ warns of a Redis that may remove jobs.
  await redis.run('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
  const begun = Date.now();
  worker = await startWorkerProcess({ ...env(), SWEEP_SECONDS: '1', SWEEP_AGE_SECONDS: '1' });
  await redis.run('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  for (const payment of payments) await isPaidOnce(t, payment);
  await until(
    async () => (await callers[0].get(`/payments/${cancelled.payment_no}`)).data.status === 'cancelled',
  );
  t.is((await callers[0].get(`/orders/${expiring.order_no}`)).data.status, 'cancelled');
  t.true(Date.now() - begun < 60_000);
});

test.serial('what a package prints becomes a line of the log', async (t) => {
  await until(() => /Eviction policy.*\n/.test(worker.output()));
  const [written] = /.*\n/s.exec(worker.output()) ?? [];
  for (const line of written?.trimEnd().split('\n') ?? []) t.notThrows(() => void JSON.parse(line), line);
});

test.serial('queued callbacks are settled after Redis was killed, and sockets hear of it', async (t) => {
  const { socket, changes } = await openSocket(callers[0].url, await ticketOf(callers[0]));
  t.teardown(() => socket.close());
  worker.child.kill('SIGSTOP');
  const payment = await makePayment(callers[0], methodId);
  t.is((await notify(callers[0], payment)).data.status, 'processing');
  await redis.stop('SIGKILL');
  await redis.start();
  worker.child.kill('SIGCONT');
  await isPaidOnce(t, payment);
  await until(async () => {
    await callers[0].post('/dictionaries', { name: 'n', code: unique() });
    return changes.flat().includes('dictionaries');
  });
});

test.serial('a Redis that has become a replica is left for its successor', async (t) => {
  await worker.kill();
  const [proxy, successor] = await Promise.all([FaultyProxy.start(redis.port), startOwnRedis()]);
  t.teardown(async () => {
    proxy.close();
    await killProcesses();
    await successor.remove();
  });
  const behind = { ...env(), REDIS_URL: `redis://127.0.0.1:${proxy.port}/0` };
  const [one, consumer] = await Promise.all([startApi(behind), startWorkerProcess(behind)]);
  worker = consumer;
  // The other one has no way to the successor.
  callers = [callers[0].at(one.url), callers[1]];
  await queueWorks(t);
  await redis.run('REPLICAOF', '127.0.0.1', successor.port);
  const payments = await worksWithoutRedis(t);
  const complaints = worker.output().match(/a worker connection failed/g) ?? [];
  t.true(complaints.length <= 16, `${complaints.length} lines, two for each queue`);
  // Its connections stay.
  proxy.leadTo(successor.port);
  await queueWorks(t);
  for (const payment of payments) await isPaidOnce(t, payment);
  await until(async () => (await callers[0].post('/notifications/ws-ticket')).status === 200);
});
