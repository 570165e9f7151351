// Refunds at their company: none is lost, paid twice or trusted without a query, and the books of both companies equal ours,
// whatever happens between. Whether refunds and balances add up: checked by doctor and verify, notified once a day.
import '../support/settings/environment.js';
import '../support/settings/local-gateways.js';
import '../support/settings/open-results.js';
import test, { type ExecutionContext } from 'ava';
import { maintainTables } from '../../src/jobs/maintain-tables.js';
import { change, select } from '../../src/lib/database/db.js';
import { setClock } from '../../src/lib/values/clock.js';
import { Money } from '../../src/lib/values/money.js';
import { newRefundNumber } from '../../src/lib/values/numbers.js';
import { nextAsk } from '../../src/models/trade/refund-schedule.js';
import { runRefund } from '../../src/models/trade/refund-run.js';
import { checkEquations } from '../../src/models/figures/consistency.js';
import { outcome } from '../support/client.js';
import { companiesTest, runDue, types, type Placed, type Type } from '../support/companies/companies.js';
import { runCli } from '../support/processes.js';
import { booksOf, refundPart, refundRow, type RefundRow } from '../support/refunds.js';
import { connectionsAt, holdingPayment, lockWaits, otherConnection } from '../support/other-connection.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';
import { refusal } from '../support/companies/wechat-ledger.js';
import type { RefundContent } from '../support/companies/wechat-refunds.js';

const service = serviceTest();
const companies = companiesTest(service);
const { place, paid, pay } = companies;

test.after(async (t) => {
  t.deepEqual(await checkEquations(), []);
});

/** How a company takes a refund at first. */
const takes = {
  well: () => undefined,
  busy: () => (companies.wechat.results.moods.refund = 'busy'),
  silent: () => (companies.wechat.results.moods.refund = 'silent'),
  losing: () => (companies.wechat.results.moods.refund = 'cut'),
  holding: () => (companies.wechat.refunds.outcome = 'PROCESSING'),
  stuck: () => (companies.wechat.refunds.outcome = 'ABNORMAL'),
  'of another amount': () => (companies.wechat.results.moods.queryRefund = 'otherAmount'),
  refusing() {
    companies.wechat.results.moods.refund = 'refusing';
    companies.wechat.results.refusal = refusal(400, 'INVALID_REQUEST', '订单已全额退款');
  },
};

/** A refund of 5.00 of a payment of its own whose first run is over. */
async function refunded(how: keyof typeof takes): Promise<RefundRow> {
  const payment = await paid('wechat');
  takes[how]();
  const row = await refundPart(service.admin, payment);
  companies.wechat.results.moods.refund = 'well';
  return row;
}

/** What the company was asked about a refund, in order. */
const asked = (refundNo: string): string[] =>
  companies.wechat.results.requests.flatMap(({ number, operation }) =>
    number === refundNo ? [operation] : [],
  );

const settle = (refundNo: string, status: 'SUCCESS' | 'CLOSED' | 'ABNORMAL'): void =>
  companies.wechat.refunds.settle(refundNo, status);

const makeDue = (refundNo: string) =>
  change('UPDATE refunds SET due_at = NOW(3) WHERE refund_no = ?', [refundNo]);

const run = (refundNo: string) => runRefund(refundNo, AbortSignal.timeout(5000));

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

test.serial('a refund whose sending answered nothing is sent again under its number', async (t) => {
  const { refund_no, payment_no, status, fail_reason, due_at } = await refunded('busy');
  t.is(status, 'processing');
  t.regex(fail_reason ?? '', /^FREQUENCY_LIMITED/);
  t.true(Math.abs((due_at?.getTime() ?? 0) - Date.now() - 30_000) < 15_000);
  t.like(await booksOf({ payment_no }), untouched);
  t.like((await query(refund_no)).data, { status: 'processing', fail_reason: null, tries: 2 });
  t.like((await query(refund_no)).data, { status: 'succeeded', tries: 3 });
  t.deepEqual(asked(refund_no), ['refund', 'queryRefund', 'refund', 'queryRefund']);
  t.is(companies.wechat.refunds.refundedOf(payment_no), 500);
  t.like(await booksOf({ payment_no }), given);
});

test.serial('a refund is due for a worker whose clock is a second behind', async (t) => {
  const { refund_no } = await refunded('busy');
  await change('UPDATE refunds SET due_at = NOW(3) + INTERVAL 1 SECOND WHERE refund_no = ?', [refund_no]);
  await run(refund_no);
  t.is((await refundRow(refund_no)).tries, 2);
});

