// back-office payments …, callbacks …, refunds …: payments that need attention, callbacks that were not
// settled, and asking payment companies.
import type { Command } from 'commander';
import { daysAgo, now } from '../../lib/values/clock.js';
import { readTime } from '../../lib/values/time.js';
import { allChannels, openResults } from '../../lib/channels/index.js';
import { paymentPeriod, refundPeriod } from '../../lib/values/numbers.js';
import { newest } from '../../lib/input/list-query.js';
import { askPaymentNow } from '../../models/trade/channel-asking.js';
import { followSince } from '../../models/trade/payment-follow-up.js';
import {
  getPayment,
  listPayments,
  maxPendingMinutes,
  type PaymentCriteria,
} from '../../models/trade/payment.js';
import { unsettledCallbacks } from '../../models/trade/payment-callback.js';
import { settle } from '../../models/trade/payment-settlement.js';
import { askAllRefundsNow, askRefundNow } from '../../models/trade/refund-schedule.js';
import { does, Misuse, table, type Given, type Outcome } from './command.js';

const shown = 100;

export const add = {
  payments(payments: Command): void {
    does(
      payments
        .command('stuck')
        .option('--minutes <n>', 'pending for longer than so many minutes', '60')
        .description(`those that need a person, and those pending for long, the newest ${shown} of each`),
      listUnsettled,
    );
    does(
      payments
        .command('ask')
        .argument('<payment_no>')
        .description('asks its company what became of a payment, and settles what it says'),
      ask,
      { changes: true },
    );
    does(
      payments
        .command('follow')
        .requiredOption('--since <days>', 'made in the last so many days, as 15d')
        .description(
          'has the companies asked about payments that were placed before their results were open',
        ),
      followPlaced,
      { changes: true },
    );
  },
  callbacks(callbacks: Command): void {
    does(
      callbacks
        .command('redrive')
        .option('--from <time>', 'ISO 8601, as 2026-11-01T00:00:00Z; the beginning if not given')
        .option('--to <time>', 'ISO 8601; now if not given')
        .description('settles the verified callbacks of that time that wait; twice does no harm'),
      redrive,
      { changes: true },
    );
  },
  refunds(refunds: Command): void {
    does(
      refunds
        .command('ask')
        .argument('[refund_no]', 'one of them; all that have not ended if not given')
        .description('makes refunds due now; the worker sends them or asks what became of them'),
      askRefunds,
      { changes: true },
    );
  },
};

async function listUnsettled(given: Given): Promise<Outcome> {
  const minutes = Number(given.option('minutes'));
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > maxPendingMinutes)
    throw new Misuse(`--minutes: a whole number from 1 to ${maxPendingMinutes}`);
  const [attention, pending] = [
    await some({ needs_attention: true }),
    await some({ pending_longer_than: minutes }),
  ];
  return {
    data: { needs_attention: attention, pending },
    text: [
      `needs a person: ${attention.total}`,
      table(attention.rows, ''),
      `pending for longer than ${minutes} minutes: ${pending.total}`,
      table(pending.rows, ''),
    ]
      .filter((part) => part !== '')
      .join('\n'),
    isBad: attention.total > 0,
  };
}

async function some(criteria: Omit<PaymentCriteria, 'time_field'>) {
  const { list, total } = await listPayments({ ...criteria, time_field: 'created_at', ...newest(shown) });
  const rows = list.map(({ payment_no, order_no, amount, status, fail_reason, created_at }) => ({
    payment_no,
    order_no,
    amount: String(amount),
    status,
    fail_reason,
    created_at,
  }));
  return { total, rows };
}

async function ask(given: Given): Promise<Outcome> {
  const payment_no = given.args[0] ?? '';
  if (paymentPeriod(payment_no) === undefined) throw new Misuse('<payment_no>: a payment number, PAY…');
  const { payment_method } = await getPayment(payment_no);
  if (!askedTypes().includes(payment_method?.type ?? ''))
    throw new Misuse('the results of its channel are not open (PAYMENT_CHANNEL_RESULTS)');
  const state = await askPaymentNow(payment_no);
  const { status, fail_reason } = await getPayment(payment_no);
  return {
    data: { state, status, fail_reason },
    text: `the company says: ${state}; the payment is ${status}${fail_reason ? ` (${fail_reason})` : ''}`,
  };
}

const askedTypes = (): string[] => allChannels.filter(openResults).map(({ type }) => type);

async function followPlaced(given: Given): Promise<Outcome> {
  const days = Number(/^(\d{1,3})d?$/.exec(given.option('since') ?? '')?.[1]);
  if (!(days >= 1)) throw new Misuse('--since: days, as 15d');
  const types = askedTypes();
  if (types.length === 0) throw new Misuse('no results are open (PAYMENT_CHANNEL_RESULTS)');
  const followed = await followSince(daysAgo(days), types);
  return { data: { followed }, text: `${followed} more payments are followed` };
}

async function redrive(given: Given): Promise<Outcome> {
  const [from, to] = [timeOf(given, 'from') ?? new Date(0), timeOf(given, 'to') ?? now()];
  if (from > to) throw new Misuse('--from: a time before that of --to');
  const verdicts: Record<string, number> = {};
  let failed = 0;
  for await (const callback of unsettledCallbacks(to, from)) {
    try {
      const verdict = await settle(callback);
      verdicts[verdict] = (verdicts[verdict] ?? 0) + 1;
    } catch {
      failed++;
    }
  }
  const parts = Object.entries(verdicts).map(([verdict, count]) => `${count} ${verdict}`);
  if (failed > 0) parts.push(`${failed} failed and wait for the next try`);
  return { data: { verdicts, failed }, text: parts.join(', ') || 'none waited', isBad: failed > 0 };
}

function timeOf(given: Given, name: 'from' | 'to'): Date | undefined {
  const text = given.option(name);
  if (text === undefined) return undefined;
  const time = /[zZ]$|[+-]\d\d:\d\d$/.test(text)
    ? readTime(text, 'UTC', name === 'to' ? 'end' : 'start')
    : undefined;
  if (!time) throw new Misuse(`--${name}: a time with its zone, as 2026-11-01T00:00:00Z`);
  return time;
}

async function askRefunds({ args: [refundNo] }: Given): Promise<Outcome> {
  if (refundNo !== undefined && refundPeriod(refundNo) === undefined)
    throw new Misuse('<refund_no>: a refund number, REF…');
  const due = refundNo === undefined ? await askAllRefundsNow() : Number(await askRefundNow(refundNo));
  return { data: { due }, text: due === 0 ? 'none is open' : `${due} due` };
}
