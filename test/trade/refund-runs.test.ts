// What becomes of refunds at their channel: nothing is lost, given twice or believed without a query.
import '../support/environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { nextAsk } from '../../src/models/trade/refund-schedule.js';
import { runRefund } from '../../src/models/trade/refund-run.js';
import { checkEquations } from '../../src/models/figures/consistency.js';
import { sweep } from '../../src/worker/sweeper.js';
import { makeMethod } from '../support/factories.js';
import { booksOf, paidPayment, RefundCompany } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
let methodId: number;
let company: RefundCompany;

test.before(async () => {
  methodId = (await makeMethod(service.admin)).id;
});

// One company at a time.
test.serial.beforeEach(() => {
  company = new RefundCompany();
  company.install();
});

test.after(async (t) => {
  t.deepEqual(await checkEquations(), []);
});

interface Row {
  refund_no: string;
  payment_no: string;
  status: string;
  code: string | null;
  tries: number;
  needs_attention: number;
  fail_reason: string | null;
  due_at: Date | null;
}

const rowOf = async (refundNo: string): Promise<Row> => {
  const [row] = await select<Row>('SELECT * FROM refunds WHERE refund_no = ?', [refundNo]);
  return row as Row;
};

/** A refund of a payment of its own over 12.30 whose first run is over. */
async function refunded(...steps: RefundCompany['steps']): Promise<Row> {
  company.steps = steps;
  const payment = await paidPayment(service.admin, methodId);
  const body = { payment_no: payment.payment_no, amount: '5.00', destination: 'channel', reason: 'sold out' };
  const { refund_no } = (await service.admin.post('/refunds', body)).data;
  // The lease of a run is two minutes.
  return until(async () => {
    const row = await rowOf(refund_no);
    const isLeased = row.due_at !== null && row.due_at.getTime() > Date.now() + 90_000;
    return row.tries > 0 && (!isLeased || row.needs_attention === 1) ? row : undefined;
  });
}

const query = (refundNo: string, language = 'zh-CN') =>
  service.admin.post(`/refunds/${refundNo}/query`, {}, { 'Accept-Language': language });

const notices = async (refundNo: string): Promise<string[]> => {
  const rows = await select<{ content: string }>('SELECT content FROM notifications WHERE content LIKE ?', [
    `${refundNo}%`,
  ]);
  return rows.map(({ content }) => content);
};

const untouched = { refund_reserved: '5.00', refunded_amount: '0.00' };
const given = { refund_reserved: '5.00', refunded_amount: '5.00' };
const released = { refund_reserved: '0.00', refunded_amount: '0.00' };

test.serial('a refund whose sending told nothing is sent again under its number and amount', async (t) => {
  const { refund_no, payment_no, status, fail_reason, due_at } = await refunded('silent');
  t.is(status, 'processing');
  t.is(fail_reason, 'it does not answer');
  t.true(Math.abs((due_at?.getTime() ?? 0) - Date.now() - 30_000) < 15_000);
  t.like(await booksOf({ payment_no }), untouched);
  t.like((await query(refund_no)).data, { status: 'succeeded', fail_reason: null, tries: 2 });
  t.deepEqual(company.calls, [`send ${refund_no} 5.00`, `query ${refund_no}`, `send ${refund_no} 5.00`]);
  t.like(await booksOf({ payment_no }), given);
});

test.serial('a refund whose answer was lost is booked once', async (t) => {
  const { refund_no, payment_no } = await refunded('losing');
  t.like(await booksOf({ payment_no }), untouched);
  await change('UPDATE refunds SET due_at = NOW(3) WHERE refund_no = ?', [refund_no]);
  await Promise.all(Array.from({ length: 8 }, () => runRefund(refund_no, AbortSignal.timeout(5000))));
  t.is((await rowOf(refund_no)).status, 'succeeded');
  t.deepEqual(company.calls, [`send ${refund_no} 5.00`, `query ${refund_no}`]);
  t.like(await booksOf({ payment_no }), given);
});

/** Runs the refund in several workers, whose queries are answered at the same moment. */
async function runTogether(refundNo: string): Promise<void> {
  let open: () => void = () => undefined;
  company.gate = new Promise((resolve) => (open = resolve));
  const runs: Promise<unknown>[] = [];
  for (let run = 1; run <= 5; run++) {
    await change('UPDATE refunds SET due_at = NOW(3) WHERE refund_no = ?', [refundNo]);
    runs.push(runRefund(refundNo, AbortSignal.timeout(5000)));
    await until(() => company.calls.filter((call) => call === `query ${refundNo}`).length >= run);
  }
  open();
  await Promise.all(runs);
}

