// The worker: jobs outlive the process that ran them, and doing one twice changes nothing (docs/promises.md R9). Money that
// a company gives back while the worker is killed is given and booked once (R24).
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/open-results.js';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { settlePayment } from '../../src/jobs/settle-payment.js';
import { add } from '../../src/lib/queue/queue.js';
import { queuePrefix } from '../../src/lib/queue/names.js';
import { patientRedis as redis } from '../../src/lib/redis/redis.js';
import { storage } from '../../src/lib/storage/index.js';
import { releaseFiles, reserveFile } from '../../src/models/files/stored-file.js';
import { recordAttempt } from '../../src/models/trade/callback-intake.js';
import type { CallbackKey } from '../../src/models/trade/payment-callback.js';
import { paymentKey } from '../../src/lib/values/numbers.js';
import { settle } from '../../src/models/trade/payment-settlement.js';
import { stateChanges, watchStates } from '../support/model/changes.js';
import { companiesTest } from '../support/companies/companies.js';
import {
  callBack,
  makeMethod,
  makeOrder,
  makePayment,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { storedOf } from '../support/files.js';
import { startWorkerProcess, type TestProcess } from '../support/processes.js';
import { booksOf, refundRow } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { connectionsAt, holding } from '../support/other-connection.js';
import { turnedClock } from '../support/turned-clock.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
const companies = companiesTest(service);
let methodId: number;
let worker: TestProcess;

// Without the sweeper's help: what is shown here the queue does by itself, with the lock that jobs have by default.
const noSweeper = { SWEEP_SECONDS: '59', SWEEP_AGE_SECONDS: '3600', JOB_LOCK_SECONDS: '12' };

const sweeping = { SWEEP_SECONDS: '1', SWEEP_AGE_SECONDS: '1' };

test.before(async () => {
  await watchStates();
  methodId = (await makeMethod(service.admin)).id;
});

const notify = async (payment: MadePayment) => (await callBack(service.anonymous, payment)).data.status;

const isPaid = async ({ payment_no }: MadePayment) => (await stateChanges(payment_no)).length > 0;

const paidOnce = ({ payment_no }: MadePayment) => [{ number: payment_no, before: 'pending', after: 'paid' }];

/** Ends the connections whose statement names that text, as the database does once it notices that their peer is gone. */
async function killStatements(text: string): Promise<void> {
  for (const id of await connectionsAt(`%${text}%`)) await change('KILL ?', [id]);
}

const activeJobs = () => redis.llen(`${queuePrefix('payments')}:payments:active`);

/** A verified attempt in the inbox that the queue does not know. */
const storeAttempt = ({ payment_no }: MadePayment, created_at?: Date): Promise<CallbackKey> =>
  recordAttempt({
    type: 'mock',
    ...paymentKey(payment_no),
    third_party_no: `MOCK-${payment_no}`,
    fields: {},
    ip: '127.0.0.1',
    state: 'pending',
    verdict: 'verified',
    trace_id: unique('trace'),
    created_at,
  });

test.serial('a callback not settled in time is answered processing', async (t) => {
  const payment = await makePayment(service.admin, methodId);
  const begun = Date.now();
  t.is(await notify(payment), 'processing');
  const ms = Date.now() - begun;
  t.true(ms > 1500 && ms < 2500, `answered after ${ms} ms`);
  t.false(await isPaid(payment));
  worker = await startWorkerProcess(noSweeper, 'payments');
  await until(() => isPaid(payment));
  t.is(await notify(payment), 'paid');
  t.deepEqual(await stateChanges(payment.payment_no), paidOnce(payment));
});

test.serial('the settlement of a killed worker is completed by another within 20 s', async (t) => {
  const payment = await makePayment(service.admin, methodId);
  const letGo = await holding('SELECT id FROM orders WHERE order_no = ? FOR UPDATE', [payment.order_no]);
  t.is(await notify(payment), 'processing', 'the order is locked');
  t.is(await activeJobs(), 1);
  await worker.kill();
  // Its machine is gone as well: what it had sent to the database does not continue there.
  await killStatements(payment.order_no);
  await letGo();
  t.false(await isPaid(payment));
  t.is(await activeJobs(), 1, 'the queue still thinks it runs');
  const killedAt = Date.now();
  worker = await startWorkerProcess(noSweeper, 'payments');
  await until(() => isPaid(payment), 30_000);
  t.true(Date.now() - killedAt < 20_000, `settled after ${Date.now() - killedAt} ms`);
  await until(async () => (await activeJobs()) === 0);
  t.deepEqual(await stateChanges(payment.payment_no), paidOnce(payment));
});

test.serial('concurrent runs of one settlement have one effect', async (t) => {
  for (let round = 0; round < 10; round++) {
    const payment = await makePayment(service.admin, methodId);
    const attempts = await Promise.all([storeAttempt(payment), storeAttempt(payment)]);
    const abandon = async () => {
      for (const one of attempts) await settlePayment.onAbandoned?.(one, new Error('the last run'));
    };
    const verdicts = async () => {
      const rows = await select<{ verdict: string }>(
        'SELECT verdict FROM payment_callbacks WHERE payment_no = ? ORDER BY verdict',
        [payment.payment_no],
      );
      return rows.map(({ verdict }) => verdict);
    };
    await abandon();
    t.deepEqual(await verdicts(), ['retrying', 'retrying']);
    const runs = await Promise.all([...attempts, ...attempts, ...attempts].map(settle));
    t.is(runs.filter((result) => result === 'paid').length, 1, runs.join());
    t.is(runs.filter((result) => result === 'already_paid').length, 5, runs.join());
    t.deepEqual(await stateChanges(payment.payment_no), paidOnce(payment));
    t.is((await stateChanges(payment.order_no)).length, 1);
    await abandon();
    t.deepEqual(await verdicts(), ['already_paid', 'paid'], 'a run that fails last takes nothing back');
    t.is(await settle(attempts[0]), 'already_paid');
  }
  t.is(await settle({ id: 999_999_999, period: 202601 }), 'gone');
});

test.serial('unknown and invalid jobs fail at once', async (t) => {
  const options = { attempts: 5, backoff: 60_000, removeOnComplete: true, removeOnFail: true };
  await add({ queue: 'payments', name: 'no-such-job', id: 'no-such-job-1', payload: {}, options });
  for (const [index, payload] of [{}, { id: 'x', period: 1 }, null, { id: 1 }].entries()) {
    await add({ queue: 'payments', name: 'settle-payment', id: `bad-${index}`, payload, options });
  }
  await until(() => (worker.output().match(/a job failed for good/g) ?? []).length >= 5);
  t.is(
    await redis.exists(...[0, 1, 2, 3].map((index) => `${queuePrefix('payments')}:payments:bad-${index}`)),
    0,
  );
  const order = await makeOrder(service.admin, '1', { expire_in_seconds: 1 });
  await until(async () => (await stateChanges(order.order_no)).length === 1);
  await worker.kill();
});

test.serial('a job whose workers died again and again is stored as failed', async (t) => {
  const payment = await makePayment(service.admin, methodId);
  t.is(await notify(payment), 'processing');
  const queue = `${queuePrefix('payments')}:payments`;
  const [id = ''] = await redis.lrange(`${queue}:wait`, 0, -1);
  // As BullMQ marks it after the last of them.
  await redis.hset(`${queue}:${id}`, 'defa', 'job stalled more than allowable limit');
  worker = await startWorkerProcess(noSweeper, 'payments');
  const failures = () => select<{ error: string }>('SELECT error FROM failed_jobs WHERE job_key = ?', [id]);
  t.regex((await until(async () => (await failures())[0])).error, /stalled more than allowable/);
  t.false(await isPaid(payment));
  await worker.kill();
});

test.serial('a callback whose job Redis has lost but for its id is settled by the sweep', async (t) => {
  const payments = [await makePayment(service.admin, methodId), await makePayment(service.admin, methodId)];
  for (const payment of payments) t.is(await notify(payment), 'processing');
  const queue = `${queuePrefix('payments')}:payments`;
  const keys = (await redis.lrange(`${queue}:wait`, 0, -1)).map((id) => `${queue}:${id}`);
  t.is(keys.length, payments.length);
  await redis.del(...keys);
  await redis.hset(keys[0] as string, 'defa', 'job stalled more than allowable limit');
  const elsewhere = join(process.env.STORAGE_ROOT as string, 'elsewhere');
  worker = await startWorkerProcess(
    { ...turnedClock, ...sweeping, STORAGE_ROOT: elsewhere },
    'payments,channels,logs,notifications',
  );
  for (const payment of payments) await until(() => isPaid(payment));
  t.notRegex(worker.output(), /"level":"error"/);
});

test.serial('a worker whose clock is set back sweeps on', async (t) => {
  const receivedAt = new Date(Date.now() - 2 * 3_600_000);
  for (const turn of ['before', 'after']) {
    const payment = await makePayment(service.admin, methodId);
    await storeAttempt(payment, receivedAt);
    await until(() => isPaid(payment));
    t.deepEqual(await stateChanges(payment.payment_no), paidOnce(payment), turn);
    worker.child.kill('SIGUSR2');
  }
});

test.serial('a released file is removed by workers of files, and left alone by others', async (t) => {
  const key = await reserveFile('attachments');
  await (await storage()).put(key, Readable.from([Buffer.from('text')]));
  await releaseFiles([key]);
  const rows = () => select('SELECT state FROM stored_files WHERE storage_key = ?', [key]);
  // Sweeps that are over once they have settled callbacks younger than the file.
  for (const turn of ['first', 'second']) {
    const payment = await makePayment(service.admin, methodId);
    await storeAttempt(payment);
    await until(() => isPaid(payment));
    t.deepEqual(await rows(), [{ state: 'released' }], turn);
  }
  t.deepEqual(await storedOf([key]), [key]);
  await startWorkerProcess(sweeping, 'files');
  await until(async () => (await rows()).length === 0);
  t.deepEqual(await storedOf([key]), []);
  t.is(await worker.stop(), 0);
});

test.serial('a worker killed between call and booking leaves a refund that is asked for first', async (t) => {
  worker = await startWorkerProcess();
  const payment = await companies.paid('wechat');
  const { results, refunds } = companies.wechat;
  results.after = async (operation, number) => {
    if (operation !== 'refund') return;
    t.like(await refundRow(number), { status: 'processing', tries: 1 }, 'committed before the call');
    await worker.kill();
  };
  const body = { payment_no: payment.payment_no, destination: 'channel', reason: 'sold out' };
  const { refund_no } = (await service.admin.post('/refunds', body)).data;
  await until(() => refunds.stateOf(refund_no));
  await until(() => worker.child.signalCode !== null);
  t.like(await booksOf(payment), { refund_reserved: '69.00', refunded_amount: '0.00' });
  results.reset();
  worker = await startWorkerProcess();
  // Its lease is over.
  await change('UPDATE refunds SET due_at = NOW(3) WHERE refund_no = ?', [refund_no]);
  await until(async () => (await refundRow(refund_no)).status === 'succeeded', 60_000);
  t.is(results.count('refund', refund_no), 1);
  t.is(refunds.refundedOf(payment.payment_no), 6900);
  t.like(await booksOf(payment), { refund_reserved: '69.00', refunded_amount: '69.00' });
});

test.serial('the log of the worker says why nothing was learned of a refund', async (t) => {
  const payment = await companies.paid('wechat');
  companies.wechat.results.moods.refund = 'resetting';
  const body = { payment_no: payment.payment_no, destination: 'channel', reason: 'sold out' };
  const { refund_no } = (await service.admin.post('/refunds', body)).data;
  const line = await until(() =>
    worker
      .output()
      .split('\n')
      .find((one) => one.includes('did not say what became of a refund')),
  );
  t.true(line.includes(refund_no) && line.includes('ECONNRESET'), line);
  t.is(await worker.stop(), 0);
});