test.serial('a refund whose answer was lost is booked once', async (t) => {
  const { refund_no, payment_no } = await refunded('losing');
  t.like(await booksOf({ payment_no }), untouched);
  await makeDue(refund_no);
  await Promise.all(Array.from({ length: 8 }, () => run(refund_no)));
  t.is((await refundRow(refund_no)).status, 'succeeded');
  t.deepEqual(asked(refund_no), ['refund', 'queryRefund']);
  t.is(companies.wechat.refunds.refundedOf(payment_no), 500);
  t.like(await booksOf({ payment_no }), given);
});

/** Runs the refund in several workers, whose queries are answered at the same moment. */
async function runTogether(refundNo: string): Promise<void> {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  companies.wechat.results.before = () => gate;
  const runs: Promise<unknown>[] = [];
  for (let times = 1; times <= 5; times++) {
    await makeDue(refundNo);
    runs.push(run(refundNo));
    await until(() => asked(refundNo).filter((one) => one === 'queryRefund').length >= times);
  }
  open();
  await Promise.all(runs);
}

test.serial('successes that come together are booked once', async (t) => {
  const { refund_no, payment_no } = await refunded('losing');
  await runTogether(refund_no);
  t.is((await refundRow(refund_no)).status, 'succeeded');
  t.like(await booksOf({ payment_no }), given);
});

test.serial('failures that come together release the amount once', async (t) => {
  const { refund_no, payment_no } = await refunded('holding');
  settle(refund_no, 'CLOSED');
  await runTogether(refund_no);
  t.is((await refundRow(refund_no)).status, 'failed');
  t.like(await booksOf({ payment_no }), released);
});

test.serial('a refusal is believed once a query agrees, and releases the amount once', async (t) => {
  const { refund_no, payment_no, status, code } = await refunded('refusing');
  t.deepEqual([status, code], ['processing', 'INVALID_REQUEST']);
  companies.wechat.results.moods.queryRefund = 'busy';
  await runDue(refund_no);
  companies.wechat.results.moods.queryRefund = 'well';
  t.like(await booksOf({ payment_no }), untouched);
  await makeDue(refund_no);
  await Promise.all(Array.from({ length: 8 }, () => run(refund_no)));
  await query(refund_no);
  t.deepEqual(asked(refund_no), ['refund', 'queryRefund', 'queryRefund'], 'not sent again');
  t.like(await booksOf({ payment_no }), released);
  const { data } = await service.admin.get(`/refunds/${refund_no}`);
  t.like(data, { status: 'failed', needs_attention: true, fail_reason: 'refund_failed', due_at: null });
  t.is(data.code, 'INVALID_REQUEST');
  t.is((await notices(refund_no)).length, 1);
  const whole = { payment_no, destination: 'balance', reason: 'again' };
  t.is((await service.admin.post('/refunds', whole)).data.amount, 69);
});

test.serial('a refusal that a query contradicts is not believed', async (t) => {
  companies.wechat.results.before = (operation, number) => {
    // An earlier sending had arrived after all.
    if (operation === 'queryRefund' && companies.wechat.refunds.stateOf(number) === undefined)
      companies.wechat.refunds.create(
        companies.wechat.results.requests.find((one) => one.number === number)?.content as RefundContent,
      );
  };
  const { refund_no, payment_no } = await refunded('refusing');
  t.is((await query(refund_no)).data.status, 'succeeded');
  t.like(await booksOf({ payment_no }), given);
});

test.serial('a refund that fails at its company later releases the amount', async (t) => {
  const { refund_no, payment_no, status } = await refunded('holding');
  t.is(status, 'processing');
  const { accepted_at, sent_at } = (await service.admin.get(`/refunds/${refund_no}`)).data;
  t.true(accepted_at >= sent_at);
  // This answer is on its way for so long that a later one ends the refund.
  let letGo: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    companies.wechat.results.after = () => {
      resolve();
      return new Promise<void>((arrive) => (letGo = arrive));
    };
  });
  settle(refund_no, 'ABNORMAL');
  await makeDue(refund_no);
  const late = run(refund_no);
  await held;
  companies.wechat.results.after = () => undefined;
  settle(refund_no, 'CLOSED');
  t.like((await query(refund_no)).data, { status: 'failed', code: 'CLOSED', accepted_at });
  letGo();
  await late;
  const flagged = { needs_attention: 1, fail_reason: 'refund_failed' };
  t.like(await refundRow(refund_no), { code: 'CLOSED', due_at: null, ...flagged });
  t.like(await booksOf({ payment_no }), released);
});

