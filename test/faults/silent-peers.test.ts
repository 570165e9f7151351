// Established connections go silent while new ones work, as after a lost NAT entry or a failover without a word: nothing
// hangs, nothing is acknowledged that is not true, all is well within 15 s (docs/operations.md, Timeouts).
import '../support/environment.js';
import test, { type ExecutionContext } from 'ava';
import { select } from '../../src/lib/database/db.js';
import { Client, type Answer } from '../support/client.js';
import { makeMethod, makeOrder, makeUser, unique } from '../support/factories.js';
import { maxAnswerMs, mustHold } from '../support/figures.js';
import { Load } from '../support/load.js';
import { startApi, startWorkerProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { beforeDatabase, beforeRedis, type Loss, type FaultyProxy } from '../support/faulty-proxy.js';
import { until } from '../support/until.js';

const recoveryMs = 15_000;

let database: Awaited<ReturnType<typeof beforeDatabase>>;
let redis: Awaited<ReturnType<typeof beforeRedis>>;
let admin: Client;
let load: Load;

const figures = { faults: 0, worstRecoveryMs: 0 };

test.before(async () => {
  [database, redis] = await Promise.all([beforeDatabase(), beforeRedis()]);
  const env = { ...database.env, ...redis.env };
  const [api] = await Promise.all([startApi(env), startWorkerProcess(env)]);
  admin = await new Client(api.url).signIn();
  load = await Load.prepare(admin, (await makeMethod(admin)).id);
});

processesTest(() => {
  load?.abandon();
  for (const proxy of [database, redis]) proxy?.close();
});

function record(ms: number): number {
  figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, ms);
  return ms;
}

/** An order runs out although nobody asks for it: the worker works. */
async function expires(): Promise<void> {
  const order = await until(() => makeOrder(admin, '1', { expire_in_seconds: 1 }).catch(() => undefined));
  const isCancelled = async () =>
    (await select(`SELECT 1 FROM orders WHERE order_no = ? AND status = 'cancelled'`, [order.order_no]))
      .length === 1;
  await until(isCancelled, 45_000);
}

async function staysHonest(t: ExecutionContext, proxy: FaultyProxy, loss: Loss): Promise<void> {
  const since = Date.now();
  t.true(proxy.forget(loss) > 0, 'there were connections to lose');
  figures.faults++;
  const worker = expires().then(() => Date.now() - since);
  load.start();
  const callerMs = record(await load.isWell(since));
  const workerMs = record(await worker);
  t.true(callerMs < recoveryMs, `callers were served well after ${callerMs} ms`);
  t.true(workerMs < recoveryMs, `the worker worked after ${workerMs} ms`);
  await until(async () => (await admin.get('//readyz')).data?.redis === 'ok', recoveryMs);
  await load.stop();
  t.deepEqual(load.unexpected, []);
}

const peers = [
  ['the database', () => database],
  ['Redis', () => redis],
] as const;

for (const [name, proxy] of peers) {
  test.serial(`the first requests after an idle silence of ${name} are answered`, async (t) => {
    await load.stop();
    await staysHonest(t, proxy(), 'everything');
  });

  for (const loss of ['everything', 'answers'] as const) {
    const lost = loss === 'everything' ? 'neither side is heard' : 'its answers are lost';
    test.serial(`requests under load are answered within 15 s of silence of ${name}, ${lost}`, async (t) => {
      load.start();
      await load.flows();
      await staysHonest(t, proxy(), loss);
    });
  }
}

test.serial('requests acknowledged under load are in the database once', async (t) => {
  await load.stop();
  const counted = await load.figures();
  mustHold(t, { ...figures, ...counted });
  t.true(counted.acknowledged > 100, `${counted.acknowledged} were acknowledged`);
});

test.serial('a commit whose reply is lost is answered truthfully', async (t) => {
  const { id } = await makeUser(admin);
  for (const loss of ['answers', 'everything'] as const) {
    const body = { type: 'income', amount: '1.00', request_id: unique('r') };
    const count = async () =>
      (await select('SELECT id FROM user_balance_logs WHERE request_id = ?', [body.request_id])).length;
    database.forgetAt('COMMIT', loss);
    const begun = Date.now();
    const first = await admin.post(`/users/${id}/update-balance`, body);
    t.true(Date.now() - begun < maxAnswerMs);
    t.true([200, 503].includes(first.status), first.text);
    if (first.status === 200) t.is(await count(), 1);
    await until(
      async () => (await admin.post(`/users/${id}/update-balance`, body)).status === 200,
      recoveryMs,
    );
    t.is(await count(), 1);
  }
});

test.serial('an order whose commit is unconfirmed is placed once', async (t) => {
  const { id: user_id } = await makeUser(admin);
  for (const loss of ['answers', 'everything'] as const) {
    const key = { 'Idempotency-Key': unique('key') };
    const body = {
      user_id,
      remark: unique('o'),
      details: [{ product_name: 'Tea', price: '1.00', quantity: 1 }],
    };
    const made = () => select<{ id: number }>('SELECT id FROM orders WHERE remark = ?', [body.remark]);
    database.forgetAt('INSERT INTO orders', loss);
    const first = await admin.post('/orders', body, key);
    t.true([200, 503].includes(first.status), first.text);
    if (first.status === 200) t.deepEqual(await made(), [{ id: first.data.id }]);
    let again: Answer | undefined;
    await until(async () => (again = await admin.post('/orders', body, key)).status === 200, recoveryMs);
    t.deepEqual(await made(), [{ id: again?.data.id }]);
    const lines =
      'SELECT d.id FROM order_details d JOIN orders o ON o.order_no = d.order_no WHERE o.remark = ?';
    t.is((await select(lines, [body.remark])).length, 1);
  }
});

test.serial('a file whose second transaction is lost is refused', async (t) => {
  const name = `${unique('f')}.csv`;
  // The first one reserves the file; this one gives it its import, and does not arrive.
  let seen = 0;
  const parts = [name, 'INSERT INTO operation_logs', 'COMMIT'];
  database.decide((said) => {
    if (said.includes(parts[seen] as string)) seen++;
    if (seen < parts.length) return undefined;
    database.decide();
    return 'cut';
  });
  const answer = await admin.upload('/orders/import', 'user_id,amount\n1,1.00', { filename: name });
  t.is(seen, parts.length);
  t.deepEqual([answer.status, answer.errorCode], [503, 'database_unavailable'], answer.text);
  t.is((await select('SELECT id FROM imports WHERE filename = ?', [name])).length, 0);
});
