// Replacing APP_KEY: stored secrets and passwords stay usable throughout, and end up under the new key.
import '../support/environment.js';
import test from 'ava';
import { maintainTables } from '../../src/jobs/maintain-tables.js';
import { select } from '../../src/lib/database/db.js';
import { environment } from '../support/environment.js';
import {
  makeAdmin,
  makeMethod,
  makePayment,
  mockCallback,
  mockSign,
  unique,
  type MadeAdmin,
} from '../support/factories.js';
import { runCli, startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });

const [before, after] = [environment.APP_KEY, 'the-app-key-that-comes-after-it-and-is-long'];
const replacing = { APP_KEY: after, APP_KEY_PREVIOUS: `a-key-of-long-ago-nobody-uses, ${before}` };

const statusAt = async ({ url }: TestProcess, { username, password }: MadeAdmin) =>
  (await service.anonymous.at(url).post('/login', { username, password })).status;

async function paysAt({ url }: TestProcess, methodId: number): Promise<string | number> {
  const payment = await makePayment(service.admin, methodId);
  const body = mockCallback(payment, 'rotated');
  const answer = await service.anonymous.at(url).post('//api/payment/notify/mock', body);
  return answer.data?.status ?? answer.status;
}

async function rowOf(id: number): Promise<{ secrets: string; updated_at: Date }> {
  const [row] = await select<{ secrets: string; updated_at: Date }>(
    'SELECT secrets, updated_at FROM payment_methods WHERE id = ?',
    [id],
  );
  return row as NonNullable<typeof row>;
}

/** Creates a user, always under the same Idempotency-Key. */
const user = { username: unique('user'), password: 'secret-1' };
const createdAt = ({ url }: TestProcess) =>
  service.admin.at(url).post('/users', user, { 'Idempotency-Key': user.username });

const resealed = (id: number, secrets: string) => until(async () => (await rowOf(id)).secrets !== secrets);

test.serial('a key can be replaced in steps without downtime', async (t) => {
  const { id } = await makeMethod(service.admin, 'rotated');
  const [active, absent] = [await makeAdmin(service.admin), await makeAdmin(service.admin)];
  const original = await rowOf(id);

  const [old, both] = await Promise.all([
    startApi({ APP_KEY_PREVIOUS: after }),
    startApi(replacing),
    startWorkerProcess({ APP_KEY_PREVIOUS: after }, 'payments'),
  ]);
  t.is(await paysAt(both, id), 'paid', 'a secret under the old key');
  const { id: made } = (await createdAt(old)).data;
  t.is((await createdAt(both)).data.id, made, 'a repeated request');
  t.deepEqual([await statusAt(both, active), await statusAt(both, active)], [200, 200]);
  t.is(await statusAt(both, { ...active, password: 'wrong' }), 401);
  t.is(await statusAt(both, { ...active, username: 'nobody' }), 401);
  const newer = await makeMethod(service.admin.at(both.url), 'rotated');
  t.is(await paysAt(old, newer.id), 'paid', 'processes that still seal under the old key know the new one');

  const worker = await startWorkerProcess(replacing, 'maintenance');
  await resealed(id, original.secrets);
  t.deepEqual((await rowOf(id)).updated_at, original.updated_at);
  const straggler = await makeMethod(service.admin.at(old.url), 'rotated');
  const { secrets } = await rowOf(straggler.id);
  await maintainTables.enqueue({ day: '2026-01-01' });
  await resealed(straggler.id, secrets);
  await worker.stop();

  const only = await startApi({ APP_KEY: after });
  for (const method of [id, newer.id, straggler.id]) t.is(await paysAt(only, method), 'paid');
  const forgotten = (await createdAt(only)).errorCode;
  t.is(forgotten, 'idempotency_key_reused', 'what is stored of a request says nothing without the key');
  t.is(await statusAt(only, active), 200, 'the password was hashed anew at the sign-in');
  t.is(await statusAt(only, absent), 401, 'who has not signed in since needs the previous key');
  t.is(await statusAt(both, absent), 200);
  t.is(await statusAt(only, absent), 200);
});

test.serial('a start under a wrong key is refused', async (t) => {
  const { id } = await makeMethod(service.admin, 'rotated');
  const { secrets } = await rowOf(id);
  const stranger = { APP_KEY: 'a-key-that-never-sealed-anything-here' };
  for (const start of [startApi, startWorkerProcess]) {
    const refused = await t.throwsAsync(start(stranger));
    t.regex(
      refused?.message ?? '',
      /APP_KEY is not the key of this database, nor is one of APP_KEY_PREVIOUS/,
    );
    t.notRegex(refused?.message ?? '', / {4}at /, 'a sentence, no stack');
  }
  t.is((await runCli(['admin', 'password', 'admin'], stranger)).code, 1);
  t.is((await runCli(['key', 'accept'], stranger)).code, 2, 'it asks, and nobody answers');
  const accepted = await runCli(['key', 'accept', '--yes'], stranger);
  t.is(accepted.code, 0);
  t.regex(accepted.output, /; give passwords/);
  t.notRegex((await runCli(['key', 'accept', '--yes'], stranger)).output, /passwords/, 'nothing is lost');
  const [api, worker] = await Promise.all([startApi(stranger), startWorkerProcess(stranger, 'maintenance')]);
  const payment = await makePayment(service.admin, id);
  const body = { ...mockCallback(payment), sign: mockSign(payment.payment_no, '12.30', 'rotated') };
  const answer = await service.anonymous.at(api.url).post('//api/payment/notify/mock', body);
  t.deepEqual(
    [answer.status, answer.errorCode],
    [503, 'payment_secret_unreadable'],
    'so that the provider tries again',
  );
  const admin = service.admin.at(api.url);
  t.is((await admin.get(`/payment-methods/${id}`)).data.has_shared_secret, true);
  t.is((await admin.put(`/payment-methods/${id}`, { name: 'Counter' })).data.name, 'Counter');
  await worker.stop();
  t.regex(worker.output(), /secrets could not be sealed again/);
  t.is((await rowOf(id)).secrets, secrets);
  t.is((await admin.put(`/payment-methods/${id}`, { shared_secret: 'entered anew' })).status, 200);
  const again = await service.anonymous.at(api.url).post('//api/payment/notify/mock', {
    ...body,
    sign: mockSign(payment.payment_no, '12.30', 'entered anew'),
  });
  t.is(again.status, 200);
});
