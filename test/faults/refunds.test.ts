// A worker that is killed while a company takes a refund: the money goes back once, and is booked once (R24).
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { change } from '../../src/lib/database/db.js';
import { companiesTest } from '../support/companies.js';
import { startWorkerProcess, type TestProcess } from '../support/processes.js';
import { booksOf, refundRow } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

let worker: TestProcess;

const service = serviceTest({ withWorker: false });
const companies = companiesTest(service);

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
