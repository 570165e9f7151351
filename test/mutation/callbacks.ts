// Faults in the intake of callbacks: what is verified, what is stored, which number belongs to whom.
import type { Fault } from './fault.js';

const intake = 'src/api/payment-notify.ts';
const flow = 'src/api/flows/callback.ts';
const inbox = 'src/models/trade/payment-callback.ts';
const store = 'src/models/trade/callback-intake.ts';
const numbers = 'src/models/trade/third-party-number.ts';
const doubleMoney = 'test/trade/double-money.test.ts';
const notify = 'test/trade/payment-notify.test.ts';

export const callbacks: Fault[] = [
  {
    file: flow,
    from: `if (claim.amounts.some((given) => !given.equals(amount))) return`,
    to: `if (false as boolean) return`,
    breaks: 'the amount is ignored',
    test: notify,
    match: 'a wrong amount*',
  },
  {
    file: flow,
    from: `claim.amounts.some((given)`,
    to: `claim.amounts.every((given)`,
    breaks: 'one right amount hides a wrong one',
    test: notify,
    match: 'a wrong amount*',
  },
  {
    file: intake,
    from: `    await flagForAttention(notice.payment.payment_no, flag.reason, flag.amounts);
`,
    to: ``,
    breaks: 'a wrong amount is not flagged',
    test: notify,
    match: 'a wrong amount*',
  },
  {
    file: flow,
    from: `if (authenticity === 'forged') return`,
    to: `if ((authenticity as string) === '') return`,
    breaks: 'the signature is ignored',
    test: notify,
    match: 'no mutated signature*',
  },
  {
    file: flow,
    from: `if (!payment || payment.type !== type) return 'payment_not_found';`,
    to: `if (!payment) return 'payment_not_found';`,
    breaks: 'a channel reports for payments of another one',
    test: notify,
    match: 'a payment of another type*',
  },
  {
    file: intake,
    from: `    await recordAttempt({ ...attempt, reported_amount: flag.amounts?.reported });
`,
    to: ``,
    breaks: 'proven attempts with a wrong amount are not kept',
    test: notify,
    match: 'a wrong amount*',
  },
  {
    file: flow,
    from: `payment.status === 'paid' && payment.third_party_no === claim.thirdPartyNo`,
    to: `payment.status === 'paid'`,
    breaks: 'a second transaction for a paid payment is swallowed',
    test: notify,
    match: 'a signed success pays payment and order once',
  },
  {
    file: store,
    from: `    await flagWithin(payment_no, 'third_party_no_used', t);
`,
    to: ``,
    breaks: 'a used number is refused without a flag',
    test: doubleMoney,
    match: 'a third-party number already in use is refused before it is acknowledged',
  },
  {
    file: intake,
    from: `    if (isNews && !isAsked) return { reason: 'notice_unverified' };
`,
    to: ``,
    breaks: 'a notice that cannot be verified is not flagged',
    test: doubleMoney,
    match: 'an unverifiable notice marks its payment',
  },
  {
    file: intake,
    from: `payment.type === channel.type && payment.status !== 'paid'`,
    to: `payment.type === channel.type`,
    breaks: 'a notice that cannot be verified flags what is paid',
    test: doubleMoney,
    match: 'an unverifiable notice marks its payment',
  },
  {
    file: intake,
    from: `payment.type === channel.type && payment.status !== 'paid'`,
    to: `payment.status !== 'paid'`,
    breaks: 'a notice that cannot be verified flags payments of other channels',
    test: doubleMoney,
    match: 'an unverifiable notice marks its payment',
  },
  {
    file: flow,
    from: `verdict === undefined || verdict === 'gone'`,
    to: `verdict === 'gone'`,
    breaks: 'what is not settled is answered as paid',
    test: 'test/faults/workers.test.ts',
    match: 'a callback not settled in time is answered processing',
  },
  {
    file: store,
    from: `    if (owner === payment_no) return`,
    to: `    if (owner !== '') return`,
    breaks: 'an attempt under the number of another payment is accepted',
    test: doubleMoney,
    match: 'a third-party number already in use is refused before it is acknowledged',
  },
  {
    file: store,
    from: `JSON.stringify(mask(fields))`,
    to: `JSON.stringify(fields)`,
    breaks: 'secrets of a callback are stored',
    test: notify,
    match: 'attempts are shown with their secrets masked',
  },
  {
    file: inbox,
    from: `ORDER BY c.state = 'refused', c.id DESC`,
    to: `ORDER BY c.id`,
    breaks: 'forged attempts hide the genuine one',
    test: notify,
    match: 'attempts are shown with their secrets masked',
  },
  {
    file: inbox,
    from: `AND p.period >= :period AND c.state = 'pending' LIMIT 1`,
    to: `AND p.period >= :period LIMIT 1`,
    breaks: 'a refused attempt keeps its order from ending',
    test: notify,
    match: 'a finished callback does not prevent its order from ending',
  },
  {
    file: inbox,
    from: `return waiting !== undefined;`,
    to: `return waiting === null;`,
    breaks: 'stored money loses to the end of its order',
    test: doubleMoney,
    match: 'money reported in time wins over expiry, cancelling and deleting',
  },
  {
    file: inbox,
    from: `AND (c.created_at > :since OR c.id > :id)`,
    to: `AND (c.created_at > :since AND c.id > :id)`,
    breaks: 'the sweeper loses attempts of one instant',
    test: 'test/trade/sweep.test.ts',
  },
  {
    file: inbox,
    from: `c.created_at >= :since AND c.created_at < :before`,
    to: `c.created_at >= :since AND c.created_at <> :before`,
    breaks: 'the sweeper takes attempts that are in hand',
    test: 'test/trade/sweep.test.ts',
  },
  {
    file: 'src/worker/sweeper.ts',
    from: `  for await (const callback of unsettledCallbacks(before)) await sweepOne(settlePayment, callback);`,
    to: ``,
    breaks: 'the sweeper skips callbacks',
    test: 'test/trade/sweep.test.ts',
  },
  {
    file: inbox,
    from: `state IN ('settled', 'refused')`,
    to: `state IN ('settled', 'refused', 'pending')`,
    breaks: 'retention takes attempts that wait to be settled',
    test: 'test/trade/callback-retention.test.ts',
  },
  {
    file: numbers,
    from: `return owner?.payment_no ?? payment_no;`,
    to: `return owner ? payment_no : payment_no;`,
    breaks: 'a number passes on to the payment that came last',
    test: doubleMoney,
    match: 'a third-party number already in use is refused before it is acknowledged',
  },
];