test.serial('a run that was halted for longer than it had claimed the refund sends nothing', async (t) => {
  const { refund_no } = await refunded('busy');
  // A run reads the payment with its assignee.
  const other = await otherConnection();
  await other.query('LOCK TABLES admins WRITE');
  await makeDue(refund_no);
  const halted = run(refund_no);
  await until(async () => (await connectionsAt('SELECT%LEFT JOIN admins a%')).length === 1);
  setClock(new Date(Date.now() + 3 * 60_000));
  await other.end();
  await t.throwsAsync(halted, { message: /halted/ }).finally(() => setClock());
  t.deepEqual(asked(refund_no), ['refund', 'queryRefund']);
  await runDue(refund_no);
  t.deepEqual(asked(refund_no), ['refund', 'queryRefund', 'queryRefund', 'refund']);
});

test.serial('a query of a refund that is just being sent is answered as soon as it is', async (t) => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const { payment_no } = await paid('wechat');
  companies.wechat.results.before = () => gate;
  const body = { payment_no, destination: 'channel', reason: 'sold out' };
  const { refund_no } = (await service.admin.post('/refunds', body)).data;
  await until(() => asked(refund_no).length > 0);
  const begun = performance.now();
  const answer = query(refund_no);
  await until(async () => ((await refundRow(refund_no)).due_at?.getTime() ?? Infinity) <= Date.now());
  open();
  t.is((await answer).status, 200);
  t.true(performance.now() - begun < 6000);
});

test.serial('a success that comes after days is booked', async (t) => {
  const { refund_no, payment_no } = await refunded('holding');
  await change('UPDATE refunds SET sent_at = NOW(3) - INTERVAL 5 DAY, tries = 40 WHERE refund_no = ?', [
    refund_no,
  ]);
  t.is((await query(refund_no)).data.status, 'processing');
  settle(refund_no, 'SUCCESS');
  t.is((await query(refund_no)).data.status, 'succeeded');
  t.like(await booksOf({ payment_no }), given);
  t.deepEqual(await notices(refund_no), []);
});

for (const how of ['stuck', 'of another amount'] as const)
  test.serial(
    `a refund is flagged once, a week after somebody cleared it again, and asked about daily: ${how}`,
    async (t) => {
      const { refund_no, payment_no } = await refunded(how);
      t.like((await query(refund_no)).data, {
        ...{ status: 'processing', needs_attention: true, fail_reason: 'refund_stuck' },
      });
      const { due_at } = await refundRow(refund_no);
      t.true((due_at?.getTime() ?? 0) > Date.now() + 23 * 3_600_000, 'asked daily');
      t.like(await booksOf({ payment_no }), untouched);
      const put = (fail_reason: string) =>
        service.admin.put(`/refunds/${refund_no}`, { needs_attention: false, fail_reason });
      const unseen = await put('refund_slow');
      t.deepEqual(outcome(unseen), [400, 40003, 'refund_attention_changed']);
      t.like((await put('refund_stuck')).data, { needs_attention: false, fail_reason: 'refund_stuck' });
      t.like((await query(refund_no)).data, { status: 'processing', needs_attention: false });
      t.is((await notices(refund_no)).length, 1);
      await change(
        `UPDATE notifications SET created_at = created_at - INTERVAL 169 HOUR WHERE event_key LIKE CONCAT('refund-', ?, '%')`,
        [refund_no],
      );
      for (let times = 0; times < 2; times++)
        t.like(
          (await query(refund_no)).data,
          { needs_attention: true, fail_reason: 'refund_stuck' },
          'again',
        );
      await change('UPDATE refunds SET sent_at = NOW(3) - INTERVAL 9 DAY WHERE refund_no = ?', [refund_no]);
      companies.wechat.results.moods.queryRefund = 'busy';
      await query(refund_no);
      t.is((await notices(refund_no)).length, 2, 'a week later once more, and not as slow, too');
      companies.wechat.results.reset();
      settle(refund_no, 'SUCCESS');
      t.like((await query(refund_no)).data, {
        ...{ status: 'succeeded', needs_attention: false, fail_reason: null },
      });
      t.like(await booksOf({ payment_no }), given);
    },
  );

