// A store that does not answer delays only requests for its files.
import '../support/environment.js';
import { s3 } from '../support/s3-environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { paymentPeriod } from '../../src/lib/values/numbers.js';
import { recordAttempt } from '../../src/models/trade/callback-intake.js';
import { stateChanges, watchStates } from '../support/changes.js';
import { Client } from '../support/client.js';
import { makeMethod, makePayment, unique } from '../support/factories.js';
import { startApi, startWorkerProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { until } from '../support/until.js';

let admin: Client;

/** As many as are removed at once, three times. */
const files = 12;
const atOnce = 4;

const released = () => select(`SELECT 1 FROM stored_files WHERE state = 'released'`);

test.before(async () => {
  admin = await new Client((await startApi({ S3_TIMEOUT_SECONDS: '1' })).url).signIn();
  await watchStates();
});

processesTest();

test.serial('files are no longer removed once the store has not answered for one', async (t) => {
  const ids: number[] = [];
  for (let count = 0; count < files; count++)
    ids.push((await admin.upload('/attachments/upload', 'text', { filename: 'a.txt' })).data.id);
  const asked = new Set<string>();
  s3().hold((method, url) => {
    if (method === 'DELETE') asked.add(new URL(url, 'http://store').pathname);
    return method === 'DELETE';
  });
  const { status, text } = await admin.post('/attachments/batch-delete', { ids });
  t.is(status, 200, text);
  t.is(asked.size, atOnce);
  t.is((await released()).length, files);
});

test.serial('an upload waits for a silent store once, not once more to remove the file', async (t) => {
  const asked = new Set<string>();
  s3().hold((method) => Boolean(asked.add(method)));
  const before = (await released()).length;
  const { status, text } = await admin.upload('/attachments/upload', 'text', { filename: 'a.txt' });
  t.is(status, 502, text);
  t.deepEqual([...asked], ['PUT']);
  t.is((await released()).length, before + 1);
});

test.serial('a callback without a job is settled while the store does not answer the sweeper', async (t) => {
  const payment = await makePayment(admin, (await makeMethod(admin)).id);
  s3().hold((method) => method === 'DELETE');
  // A removal takes three times as long, which is longer than the callback is waited for.
  await startWorkerProcess({ S3_TIMEOUT_SECONDS: '10', SWEEP_SECONDS: '1' });
  await until(() => s3().held() > 0);
  await recordAttempt({
    type: 'mock',
    period: paymentPeriod(payment.payment_no),
    paymentNo: payment.payment_no,
    thirdPartyNo: `MOCK-${payment.payment_no}`,
    fields: {},
    ip: '127.0.0.1',
    state: 'pending',
    verdict: 'verified',
    traceId: unique('trace'),
  });
  await until(async () => (await stateChanges(payment.payment_no)).length > 0);
  t.is((await released()).length, files + 1);
  s3().hold(() => false);
  await until(async () => (await released()).length === 0, 45_000);
});
