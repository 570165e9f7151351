// The database stopped, killed, frozen: no callback is acknowledged, and its effect follows once (docs/promises.md R1, R8).
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/open-results.js';
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { projectRoot } from '../../config/environment.js';
import { Client } from '../support/client.js';
import { companiesTest, types, type Placed, type Type } from '../support/companies/companies.js';
import { startOwnDatabase, type OwnDatabase } from '../support/servers/database.js';
import { callBack, makeMethod, makePayment, type MadePayment } from '../support/factories.js';
import { deliver, type Notice } from '../support/companies/notices.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

let database: OwnDatabase;
let api: TestProcess;
/** Asked by nobody at first. */
let second: TestProcess;
let worker: TestProcess;
let admin: Client;
let methodId: number;

const env = () => ({ ...database.env, CALLBACK_WAIT_MS: '500' });

test.serial.before(async () => {
  database = await startOwnDatabase();
  [api, second, worker] = await Promise.all([startApi(env()), startApi(env()), startWorkerProcess(env())]);
  admin = await new Client(api.url).signIn();
  methodId = (await makeMethod(admin)).id;
});

const companies = companiesTest({
  get admin() {
    return admin;
  },
});

test.after.always(async () => {
  await killProcesses();
  await database.remove();
});

const notify = async (payment: MadePayment) => {
  const begun = Date.now();
  const answer = await callBack(admin, payment);
  return { ...answer, ms: Date.now() - begun };
};

/** As a provider does: again and again until it is acknowledged. */
const notifyUntilAcknowledged = (payment: MadePayment, patienceMs = 30_000) =>
  until(async () => (await notify(payment).catch(() => undefined))?.status === 200, patienceMs, 200);

/** Callbacks of many payments at once are all answered 503, in time. */
async function refusesAll(t: ExecutionContext, payments: MadePayment[]): Promise<void> {
  const answers = await Promise.all([...payments, ...payments].map(notify));
  for (const { status, errorCode, data, ms } of answers) {
    t.deepEqual([status, errorCode, data], [503, 'database_unavailable', null]);
    t.true(ms < 2500, `answered after ${ms} ms`);
  }
}

async function isPaidOnce(t: ExecutionContext, { payment_no }: MadePayment): Promise<void> {
  const read = () =>
    database.select<object>(
      `SELECT p.status, o.status AS order_status, o.payment_no,
         (SELECT COUNT(*) FROM payment_callbacks c WHERE c.payment_no = p.payment_no AND c.verdict = 'paid') AS paid_verdicts
       FROM payments p JOIN orders o ON o.order_no = p.order_no WHERE p.payment_no = ?`,
      [payment_no],
    );
  const isPaid = async () => (await read()).some((row) => 'status' in row && row.status === 'paid');
  await until(isPaid, 30_000);
  t.deepEqual(await read(), [{ status: 'paid', order_status: 'paid', payment_no, paid_verdicts: 1 }]);
}

async function makePayments(count: number): Promise<MadePayment[]> {
  const made: MadePayment[] = [];
  while (made.length < count) made.push(await makePayment(admin, methodId));
  return made;
}

test.serial('a stopped database is answered 503 within the deadline', async (t) => {
  const payments = await makePayments(6);
  await database.stop();
  await refusesAll(t, payments);
  const ready = await admin.get('//readyz');
  t.deepEqual([ready.status, ready.code, (await admin.get('//healthz')).status], [503, 50002, 200]);
  t.deepEqual([(await admin.get('/orders')).status, (await admin.get('/orders')).code], [503, 50002]);
  await database.start();
  await Promise.all(payments.map((payment) => notifyUntilAcknowledged(payment)));
  for (const payment of payments) await isPaidOnce(t, payment);
});