test.serial('a refund that is not finished after eight days is flagged and asked for again', async (t) => {
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
  t.true(((await refundRow(refund_no)).due_at?.getTime() ?? 0) > Date.now() + 23 * 3_600_000);
});

test.serial(
  'a refund that is not accepted within four hours is flagged with what the channel says',
  async (t) => {
    companies.wechat.refunds.funds = 0;
    const { refund_no } = await refunded('well');
    const grow = (minutes: number) =>
      change('UPDATE refunds SET sent_at = NOW(3) - INTERVAL ? MINUTE, tries = 12 WHERE refund_no = ?', [
        minutes,
        refund_no,
      ]);
    await grow(239);
    t.is((await query(refund_no)).status, 502);
    t.deepEqual(await notices(refund_no), [], 'not before');
    await grow(241);
    for (let times = 0; times < 2; times++) t.is((await query(refund_no)).status, 502);
    t.like(await refundRow(refund_no), {
      ...{ status: 'processing', needs_attention: 1, fail_reason: 'refund_slow' },
    });
    const [notice = '', ...others] = await notices(refund_no);
    t.regex(notice, /4 hours.*NOT_ENOUGH: 基本账户余额不足/);
    t.deepEqual(others, []);
    companies.wechat.refunds.topUp(500);
    t.like((await query(refund_no)).data, { status: 'processing', needs_attention: true });
    t.like((await query(refund_no)).data, { status: 'succeeded', needs_attention: false, fail_reason: null });
  },
);

test.serial('what was learned in vain is answered 502 in both languages', async (t) => {
  const { refund_no } = await refunded('holding');
  companies.wechat.results.mood = 'unsigned';
  for (const [language, reason] of [
    ['zh-CN', '签名无效'],
    ['en-US', 'no valid signature'],
  ] as const) {
    const { status, errorCode, message } = await query(refund_no, language);
    t.deepEqual([status, errorCode], [502, 'third_party_error']);
    t.true(message.includes(reason), message);
  }
});

test.serial(
  'a company that is silent about a refund is not waited for longer than about a payment',
  async (t) => {
    const { refund_no, fail_reason } = await refunded('silent');
    t.regex(fail_reason ?? '', /did not answer in time/);
    companies.wechat.results.mood = 'silent';
    const { status, errorCode, message } = await query(refund_no, 'en-US');
    t.deepEqual([status, errorCode], [502, 'third_party_error']);
    t.regex(message, /did not answer in time/);
  },
);

test.serial('a company takes so many refunds of a payment, so far apart, for so long', async (t) => {
  const payment = await paid('wechat');
  const { payment_no } = payment;
  const ask = (more: object = {}) =>
    service.admin.post('/refunds', {
      ...{ payment_no, amount: '1.00', destination: 'channel', reason: 'sold out' },
      ...more,
    });
  const { refund_no: first } = await refundPart(service.admin, payment, '1.00');
  const second = await refundPart(service.admin, payment, '1.00');
  t.like(second, { status: 'pending', tries: 0 });
  t.true((second.due_at?.getTime() ?? 0) > Date.now() + 30_000, 'a minute behind the first');
  t.deepEqual(asked(second.refund_no), []);
  t.is((await ask({ destination: 'balance' })).status, 200);
  const others = await Promise.all(Array.from({ length: 48 }, () => ask()));
  t.true(others.every(({ status }) => status === 200));
  const more = await ask();
  t.deepEqual(outcome(more), [400, 40004, 'refund_too_many']);
  t.is((await ask({ destination: 'balance' })).status, 200);
  await change('UPDATE refunds SET due_at = NOW(3) + INTERVAL 1 DAY WHERE payment_no = ? AND tries = 0', [
    payment_no,
  ]);
  await change('UPDATE refunds SET sent_at = NOW(3) - INTERVAL 2 MINUTE WHERE refund_no = ?', [first]);
  t.is((await query(second.refund_no)).data.status, 'processing');
  await change('UPDATE payments SET pay_time = NOW(3) - INTERVAL 366 DAY WHERE payment_no = ?', [payment_no]);
  const late = await ask();
  t.deepEqual(outcome(late), [400, 40004, 'refund_too_late']);
  t.is((await ask({ destination: 'balance' })).status, 200);
});

