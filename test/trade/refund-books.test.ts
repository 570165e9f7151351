// Refunds through both payment companies: their books equal ours, whatever happens between. Whether refunds
// and balances add up: checked by doctor and verify, notified once a day. And refunds of the command line.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test, { type ExecutionContext } from 'ava';
import { maintainTables } from '../../src/jobs/maintain-tables.js';
import { change, select } from '../../src/lib/database/db.js';
import { Money } from '../../src/lib/values/money.js';
import { checkEquations } from '../../src/models/figures/consistency.js';
import { companiesTest, types, type Placed, type Type } from '../support/companies.js';
import { runCli } from '../support/processes.js';
import { booksOf, refundPart } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
const companies = companiesTest(service);
const { place, paid, pay } = companies;

test.after(async (t) => {
  t.deepEqual(await checkEquations(), []);
});

const refund = async (payment: Placed, amount: string): Promise<string> =>
  (await refundPart(service.admin, payment, amount)).refund_no;

const shown = async (refundNo: string) => (await service.admin.get(`/refunds/${refundNo}`)).data;

/** Sends or asks, and shows what became of it. */
async function asked(refundNo: string) {
  await service.admin.post(`/refunds/${refundNo}/query`);
  return shown(refundNo);
}

const askUntil = (refundNo: string, status: string): Promise<boolean> =>
  until(async () => (await asked(refundNo)).status === status, 15_000, 300);

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

const notifications = (): Promise<{ content: string }[]> =>
  select(`SELECT content FROM notifications WHERE event_key LIKE 'books-%'`);

/** A payment of which 5.00 have gone to the balance, and 4.00 are on their way. */
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
  t.deepEqual(await notifications(), []);
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
  const notices = await notifications();
  t.is(notices.length, 2);
  for (const { content } of notices) t.true(content.includes(numbers[0] as string));
  await set('p.refunded_amount = 5, p.refund_reserved = 9, u.balance = 5', ...numbers);
});

test.serial('refunds are made due by the command line', async (t) => {
  companies.wechat.refunds.outcome = 'PROCESSING';
  const { refund_no } = await refundPart(service.admin, await companies.paid('wechat'));
  const asked = (): number => companies.wechat.results.count('queryRefund', refund_no);
  for (const given of [[], [refund_no]]) {
    const before = asked();
    // After the run before, which is over then.
    await until(
      async () =>
        (await change(
          'UPDATE refunds SET due_at = NOW(3) + INTERVAL 1 DAY WHERE due_at IS NOT NULL AND due_at < NOW(3) + INTERVAL 90 SECOND',
        )) > 0,
    );
    t.is((await runCli(['refunds', 'ask', ...given])).code, 0);
    await until(() => asked() > before);
  }
  t.is((await runCli(['refunds', 'ask', 'REF'])).code, 1);
});