test.serial(
  'a stopped database refuses sockets as it does requests, and is logged once a minute',
  async (t) => {
    const { socket } = await openSocket(admin.url, await ticketOf(admin));
    t.teardown(() => socket.close());
    const ticket = await ticketOf(admin);
    const lines = () => api.output().match(/checking the sessions of open connections failed/g)?.length ?? 0;
    await database.stop();
    // The check fails twice a second.
    const begun = Date.now();
    const refusal = await t.throwsAsync(openSocket(second.url, ticket), { message: '503' });
    t.like(refusal?.cause, { 'retry-after': '2' });
    await until(
      async () => {
        t.is((await admin.get('/orders')).status, 503);
        return Date.now() - begun > 2500;
      },
      10_000,
      100,
    );
    await database.start();
    await until(() => second.output().includes('"reason":"database_unavailable"'));
    await until(async () => (await admin.get('//readyz')).status === 200);
    t.is(lines(), 1);
  },
);

test.serial('a frozen database is answered 503 within the deadline', async (t) => {
  const payments = await makePayments(12);
  database.freeze();
  try {
    await refusesAll(t, payments);
    await refusesAll(t, payments.slice(0, 2));
  } finally {
    database.thaw();
  }
  await Promise.all(payments.map((payment) => notifyUntilAcknowledged(payment)));
  for (const payment of payments) await isPaidOnce(t, payment);
});

test.serial('a notice is answered 503 while the database is away, and pays once later', async (t) => {
  const waiting: { type: Type; payment: Placed; notice: Notice }[] = [];
  for (const type of [...types, ...types, ...types, ...types]) {
    const payment = await companies.place(type);
    waiting.push({ type, payment, notice: companies.noticeOf(type, payment) });
  }
  const send = async ({ type, notice }: (typeof waiting)[number]) =>
    (await deliver(`${admin.url}/api/payment/notify/${type}`, notice))[0];
  await database.stop();
  for (const answer of await Promise.all([...waiting, ...waiting].map(send)))
    t.deepEqual([answer?.status, answer?.slug], [503, 'database_unavailable']);
  await database.start();
  for (const one of waiting) {
    await until(async () => [200, 204].includes((await send(one))?.status ?? 0), 30_000, 200);
    await isPaidOnce(t, one.payment);
  }
});

test.serial('callbacks acknowledged before an outage are settled after it', async (t) => {
  await worker.kill();
  const payments = await makePayments(3);
  for (const payment of payments) t.is((await notify(payment)).data.status, 'processing');
  await database.stop();
  const starting = startWorkerProcess(env());
  await refusesAll(t, payments);
  await database.start();
  worker = await starting;
  for (const payment of payments) await isPaidOnce(t, payment);
});

test.serial(
  'callbacks acknowledged under load are paid once while every part is killed in turn',
  async (t) => {
    const payments = await makePayments(40);
    const acknowledged = new Set<string>();
    const providers = payments.map(async (payment, index) => {
      await until(() => acknowledged.size >= index - 8, 60_000);
      // Beside others a new worker may take half a minute to start.
      await notifyUntilAcknowledged(payment, 60_000);
      acknowledged.add(payment.payment_no);
    });
    await until(() => acknowledged.size >= 5);
    await worker.kill();
    await until(() => acknowledged.size >= 10);
    await database.stop('SIGKILL');
    await database.start();
    await until(() => acknowledged.size >= 20, 60_000);
    await api.kill();
    admin = admin.at(second.url);
    worker = await startWorkerProcess(env());
    await Promise.all(providers);
    t.is(acknowledged.size, payments.length);
    for (const payment of payments) await isPaidOnce(t, payment);
  },
);

test.serial("HAProxy's check takes the database that takes writes", async (t) => {
  const account = join(database.folder, 'check.cnf');
  writeFileSync(account, '[client]\nuser=check\n');
  const script = readFileSync(resolve(projectRoot, 'deploy/database-writer.sh'), 'utf8');
  const [statement] = /CREATE USER \S+/.exec(script) ?? [''];
  await database.run(statement);
  const check = script.replace('/etc/haproxy/database.cnf', account);
  const run = () =>
    promisify(execFile)('sh', ['-c', check, 'sh', '', '', '127.0.0.1', String(database.port)]);
  await t.notThrowsAsync(run());
  await database.run('SET GLOBAL read_only = 1');
  await t.throwsAsync(run());
  await database.run('SET GLOBAL read_only = 0');
  await database.stop('SIGKILL');
  await t.throwsAsync(run());
});