test.serial('of two refunds of a payment that are due at once one waits', async (t) => {
  const payment = await paid('wechat');
  const first = await refundPart(service.admin, payment, '1.00');
  const waiting = [
    await refundPart(service.admin, payment, '1.00'),
    await refundPart(service.admin, payment, '1.00'),
  ];
  const numbers = waiting.map(({ refund_no }) => refund_no);
  await change('UPDATE refunds SET sent_at = NOW(3) - INTERVAL 2 MINUTE WHERE refund_no = ?', [
    first.refund_no,
  ]);
  await Promise.all(numbers.map(makeDue));
  const letGo = await holdingPayment(payment);
  const runs = numbers.map(run);
  await until(async () => (await lockWaits('FROM payments p')) === 2, 10_000).finally(letGo);
  await Promise.all(runs);
  t.deepEqual(numbers.map((number) => asked(number).length).sort(), [0, 1]);
});

test.serial('a refund is asked for more and more rarely, and never given up', (t) => {
  const [minute, day] = [60_000, 86_400_000];
  const waitOf = (tries: number, age: number): number =>
    Math.round(
      (nextAsk({ tries, sent_at: new Date(Date.now() - age) }, {}).due.getTime() - Date.now()) / 1000,
    );
  const waits = [1, 2, 3, 4, 5, 6].map((tries) => waitOf(tries, minute));
  t.deepEqual(waits, [30, 60, 300, 600, 1200, 1800]);
  t.deepEqual(
    [day / 2, 2 * day, 9 * day, 900 * day].map((age) => waitOf(50, age)),
    [3600, 21_600, 86_400, 86_400],
  );
});

const refund = async (payment: Placed, amount: string): Promise<string> =>
  (await refundPart(service.admin, payment, amount)).refund_no;

const shown = async (refundNo: string) => (await service.admin.get(`/refunds/${refundNo}`)).data;

const askUntil = (refundNo: string, status: string): Promise<boolean> =>
  until(async () => (await query(refundNo)).data?.status === status, 15_000, 300);

/** What went back there, in cents. */
const backAt = (type: Type, { payment_no }: Placed): bigint =>
  type === 'wechat'
    ? BigInt(companies.wechat.refunds.refundedOf(payment_no))
    : Money.from(companies.alipay.refunds.refundedOf(payment_no)).cents;

/** Both books say that so much went back, and nothing more is under way. */
async function agree(t: ExecutionContext, type: Type, payment: Placed, amount: string): Promise<void> {
  const { status, refund_reserved, refunded_amount } = await booksOf(payment);
  t.deepEqual([status, refund_reserved, refunded_amount], ['paid', amount, amount]);
  t.is(backAt(type, payment), Money.from(amount).cents);
}

for (const type of types) {
  test.serial(`money goes back through ${type} in parts, and both books agree`, async (t) => {
    const payment = await paid(type);
    const first = await refund(payment, '5.00');
    await askUntil(first, 'succeeded');
    await agree(t, type, payment, '5.00');
    t.like(await shown(first), { needs_attention: false, fail_reason: null });
    const rest = await refund(payment, '64.00');
    // Refunds of one payment keep their distance: this one is due later.
    await change('UPDATE refunds SET sent_at = sent_at - INTERVAL 2 MINUTE WHERE refund_no = ?', [first]);
    await askUntil(rest, 'succeeded');
    await agree(t, type, payment, '69.00');
    const more = { payment_no: payment.payment_no, amount: '0.01', destination: 'channel', reason: 'more' };
    t.is((await service.admin.post('/refunds', more)).errorCode, 'refund_exceeds_payment');
  });
}

test.serial('a reason of more bytes than WeChat takes is sent as far as it fits', async (t) => {
  const payment = await paid('wechat');
  const reason = `${'商品已售完'.repeat(5)}🍵${'退'.repeat(53)}`;
  const { data } = await service.admin.post('/refunds', {
    ...{ payment_no: payment.payment_no, amount: '5.00', destination: 'channel', reason },
  });
  await askUntil(data.refund_no, 'succeeded');
  await agree(t, 'wechat', payment, '5.00');
  t.is((await shown(data.refund_no)).reason, reason);
  t.is(companies.wechat.refunds.reasonOf(data.refund_no), `${'商品已售完'.repeat(5)}🍵`);
});

test.serial('money that came too late is given back', async (t) => {
  const payment = await place('wechat');
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  pay('wechat', payment);
  await service.admin.post(`/payments/${payment.payment_no}/query`);
  const { data } = await service.admin.get(`/payments/${payment.payment_no}`);
  t.like(data, { status: 'paid', fail_reason: 'order_not_payable', refundable: 69 });
  const refundNo = await refund(payment, '69.00');
  await askUntil(refundNo, 'succeeded');
  await agree(t, 'wechat', payment, '69.00');
});

