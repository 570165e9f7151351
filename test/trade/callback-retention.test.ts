// Received callbacks: how long they are stored (CALLBACK_RETENTION_DAYS), and what is too long to store.
import '../support/settings/environment.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { maintainTables } from '../../src/jobs/maintain-tables.js';
import { setClock } from '../../src/lib/values/clock.js';
import { change, select } from '../../src/lib/database/db.js';
import { periodOf } from '../../src/lib/values/numbers.js';
import { recordAttempt } from '../../src/models/trade/callback-intake.js';
import type { CallbackState } from '../../src/models/trade/tables.js';
import { extendPartitions } from '../../src/models/tables/partitions.js';
import { pruneNumbers } from '../../src/models/trade/third-party-number.js';
import {
  callBack,
  makeMethod,
  makePayment,
  mockCallback,
  somePaymentNumber,
  type MadePayment,
} from '../support/factories.js';
import { serviceTest } from '../support/service-test.js';
import { rowsReadBy, statementsDuring } from '../support/statements.js';

const service = serviceTest();

test.afterEach.always(() => setClock());

const day = 86_400_000;
const later = (days: number): Date => new Date(Date.now() + days * day);

const attempt = (paymentNo: string, period: number, state: CallbackState = 'settled') =>
  recordAttempt({
    ...{ type: 'mock', period, payment_no: paymentNo, fields: {}, ip: '127.0.0.1' },
    ...{ state, verdict: state, trace_id: 'x'.repeat(26) },
  });

const kept = async (paymentNo: string): Promise<string[]> => {
  const rows = await select<{ state: string }>(
    'SELECT state FROM payment_callbacks WHERE payment_no = ? ORDER BY id',
    [paymentNo],
  );
  return rows.map(({ state }) => state);
};

const months = async (): Promise<string[]> => {
  const rows = await select<{ name: string }>(
    `SELECT PARTITION_NAME AS name FROM information_schema.PARTITIONS
     WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'payment_callbacks'`,
  );
  return rows.map(({ name }) => name);
};

const maintain = () => maintainTables.run({ day: '2026-01-01' }, AbortSignal.timeout(30_000));

test('an attempt with fields too long to store is shown truncated', async (t) => {
  const { id } = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, id);
  const fields = { ...mockCallback(payment), sign: 'f'.repeat(64), note: 'n'.repeat(5000) };
  await service.anonymous.post('//api/payment/notify/mock', fields);
  const { data } = await service.admin.get(`/payments/${payment.payment_no}`);
  t.is(typeof data.callbacks[0].body, 'string');
});

test.serial('unverified attempts expire after a month', async (t) => {
  const { id } = await makeMethod(service.admin);
  const payment = await makePayment(service.admin, id);
  const notify = (body: object) => callBack(service.anonymous, payment, body);
  for (let time = 0; time < 3; time++) await notify({ sign: 'f'.repeat(64) });
  await notify({ amount: '99.00' });
  const counted = () =>
    select<{ verdict: string; times: number }>(
      'SELECT verdict, times FROM payment_callbacks WHERE payment_no = ? ORDER BY id',
      [payment.payment_no],
    );
  const proven = { verdict: 'payment_amount_mismatch', times: 1 };
  t.deepEqual(await counted(), [{ verdict: 'payment_sign_invalid', times: 3 }, proven]);
  setClock(later(1));
  await notify({ sign: 'f'.repeat(64) });
  t.is((await counted()).length, 3, 'another day is another row');
  setClock(later(30.5));
  await maintain();
  t.deepEqual(await counted(), [proven, { verdict: 'payment_sign_invalid', times: 1 }]);
  setClock(later(32));
  await maintain();
  t.deepEqual(await counted(), [proven]);
});

