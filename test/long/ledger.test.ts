// A provider's ledger under kill -9 of API, worker, Redis and database in any order: what was acknowledged is what is paid (R1, R3).
import '../support/settings/environment.js';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'ava';
import { Client } from '../support/client.js';
import { startOwnDatabase, type OwnDatabase } from '../support/servers/database.js';
import { makeMethod, makePayment, mockCallback, type MadePayment } from '../support/factories.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { startOwnRedis, type OwnRedis } from '../support/servers/redis.js';
import { until } from '../support/until.js';

const parts = ['api', 'other api', 'worker', 'redis', 'database'] as const;
type Part = (typeof parts)[number];

const rounds = 14;
const providersAtOnce = 6;

let database: OwnDatabase;
let redis: OwnRedis;
let apis: [TestProcess, TestProcess];
let worker: TestProcess;
let admin: Client;

const env = () => ({ ...database.env, ...redis.env });

test.before(async () => {
  [database, redis] = await Promise.all([startOwnDatabase(), startOwnRedis()]);
  const [api, other, consumer] = await Promise.all([
    startApi(env()),
    startApi(env()),
    startWorkerProcess(env()),
  ]);
  [apis, worker] = [[api, other], consumer];
  admin = await new Client(api.url).signIn();
});

test.after.always(async () => {
  await killProcesses();
  await redis.remove();
  await database.remove();
});

const kill: Record<Part, () => Promise<void>> = {
  api: () => apis[0].kill(),
  'other api': () => apis[1].kill(),
  worker: () => worker.kill(),
  redis: () => redis.stop('SIGKILL'),
  database: () => database.stop('SIGKILL'),
};

const revive: Record<Part, () => Promise<void>> = {
  api: async () => void (apis[0] = await startApi(env())),
  'other api': async () => void (apis[1] = await startApi(env())),
  worker: async () => void (worker = await startWorkerProcess(env())),
  redis: () => redis.start(),
  database: () => database.start(),
};

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item);
}

/** One to three parts die one after the other; they come back in another order, the servers first. */
async function strike(): Promise<string> {
  const struck = shuffled(parts).slice(0, 1 + Math.floor(Math.random() * 3));
  for (const part of struck) {
    await kill[part]();
    await sleep(Math.random() * 400);
  }
  const isServer = (part: Part): boolean => part === 'redis' || part === 'database';
  const order = shuffled(struck).sort((one, other) => Number(isServer(other)) - Number(isServer(one)));
  for (const part of order) await revive[part]();
  return `${struck.join(', ')} killed; ${order.join(', ')} back`;
}

test('exactly the acknowledged callbacks are paid while processes are killed', async (t) => {
  const methodId = (await makeMethod(admin)).id;
  const acknowledged = new Set<string>();
  const made: MadePayment[] = [];
  let isOver = false;

  // A provider sends its callback to either API until one of them says 2xx, then continues with the next payment.
  const provide = async (): Promise<void> => {
    while (!isOver) {
      const caller = admin.at(apis[made.length % 2]?.url as string);
      const payment = await makePayment(caller, methodId).catch(() => undefined);
      if (!payment) continue;
      made.push(payment);
      for (let turn = 0; !acknowledged.has(payment.payment_no); turn++) {
        const api = apis[turn % 2] as TestProcess;
        const answer = await admin
          .at(api.url)
          .post('//api/payment/notify/mock', mockCallback(payment))
          .catch(() => undefined);
        if (answer?.status === 200) acknowledged.add(payment.payment_no);
        else await sleep(50);
      }
    }
  };
  const providers = Array.from({ length: providersAtOnce }, provide);

  let looks = 0;
  const halves: unknown[] = [];
  const watching = (async () => {
    while (!isOver) {
      const found = await database
        .select(
          `SELECT p.payment_no FROM payments p JOIN orders o ON o.order_no = p.order_no
           WHERE (p.status = 'paid') <> (o.status = 'paid')`,
        )
        .catch(() => undefined);
      if (found) looks++;
      halves.push(...(found ?? []));
      await sleep(20);
    }
  })();

  for (let round = 0; round < rounds; round++) {
    const before = acknowledged.size;
    t.log(`${acknowledged.size} acknowledged; ${await strike()}`);
    await until(() => acknowledged.size >= before + 10, 60_000);
  }
  isOver = true;
  await Promise.all([...providers, watching]);

  const unsettled = `SELECT id FROM payment_callbacks WHERE state = 'pending'`;
  await until(async () => (await database.select(unsettled)).length === 0, 60_000, 200);
  const paid = await database.select<{ payment_no: string }>(
    `SELECT payment_no FROM payments WHERE status = 'paid' AND needs_attention = 0`,
  );
  t.true(acknowledged.size >= rounds * 10);
  t.deepEqual(paid.map(({ payment_no }) => payment_no).sort(), [...acknowledged].sort());
  const [effects] = await database.select<object>(
    `SELECT COUNT(*) AS verdicts, COUNT(DISTINCT payment_no) AS payments,
       (SELECT COUNT(*) FROM orders WHERE status = 'paid') AS orders,
       (SELECT COUNT(*) FROM third_party_numbers) AS numbers,
       (SELECT COUNT(*) FROM notifications WHERE event_key LIKE 'attention-%') AS notifications
     FROM payment_callbacks WHERE verdict = 'paid'`,
  );
  const total = acknowledged.size;
  t.deepEqual(
    { ...effects },
    { verdicts: total, payments: total, orders: total, numbers: total, notifications: 0 },
  );
  t.deepEqual(halves, [], 'nobody saw a payment paid and its order not, or the other way round');
  t.true(looks > 50);
});