interface Finding {
  check: string;
  level: string;
  says: string;
}

async function books(): Promise<Finding | undefined> {
  const { output } = await runCli(['--json', 'doctor']);
  const { findings } = JSON.parse(output) as { findings: Finding[] };
  return findings.find(({ check }) => check === 'books');
}

const bookNotices = (): Promise<{ content: string }[]> =>
  select(`SELECT content FROM notifications WHERE event_key LIKE 'books-%'`);

/** A payment with 5.00 refunded to the balance, and 4.00 on their way. */
async function partlyRefunded(): Promise<Placed> {
  const payment = await paid('wechat');
  const body = { payment_no: payment.payment_no, amount: '5.00', destination: 'balance', reason: 'sold out' };
  await service.admin.post('/refunds', body);
  await refundPart(service.admin, payment, '4.00');
  return payment;
}

test.serial('what is not the sum of its refunds or changes is found, and notified once a day', async (t) => {
  companies.wechat.refunds.outcome = 'PROCESSING';
  const harm: [string, RegExp][] = [
    ['p.refunded_amount = 5.01', /refunded amount is not the sum/],
    ['p.refund_reserved = 9.01', /reserved amount is not the sum/],
    ['p.refund_reserved = 69.01', /more than was paid/],
    ['p.refunded_amount = 9.50', /refund more than they reserve/],
    ['u.balance = 5.02', /balance is not the sum/],
  ];
  const numbers: string[] = [];
  for (const _ of harm) {
    const payment = await partlyRefunded();
    t.like(await booksOf(payment), { refund_reserved: '9.00', refunded_amount: '5.00' });
    numbers.push(payment.payment_no);
  }
  await maintainTables.run({ day: '2026-01-01' }, AbortSignal.timeout(60_000));
  t.deepEqual(await bookNotices(), []);
  await t.throwsAsync(maintainTables.run({ day: '2026-01-01' }, AbortSignal.abort()), { any: true });
  t.deepEqual(await checkEquations(), []);
  const set = (what: string, ...of: string[]) =>
    change(`UPDATE users u JOIN payments p ON p.user_id = u.id SET ${what} WHERE p.payment_no IN (?)`, [of]);
  for (const [index, [what]] of harm.entries()) await set(what, numbers[index] as string);
  const { output, code } = await runCli(['--json', 'verify']);
  t.is(code, 1);
  const { contradictions } = JSON.parse(output) as { contradictions: { what: string; first: string[] }[] };
  for (const [index, [what, expected]] of harm.entries()) {
    const number = numbers[index] as string;
    const isMeant = ({ first }: { first: string[] }): boolean =>
      what.startsWith('u') ? first.length === 1 : first.includes(number);
    t.true(
      contradictions.some((one) => expected.test(one.what) && isMeant(one)),
      `${what}: ${output}`,
    );
  }
  const found = contradictions.flatMap(({ first }) => first).filter((name) => name.startsWith('PAY'));
  t.deepEqual([...new Set(found)].sort(), numbers.slice(0, -1).sort());
  t.like(await books(), { level: 'fault' });
  for (const day of ['2026-01-02', '2026-01-02', '2026-01-03'])
    await maintainTables.run({ day }, AbortSignal.timeout(60_000));
  const told = await bookNotices();
  t.is(told.length, 2);
  for (const { content } of told) t.true(content.includes(numbers[0] as string));
  await set('p.refunded_amount = 5, p.refund_reserved = 9, u.balance = 5', ...numbers);
});

test.serial('refunds are made due by the command line', async (t) => {
  companies.wechat.refunds.outcome = 'PROCESSING';
  const { refund_no } = await refundPart(service.admin, await paid('wechat'));
  const queries = (): number => companies.wechat.results.count('queryRefund', refund_no);
  for (const given of [[], [refund_no]]) {
    const before = queries();
    // After the run before, which is over then.
    await until(() =>
      change(
        'UPDATE refunds SET due_at = NOW(3) + INTERVAL 1 DAY WHERE refund_no = ? AND due_at < NOW(3) + INTERVAL 90 SECOND',
        [refund_no],
      ),
    );
    t.is((await runCli(['refunds', 'ask', ...given])).code, 0);
    await until(() => queries() > before);
  }
  t.is((await runCli(['refunds', 'ask', newRefundNumber(new Date())])).code, 1);
});
