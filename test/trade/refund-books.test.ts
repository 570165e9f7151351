// Whether refunds and balances add up: checked by doctor and verify, notified once a day. And refunds of the command line.
import '../support/environment.js';
import '../support/local-gateways.js';
import '../support/open-results.js';
import test from 'ava';
import { maintainTables } from '../../src/jobs/maintain-tables.js';
import { change, select } from '../../src/lib/database/db.js';
import { companiesTest } from '../support/companies.js';
import { runCli } from '../support/processes.js';
import { booksOf, refundPart, type Books } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest();
const companies = companiesTest(service);

test.beforeEach(() => {
  companies.wechat.refunds.outcome = 'PROCESSING';
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

test.serial('what is not the sum of its refunds or changes is found, and notified once a day', async (t) => {
  const payment = await companies.paid('wechat');
  const { payment_no } = payment;
  const body = { payment_no, amount: '5.00', destination: 'balance', reason: 'sold out' };
  t.is((await service.admin.post('/refunds', body)).status, 200);
  await refundPart(service.admin, payment, '4.00');
  t.like(await booksOf(payment), { refund_reserved: '9.00', refunded_amount: '5.00' });
  await maintainTables.run({ day: '2026-01-01' }, AbortSignal.timeout(60_000));
  t.deepEqual(await notifications(), []);
  await t.throwsAsync(maintainTables.run({ day: '2026-01-01' }, AbortSignal.abort()), { any: true });
  t.like(await books(), { level: 'ok' });
  const harm: [keyof Books | 'balance', string, RegExp][] = [
    ['refunded_amount', '5.01', /refunded amount is not the sum/],
    ['refund_reserved', '9.01', /reserved amount is not the sum/],
    ['refund_reserved', '69.01', /more than was paid/],
    ['refunded_amount', '9.50', /refund more than they reserve/],
    ['balance', '5.02', /balance is not the sum/],
  ];
  for (const [column, value, expected] of harm) {
    const before = { ...(await booksOf(payment)), balance: '5.00' };
    const set = (to: string) =>
      column === 'balance'
        ? change(
            'UPDATE users u JOIN payments p ON p.user_id = u.id SET u.balance = ? WHERE p.payment_no = ?',
            [to, payment_no],
          )
        : change(`UPDATE payments SET ${column} = ? WHERE payment_no = ?`, [to, payment_no]);
    await set(value);
    const { output, code } = await runCli(['--json', 'verify']);
    t.is(code, 1);
    const { contradictions } = JSON.parse(output) as { contradictions: { what: string; first: string[] }[] };
    t.true(
      contradictions.some(({ what }) => expected.test(what)),
      JSON.stringify(contradictions),
    );
    if (column !== 'balance') t.true(contradictions.every(({ first }) => first.includes(payment_no)));
    await set(before[column]);
  }
  await change('UPDATE payments SET refunded_amount = 6 WHERE payment_no = ?', [payment_no]);
  t.like(await books(), { level: 'fault' });
  for (const day of ['2026-01-02', '2026-01-02', '2026-01-03'])
    await maintainTables.run({ day }, AbortSignal.timeout(60_000));
  const notices = await notifications();
  t.is(notices.length, 2);
  for (const { content } of notices) t.true(content.includes(payment_no));
  await change('UPDATE payments SET refunded_amount = 5 WHERE payment_no = ?', [payment_no]);
});

test.serial('refunds are made due by the command line', async (t) => {
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
