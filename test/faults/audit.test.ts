// The audit trail outlives Redis, the process that wrote it and the database: what was answered is in the log tables, once,
// and a log that fails says so once a minute.
import '../support/environment.js';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
import { newUlid } from '../../src/lib/secrets/random-id.js';
import { Client, type Answer } from '../support/client.js';
import { startOwnDatabase, type OwnDatabase } from '../support/database.js';
import { makeMethod, makeOrder, makePayment, makeUser, mockCallback, unique } from '../support/factories.js';
import { mustHold } from '../support/figures.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { startOwnRedis, type OwnRedis } from '../support/redis.js';
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
async function areLogged(
  t: ExecutionContext,
  table: 'operation_logs' | 'login_logs' | 'system_logs',
  column: 'trace_id' | 'log_key',
  values: string[],
): Promise<void> {
  const begun = Date.now();
  const found = async () =>
    (
      await database.select<{ value: string }>(
        `SELECT ${column} AS value FROM ${table} WHERE ${column} IN (${values.map(() => '?').join(', ')})`,
        values,
      )
    ).map(({ value }) => value);
  await until(async () => new Set(await found()).size === values.length, 30_000).catch(() => undefined);
  figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, Date.now() - begun);
  const logged = await found();
  figures.lost += values.filter((value) => !logged.includes(value)).length;
  figures.doubled += logged.length - new Set(logged).size;
  t.deepEqual(logged.sort(), [...values].sort());
}

test.serial('entries survive emptied Redis while the workers are stopped', async (t) => {
  const traces = await write(20);
  t.is(traces.length, 20);
  await redis.run('FLUSHALL');
  figures.faults++;
  const worker = await startWorkerProcess(env(), 'logs');
  await areLogged(t, 'operation_logs', 'trace_id', traces);
  await worker.kill();
});

test.serial('the entry of an API killed after its answer is written', async (t) => {
  const traces: string[] = [];
  for (let round = 0; round < 2; round++) {
    traces.push(...(await write(6)));
    await api.kill();
    figures.faults++;
    api = await startApi(env());
    admin = admin.at(api.url);
  }
  t.is(traces.length, 12);
  // What its process could not complete goes on as it is, two minutes later.
  const connection = await database.connect();
  await connection.query('UPDATE log_outbox SET stored_at = stored_at - INTERVAL 3 MINUTE');
  connection.destroy();
  const worker = await startWorkerProcess(env(), 'logs');
  await areLogged(t, 'operation_logs', 'trace_id', traces);
  await worker.kill();
});

test.serial('the entry of a replay is stored before what it pays', async (t) => {
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
  figures.faults++;
  t.is(await answered, undefined);
  const entries = 'SELECT entry FROM log_outbox WHERE JSON_VALUE(entry, ?) = ?';
  t.is((await database.select(entries, ['$.trace_id', trace])).length, 1);
  api = await startApi(env());
  admin = admin.at(api.url);
  await database.run(
    `UPDATE \`${process.env.DB_NAME}\`.log_outbox SET stored_at = stored_at - INTERVAL 3 MINUTE`,
  );
  const worker = await startWorkerProcess(env());
  await areLogged(t, 'operation_logs', 'trace_id', [trace]);
  await until(async () => (await admin.get(`/payments/${payment_no}`)).data.status === 'paid');
  await worker.kill();
});

test.serial('a log that takes information does not log that it was written', async (t) => {
  const worker = await startWorkerProcess({ ...env(), SYSTEM_LOG_LEVEL: 'info' });
  const linesOf = (job: string) =>
    database.select<{ id: number }>(
      `SELECT id FROM system_logs WHERE message = 'job' AND JSON_VALUE(context, '$.job') = ?`,
      [job],
    );
  // The second line comes after the first one was moved.
  for (const lines of [1, 2]) {
    await makeOrder(admin, '1', { expire_in_seconds: 1 });
    await until(async () => (await linesOf('expire-order')).length >= lines, 30_000);
  }
  t.deepEqual(await linesOf('write-logs'), []);
  await worker.kill();
});