test.serial('successes that come together are booked once', async (t) => {
  const { refund_no, payment_no } = await refunded('losing');
  await runTogether(refund_no);
  t.is((await rowOf(refund_no)).status, 'succeeded');
  t.like(await booksOf({ payment_no }), given);
});

test.serial('failures that come together release the amount once', async (t) => {
  const { refund_no, payment_no } = await refunded('holding');
  company.ledger.set(refund_no, { amount: '5.00', state: 'failed' });
  await runTogether(refund_no);
  t.is((await rowOf(refund_no)).status, 'failed');
  t.like(await booksOf({ payment_no }), released);
});

test.serial(
  'a worker that died between call and booking leaves a refund that is asked for first',
  async (t) => {
    // What the row is while the company has the money on its way, and the worker is gone.
    company.onSent = async (refundNo) => {
      t.like(await rowOf(refundNo), { status: 'processing', tries: 1 }, 'committed before the call');
      throw new Error('the worker was killed');
    };
    const payment = await paidPayment(service.admin, methodId);
    const body = { payment_no: payment.payment_no, destination: 'channel', reason: 'sold out' };
    const { refund_no } = (await service.admin.post('/refunds', body)).data;
    await until(() => company.calls.length > 0);
    company.onSent = () => Promise.resolve();
    t.like(await booksOf(payment), { refund_reserved: '12.30', refunded_amount: '0.00' });
    t.is(await runRefund(refund_no, AbortSignal.timeout(5000)), undefined, 'nobody else takes it meanwhile');
    await change('UPDATE refunds SET due_at = NOW(3) WHERE refund_no = ?', [refund_no]);
    await sweep();
    await until(async () => (await rowOf(refund_no)).status === 'succeeded');
    t.deepEqual(company.calls, [`send ${refund_no} 12.30`, `query ${refund_no}`]);
    t.like(await booksOf(payment), { refund_reserved: '12.30', refunded_amount: '12.30' });
  },
);

test.serial('a refusal is believed once a query agrees, and releases the amount once', async (t) => {
  const { refund_no, payment_no, status, code } = await refunded('refusing');
  t.deepEqual([status, code], ['processing', 'ACCOUNT_CLOSED']);
  t.like(await booksOf({ payment_no }), untouched);
  await change('UPDATE refunds SET due_at = NOW(3) WHERE refund_no = ?', [refund_no]);
  await Promise.all(Array.from({ length: 8 }, () => runRefund(refund_no, AbortSignal.timeout(5000))));
  await query(refund_no);
  t.deepEqual(company.calls, [`send ${refund_no} 5.00`, `query ${refund_no}`]);
  t.like(await booksOf({ payment_no }), released);
  const { data } = await service.admin.get(`/refunds/${refund_no}`);
  t.like(data, { status: 'failed', needs_attention: true, fail_reason: 'refund_failed', due_at: null });
  t.is((await notices(refund_no)).length, 1);
  const whole = { payment_no, destination: 'channel', reason: 'again' };
  t.is((await service.admin.post('/refunds', whole)).data.amount, 12.3);
});

test.serial('a refusal that a query contradicts is not believed', async (t) => {
  const { refund_no, payment_no } = await refunded('refusing');
  company.ledger.set(refund_no, { amount: '5.00', state: 'succeeded' });
  t.is((await query(refund_no)).data.status, 'succeeded');
  t.like(await booksOf({ payment_no }), given);
});

test.serial('a refund that fails at its channel later releases the amount', async (t) => {
  const { refund_no, payment_no, status } = await refunded('holding');
  t.is(status, 'processing');
  const { accepted_at, sent_at } = (await service.admin.get(`/refunds/${refund_no}`)).data;
  t.true(accepted_at >= sent_at);
  company.ledger.set(refund_no, { amount: '5.00', state: 'failed' });
  t.like((await query(refund_no)).data, { status: 'failed', code: 'FAILED', accepted_at });
  t.like(await booksOf({ payment_no }), released);
});

test.serial('a success that comes after days is booked', async (t) => {
  const { refund_no, payment_no } = await refunded('holding');
  await change('UPDATE refunds SET sent_at = NOW(3) - INTERVAL 5 DAY, tries = 40 WHERE refund_no = ?', [
    refund_no,
  ]);
  t.is((await query(refund_no)).data.status, 'processing');
  company.ledger.set(refund_no, { amount: '5.00', state: 'succeeded' });
  t.is((await query(refund_no)).data.status, 'succeeded');
  t.like(await booksOf({ payment_no }), given);
  t.deepEqual(await notices(refund_no), []);
});