test.serial('months past the retention are dropped unless a callback in them is pending', async (t) => {
  const first = periodOf(new Date());
  const [gone, waiting, late] = [0, 40, 80].map((days) => somePaymentNumber(later(days))) as [
    string,
    string,
    string,
  ];
  const periodsOf = (number: string): number => Number(number.slice(3, 9));
  await extendPartitions();
  for (const number of [gone, gone]) await attempt(number, periodsOf(number));
  setClock(later(40));
  await attempt(waiting, periodsOf(waiting), 'pending');
  await attempt(waiting, periodsOf(waiting), 'refused');
  setClock(later(80));
  await attempt(late, periodsOf(late));
  setClock(later(480));
  await attempt(late, periodsOf(late));

  setClock(later(729));
  await maintain();
  t.deepEqual(
    [await kept(gone), await kept(waiting)],
    [
      ['settled', 'settled'],
      ['pending', 'refused'],
    ],
  );
  t.true((await months()).includes(`p${first}`));

  setClock(later(900));
  await maintain();
  t.deepEqual(await kept(gone), []);
  t.deepEqual(await kept(waiting), ['pending'], 'money that is not settled yet is never pruned');
  t.deepEqual(await kept(late), ['settled'], 'the attempt that came 400 days after its payment');
  const left = await months();
  t.false(left.includes(`p${first}`));
  t.true(left.includes(`p${periodsOf(waiting)}`) && left.includes(`p${periodsOf(late)}`));
  await change(`DELETE FROM payment_callbacks WHERE state = 'pending'`);
});

test.serial('a third-party number stays as long as its callback', async (t) => {
  const { id } = await makeMethod(service.admin);
  const [paid, repeated, disputed] = await Promise.all([1, 2, 3].map(() => makePayment(service.admin, id)));
  const names = {
    paid: `${paid?.payment_no}-N`,
    repeated: `${repeated?.payment_no}-N`,
    disputed: `${disputed?.payment_no}-N`,
  };
  const notify = async (payment: MadePayment | undefined, transaction_id: string) =>
    callBack(service.anonymous, payment as MadePayment, { transaction_id });
  const known = async (): Promise<string[]> => {
    await maintain();
    const rows = await select<{ third_party_no: string }>(
      'SELECT third_party_no FROM third_party_numbers WHERE third_party_no IN (?) ORDER BY payment_no',
      [Object.values(names)],
    );
    return rows.map((row) => row.third_party_no).sort();
  };
  await notify(paid, names.paid);
  await notify(repeated, names.repeated);
  await notify(disputed, names.disputed);
  const other = await makePayment(service.admin, id);
  const { callbackDays: days } = config.retention;
  setClock(later(days - 1));
  t.is((await notify(other, names.disputed)).errorCode, 'payment_third_party_no_used');
  t.is((await notify(repeated, names.repeated)).status, 200);
  t.deepEqual(await known(), Object.values(names).sort(), 'within the time nothing goes');
  setClock(later(days + 1));
  t.deepEqual(await known(), [names.repeated, names.disputed].sort());
  t.is((await notify(other, names.disputed)).errorCode, 'payment_third_party_no_used');
  setClock(later(2 * days + 2));
  t.deepEqual(await known(), []);
});

test.serial('numbers past the retention are removed by reading each callback once', async (t) => {
  const { callbackDays: days } = config.retention;
  const at = later(-days - 3);
  const count = 5000;
  const rows = Array.from({ length: count }, (_, index) => [`MANY-${index}`, somePaymentNumber(at), at]);
  for (let from = 0; from < count; from += 1000) {
    const some = rows.slice(from, from + 1000);
    await change(
      `INSERT INTO payment_callbacks (period, type, third_party_no, payment_no, created_at, body, ip, state, verdict, trace_id)
       VALUES ${some.map(() => `(${periodOf(at)}, 'mock', ?, ?, ?, '{}', '::1', 'settled', 'paid', 'x')`).join()}`,
      some.flat(),
    );
    await change(
      `INSERT INTO third_party_numbers (type, third_party_no, payment_no) VALUES ${some.map(() => `('mock', ?, ?)`).join()}`,
      some.flatMap((row) => row.slice(0, 2)),
    );
  }
  const statements = await statementsDuring(pruneNumbers);
  const left = await select(`SELECT 1 FROM third_party_numbers WHERE third_party_no LIKE 'MANY-%'`);
  t.is(left.length, 0);
  const reads = statements.filter(
    (sql) => sql.includes('third_party_no IS NOT NULL') && sql.includes('LIMIT'),
  );
  t.true((await rowsReadBy(reads)) < 2 * count);
});
