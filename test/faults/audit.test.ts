// The audit trail outlives Redis, the process that wrote it and the database: the entry of a write is committed with it, once.
import '../support/settings/environment.js';
import test, { type ExecutionContext } from 'ava';
import { Client, type Answer } from '../support/client.js';
import { startOwnDatabase, type OwnDatabase } from '../support/servers/database.js';
import { makeMethod, makePayment, makeUser, mockCallback, unique } from '../support/factories.js';
import { mustHold } from '../support/figures.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { startOwnRedis, type OwnRedis } from '../support/servers/redis.js';
import { until } from '../support/until.js';

let database: OwnDatabase;
let redis: OwnRedis;
let api: TestProcess;
let admin: Client;

const figures = {
  faults: 0,
  sent: 0,
  acknowledged: 0,
  lost: 0,
  doubled: 0,
  worstHangMs: 0,
  worstRecoveryMs: 0,
};

const env = () => ({ ...database.env, ...redis.env });

test.before(async () => {
  [database, redis] = await Promise.all([startOwnDatabase(), startOwnRedis()]);
  api = await startApi(env());
  admin = await new Client(api.url).signIn();
});

test.after.always(async () => {
  await killProcesses();
  await Promise.all([database?.remove(), redis?.remove()]);
});

async function timed(answer: Promise<Answer>): Promise<Answer> {
  const begun = Date.now();
  figures.sent++;
  const done = await answer;
  figures.worstHangMs = Math.max(figures.worstHangMs, Date.now() - begun);
  if (done.status === 200) figures.acknowledged++;
  return done;
}

const traceOf = ({ text }: Answer): string => (JSON.parse(text) as { trace_id: string }).trace_id;

/** Balance changes and new orders of one user. @returns what their entries are found by */
async function write(count: number): Promise<string[]> {
  const { id } = await makeUser(admin);
  const details = [{ product_name: 'Tea', price: '1.00', quantity: 1 }];
  const change = { type: 'income', amount: '1.00' };
  const answers = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      timed(
        index % 2 === 0
          ? admin.post('/orders', { user_id: id, details })
          : admin.post(`/users/${id}/update-balance`, { ...change, request_id: unique('r') }),
      ),
    ),
  );
  return answers.filter(({ status }) => status === 200).map(traceOf);
}

/** Every one of them has its entry, once. */
async function areLogged(t: ExecutionContext, traces: string[]): Promise<void> {
  const begun = Date.now();
  const found = async () => {
    const sql = `SELECT trace_id FROM operation_logs WHERE trace_id IN (${traces.map(() => '?').join(', ')})`;
    return (await database.select<{ trace_id: string }>(sql, traces)).map(({ trace_id }) => trace_id);
  };
  await until(async () => new Set(await found()).size === traces.length, 30_000).catch(() => undefined);
  figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, Date.now() - begun);
  const logged = await found();
  figures.lost += traces.filter((trace) => !logged.includes(trace)).length;
  figures.doubled += logged.length - new Set(logged).size;
  t.deepEqual(logged.sort(), [...traces].sort());
}

test.serial(
  'entries of writes and of a replay survive an emptied Redis and the end of their API',
  async (t) => {
    const traces = await write(20);
    t.is(traces.length, 20);
    const method = await makeMethod(admin, 'mistyped');
    const payment = await makePayment(admin, method.id);
    const { payment_no } = payment;
    const callback = mockCallback(payment, 'the real one');
    t.is((await admin.post('//api/payment/notify/mock', callback)).errorCode, 'payment_sign_invalid');
    await admin.put(`/payment-methods/${method.id}`, { shared_secret: 'the real one' });
    const [refused] = (await admin.get(`/payments/${payment_no}`)).data.callbacks as { id: number }[];
    const trace = unique('replay-');
    const path = `/payments/${payment_no}/callbacks/${refused?.id}/replay`;
    // Without a worker it waits to be settled.
    const answered = admin.post(path, {}, { 'X-Trace-Id': trace }).catch(() => undefined);
    const pending = `SELECT id FROM payment_callbacks WHERE payment_no = ? AND state = 'pending'`;
    await until(async () => (await database.select(pending, [payment_no])).length === 1);
    await api.kill();
    t.is(await answered, undefined);
    await redis.run('FLUSHALL');
    figures.faults += 2;
    api = await startApi(env());
    admin = admin.at(api.url);
    await areLogged(t, [...traces, trace]);
    t.is(
      (await admin.get(`/payments/${payment_no}`)).data.status,
      'pending',
      'it is stored before what it pays',
    );
    const worker = await startWorkerProcess(env());
    await until(async () => (await admin.get(`/payments/${payment_no}`)).data.status === 'paid');
    await worker.kill();
    await areLogged(t, [trace]);
  },
);

/** Attempts to sign in, at first many at once, then one after another. */
async function tryToSignIn(t: ExecutionContext): Promise<void> {
  const attempt = async () => {
    const body = { username: unique('nobody'), password: 'wrong-password' };
    t.is((await timed(admin.post('/login', body))).status, 503);
  };
  await Promise.all(Array.from({ length: 20 }, attempt));
  for (let count = 0; count < 10; count++) await attempt();
}

test.serial(
  'entries of a database outage wait in Redis, also those of a process that has died',
  async (t) => {
    const traces = await write(10);
    await database.stop('SIGKILL');
    figures.faults++;
    t.is((await timed(admin.put('/profile', { nickname: 'x' }))).status, 503);
    await tryToSignIn(t);
    await until(async () => (await redis.run('KEYS', '*write-logs*')) !== '');
    await api.kill();
    await database.start();
    api = await startApi(env());
    admin = admin.at(api.url);
    const worker = await startWorkerProcess(env(), 'logs');
    await areLogged(t, traces);
    const lines = `SELECT id FROM system_logs WHERE message = 'a request failed' AND context LIKE '%/api/admin/login%'`;
    await until(async () => (await database.select(lines)).length >= 10, 60_000);
    await worker.kill();
  },
);

test.serial('a worker that cannot read the failed jobs does not log the writing of its log', async (t) => {
  const name = process.env.DB_NAME;
  await database.select(`RENAME TABLE ${name}.failed_jobs TO ${name}.hidden_jobs`);
  const worker = await startWorkerProcess(env(), 'logs');
  const lines = () => worker.output().split('closing the failure of a job failed').length - 1;
  for (const _ of [1, 2, 3]) {
    const before = lines();
    await areLogged(t, await write(2));
    await until(() => lines() > before);
  }
  const entries = await database.select(
    `SELECT id FROM ${name}.system_logs WHERE message = 'closing the failure of a job failed'`,
  );
  t.deepEqual(entries, []);
});

test.serial('no entry was lost or doubled', (t) => {
  mustHold(t, figures);
});