for (const step of ['stuck', 'wrong amount'] as const)
  test.serial(`a refund is flagged, once, and goes on: ${step}`, async (t) => {
    const { refund_no, payment_no, due_at } = await refunded(step);
    const flagged = await until(async () => {
      const row = await rowOf(refund_no);
      return row.needs_attention === 1 ? row : undefined;
    });
    t.like(flagged, { status: 'processing', fail_reason: 'refund_stuck' });
    t.true((due_at?.getTime() ?? 0) > Date.now() + 23 * 3_600_000, 'asked daily');
    t.like(await booksOf({ payment_no }), untouched);
    const put = (fail_reason: string) =>
      service.admin.put(`/refunds/${refund_no}`, { needs_attention: false, fail_reason });
    const unseen = await put('refund_slow');
    t.deepEqual([unseen.status, unseen.code, unseen.errorCode], [400, 40003, 'refund_attention_changed']);
    t.like((await put('refund_stuck')).data, { needs_attention: false, fail_reason: 'refund_stuck' });
    t.like((await query(refund_no)).data, { status: 'processing', needs_attention: false });
    t.is((await notices(refund_no)).length, 1);
    company.ledger.set(refund_no, { amount: '5.00', state: 'succeeded' });
    t.like((await query(refund_no)).data, { status: 'succeeded', fail_reason: null });
    t.like(await booksOf({ payment_no }), given);
  });

test.serial('a refund that is not finished after eight days is flagged and goes on', async (t) => {
  const { refund_no } = await refunded('holding');
  await change('UPDATE refunds SET sent_at = NOW(3) - INTERVAL 193 HOUR, tries = 60 WHERE refund_no = ?', [
    refund_no,
  ]);
  for (let times = 0; times < 2; times++)
    t.like((await query(refund_no)).data, {
      status: 'processing',
      needs_attention: true,
      fail_reason: 'refund_slow',
    });
  t.is((await notices(refund_no)).length, 1);
  t.true(((await rowOf(refund_no)).due_at?.getTime() ?? 0) > Date.now() + 23 * 3_600_000);
});

test.serial('what was learned in vain is answered 502 in both languages', async (t) => {
  const { refund_no } = await refunded('losing');
  company.ledger.delete(refund_no);
  for (const [language, reason] of [
    ['zh-CN', '应答丢失'],
    ['en-US', 'its answer was lost'],
  ] as const) {
    company.steps = ['losing'];
    const { status, errorCode, message } = await query(refund_no, language);
    t.deepEqual([status, errorCode], [502, 'third_party_error']);
    t.true(message.includes(reason), message);
    company.ledger.delete(refund_no);
  }
});

test.serial('a channel takes so many refunds of a payment, so far apart, for so long', async (t) => {
  company.install({ withinDays: 10, most: 2, apartMs: 600_000 });
  const payment = await paidPayment(service.admin, methodId);
  const { payment_no } = payment;
  const ask = (more: object = {}) =>
    service.admin.post('/refunds', {
      ...{ payment_no, amount: '1.00', destination: 'channel', reason: 'sold out' },
      ...more,
    });
  const { refund_no: first } = (await ask()).data;
  await until(async () => (await rowOf(first)).status === 'succeeded');
  const { refund_no: second } = (await ask()).data;
  await until(async () => ((await rowOf(second)).due_at?.getTime() ?? 0) > Date.now() + 500_000);
  t.like(await rowOf(second), { status: 'pending', tries: 0 });
  t.deepEqual(company.calls, [`send ${first} 1.00`]);
  const third = await ask();
  t.deepEqual([third.status, third.code, third.errorCode], [400, 40004, 'refund_too_many']);
  t.is((await ask({ destination: 'balance' })).status, 200);
  await change('UPDATE refunds SET sent_at = NOW(3) - INTERVAL 11 MINUTE WHERE refund_no = ?', [first]);
  t.is((await query(second)).data.status, 'succeeded');
  await change('UPDATE payments SET pay_time = NOW(3) - INTERVAL 11 DAY WHERE payment_no = ?', [payment_no]);
  const late = await ask();
  t.deepEqual([late.status, late.code, late.errorCode], [400, 40004, 'refund_too_late']);
  t.is((await ask({ destination: 'balance' })).status, 200);
  t.like(await booksOf(payment), { refund_reserved: '4.00', refunded_amount: '4.00' });
});

test.serial('a refund is asked for more and more rarely, and never given up', (t) => {
  const [minute, day] = [60_000, 86_400_000];
  const waitOf = (tries: number, age: number): number =>
    Math.round(
      (nextAsk({ tries, sent_at: new Date(Date.now() - age) }, false).due.getTime() - Date.now()) / 1000,
    );
  const waits = [1, 2, 3, 4, 5, 6].map((tries) => waitOf(tries, minute));
  t.deepEqual(waits, [30, 60, 300, 600, 1200, 1800]);
  t.deepEqual(
    [day / 2, 2 * day, 9 * day, 900 * day].map((age) => waitOf(50, age)),
    [3600, 21_600, 86_400, 86_400],
  );
});
