// API and worker told to stop under load: what runs ends, nothing is lost, and they are gone within 10 s (R10).
import '../support/environment.js';
import test from 'ava';
import { select } from '../../src/lib/db.js';
import type { Client } from '../support/client.js';
import { stateChanges, watchStates } from '../support/changes.js';
import { makeMethod, makePayment, mockCallback, type MadePayment } from '../support/factories.js';
import { killProcesses, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let payments: MadePayment[];

test.before(async () => {
  service = await startService({ withWorker: false });
  await watchStates();
  const { id } = await makeMethod(service.admin);
  payments = [];
  for (let round = 0; round < 12; round++) {
    payments.push(...(await Promise.all(Array.from({ length: 10 }, () => makePayment(service.admin, id)))));
  }
});

test.after.always(async () => {
  await killProcesses();
  await service.stop();
});

const allPaidOnce = async (paid: MadePayment[]): Promise<boolean> => {
  const changes = await stateChanges();
  return paid.every(({ payment_no, order_no }) =>
    [payment_no, order_no].every(
      (number) => changes.filter((change) => change.number === number).length === 1,
    ),
  );
};

/** Stops it while callbacks come in. @returns how long that took and its exit code */
async function stopUnderLoad(process: TestProcess): Promise<{ code: number | null; ms: number }> {
  const begun = Date.now();
  const code = await process.stop();
  return { code, ms: Date.now() - begun };
}

test.serial(
  'an API told to stop answers everything it has accepted; what it acknowledged is paid',
  async (t) => {
    const worker = await startWorkerProcess();
    const api = await startApi();
    const caller: Client = service.anonymous.at(api.url);
    const [batch, rest] = [payments.slice(0, 30), payments.slice(30, 60)];
    const acknowledged: MadePayment[] = [];
    let refused = 0;
    const send = async (payment: MadePayment) => {
      try {
        const { status } = await caller.post('//api/payment/notify/mock', mockCallback(payment));
        t.is(status, 200);
        acknowledged.push(payment);
      } catch (error) {
        // Only a connection that was never served may fail.
        t.regex(
          String((error as { cause?: { code?: string } }).cause?.code),
          /ECONNREFUSED|ECONNRESET|UND_ERR_SOCKET/,
        );
        refused++;
      }
    };
    const running = batch.map(send);
    await until(() => acknowledged.length >= 3);
    const stopping = stopUnderLoad(api);
    for (const payment of rest) await send(payment);
    await Promise.all(running);
    const { code, ms } = await stopping;
    t.deepEqual([code, ms < 10_000], [0, true], `${code} after ${ms} ms`);
    t.true(
      batch.every((payment) => acknowledged.includes(payment)),
      'what was accepted before the signal is answered',
    );
    t.is(acknowledged.length + refused, 60);
    t.true(refused > 0);
    await until(() => allPaidOnce(acknowledged));
    t.is(await worker.stop(), 0);
  },
);

test.serial('a worker told to stop under load loses no job', async (t) => {
  const [first, second] = [await startWorkerProcess(), await startApi()];
  const caller = service.anonymous.at(second.url);
  const batch = payments.slice(60);
  let isStopped = false;
  const answers = batch.map(
    async (payment) => (await caller.post('//api/payment/notify/mock', mockCallback(payment))).status,
  );
  await until(async () => (await stateChanges()).length > 130);
  const stopping = stopUnderLoad(first).then((result) => {
    isStopped = true;
    return result;
  });
  t.deepEqual([...new Set(await Promise.all(answers))], [200]);
  const { code, ms } = await stopping;
  t.deepEqual([code, ms < 10_000, isStopped], [0, true, true], `${code} after ${ms} ms`);
  const successor = await startWorkerProcess();
  await until(() => allPaidOnce(batch));
  await until(
    async () => (await select(`SELECT id FROM payment_callbacks WHERE state = 'pending'`)).length === 0,
  );
  for (const process of [successor, second]) t.is(await process.stop(), 0);
});