const spoolFolder = join(config.storage.root, 'log-spool');

test.serial('unreadable lines on the disk keep no others from the log', async (t) => {
  await api.kill();
  const keys = [newUlid(), newUlid(), newUlid()];
  const lines = keys.map((log_key) => {
    const entry = { log_key, level: 'warning', module: 'api', message: 'spooled', context: null };
    const rest = { trace_id: '', created_at: new Date().toISOString() };
    return JSON.stringify({ kind: 'system', entry: { ...entry, ...rest } });
  });
  const [first, second, third] = lines as [string, string, string];
  mkdirSync(spoolFolder, { recursive: true });
  // Of processes that have died: a line cut by a full disk with the next one on it, an entry that nothing takes, half a line.
  const glued = `${first.slice(0, 40)}${first}`;
  const untaken = JSON.stringify({ kind: 'no such kind at all', entry: { log_key: 'x'.repeat(500) } });
  writeFileSync(
    join(spoolFolder, `${hostname()}-4999998.ndjson`),
    [glued, first, untaken, second].join('\n'),
  );
  writeFileSync(join(spoolFolder, `${hostname()}-4999999.ndjson`), `${third}\n${third.slice(0, 50)}`);
  figures.faults++;
  api = await startApi(env());
  admin = admin.at(api.url);
  const worker = await startWorkerProcess(env(), 'logs');
  await areLogged(t, 'system_logs', 'log_key', keys);
  await until(() => readdirSync(spoolFolder).length === 0);
  t.regex(api.output(), /cannot be read or stored were left out/);
  await worker.kill();
});

/** Attempts to sign in, at first many at once, then one after another: each is a failure of the log of its own. */
async function tryToSignIn(t: ExecutionContext): Promise<void> {
  const attempt = async () => {
    const body = { username: unique('nobody'), password: 'wrong-password' };
    t.is((await timed(admin.post('/login', body))).status, 503);
  };
  await Promise.all(Array.from({ length: 20 }, attempt));
  for (let count = 0; count < 10; count++) await attempt();
}

/** Keys of the entries that wait on the disk. A sign-in that is refused at the door is a line of the system log only. */
function spooled(kind: 'login' | 'system'): string[] {
  const names = readdirSync(spoolFolder);
  const lines = names.flatMap((name) => readFileSync(join(spoolFolder, name), 'utf8').split('\n'));
  const items = lines
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as { kind: string; entry: { log_key: string } });
  return items.filter((item) => item.kind === kind).map(({ entry }) => entry.log_key);
}

for (const isKilled of [true, false]) {
  const by = isKilled ? 'the next process' : 'the same process';
  test.serial(`entries of a database outage are recovered from disk by ${by}`, async (t) => {
    const traces = await write(10);
    await database.stop('SIGKILL');
    figures.faults++;
    await tryToSignIn(t);
    const [signIns, lines] = [spooled('login'), spooled('system')];
    t.true(lines.length >= 10, `${signIns.length} sign-ins and ${lines.length} lines wait on the disk`);
    if (isKilled) {
      const told = api.output().match(/.*log entries cannot be stored.*/g) ?? [];
      t.is(told.length, 1, 'one line a minute');
      t.regex(told[0] as string, /"count":1\b/);
      await api.kill();
    }
    await database.start();
    if (isKilled) {
      api = await startApi(env());
      admin = admin.at(api.url);
    }
    const worker = await startWorkerProcess(env(), 'logs');
    if (signIns.length > 0) await areLogged(t, 'login_logs', 'log_key', signIns);
    await areLogged(t, 'system_logs', 'log_key', lines);
    await areLogged(t, 'operation_logs', 'trace_id', traces);
    await worker.kill();
  });
}

test.serial('no entry was lost or doubled', (t) => {
  mustHold(t, figures);
});
