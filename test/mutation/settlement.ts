// Faults in the one place that makes payments and orders paid.
import type { Fault } from './fault.js';

const file = 'src/models/trade/payment-settlement.ts';
const attempt = 'src/models/trade/payment-attempt.ts';
const doubleMoney = 'test/trade/double-money.test.ts';
const notify = 'test/trade/payment-notify.test.ts';
const attention = 'test/trade/attention.test.ts';
const second = 'a second third-party number on a paid payment is flagged once';

export const settlement: Fault[] = [
  {
    file,
    from: `order && canBePaid(order, attempt) ? pay(`,
    to: `order ? pay(`,
    breaks: 'a cancelled or paid order is paid by late money',
    test: notify,
    match: 'money for an order*',
  },
  {
    file,
    from: `o.period = :period AND o.status <> 'paid'`,
    to: `o.period = :period AND o.status = 'paid'`,
    breaks: 'a payment is paid without its order',
    test: notify,
    match: 'a signed success*',
  },
  {
    file,
    from: `o.payment_no = :payment_no, o.cancelled_at = NULL,`,
    to: `o.cancelled_at = NULL,`,
    breaks: 'a paid order does not say by which payment',
    test: notify,
    match: 'money for an order*',
  },
  {
    file,
    from: `p.notify_data = c.body, p.needs_attention`,
    to: `p.needs_attention`,
    breaks: 'what the payment company said is not kept with the payment',
    test: notify,
    match: 'attempts are shown with their secrets masked',
  },
  {
    file,
    from: `     SET p.status = 'paid', p.third_party_no = c.third_party_no,`,
    to: `     SET p.third_party_no = c.third_party_no,`,
    breaks: 'an order is paid without its payment',
    test: notify,
    match: 'a signed success*',
  },
  {
    file,
    from: `isFlagged: reason !== null,`,
    to: `isFlagged: payment_no === '',`,
    breaks: 'money for an order that cannot be paid is not flagged',
    test: notify,
    match: 'money for an order*',
  },
  {
    file,
    from: `p.needs_attention = :isFlagged, p.fail_reason`,
    to: `p.needs_attention = p.needs_attention OR :isFlagged, p.fail_reason`,
    breaks: 'a flagged payment stays flagged when it is paid',
    test: attention,
    match: 'a payment that needs attention is notified once until it is cleared',
  },
  {
    file,
    from: `p.fail_reason = :reason, p.updated_at`,
    to: `p.fail_reason = COALESCE(:reason, p.fail_reason), p.updated_at`,
    breaks: 'a paid payment keeps the reason of an earlier failure',
    test: notify,
    match: 'a late success*',
  },
  {
    file,
    from: `  await cancelPayments(order, t);
`,
    to: ``,
    breaks: 'the other payments of a paid order stay pending',
    test: doubleMoney,
    match: 'paying an order cancels*',
  },
  {
    file: 'src/models/office/notification.ts',
    from: `if (isNew) afterCommit(t, () => deliverStored(rows.map(({ id }) => id)));`,
    to: `if (isNew) afterCommit(t, () => deliverStored(rows.slice(0, 0).map(({ id }) => id)));`,
    breaks: 'nobody is notified at once of money that needs attention',
    test: doubleMoney,
    match: second,
  },
  {
    file: 'src/models/trade/payment-attention.ts',
    from: `if (flagged > 0) await notifyAttention(paymentNo, reason, t, details);`,
    to: `t.afterCommit(() => transact((own) => notifyAttention(paymentNo, reason, own, details)));`,
    breaks: 'a verdict is stored without its notification',
    test: doubleMoney,
    match: 'a verdict is committed together with its notification',
  },
  {
    file,
    from: `  if (owner !== attempt.payment_no) return numberUsed(attempt, t);
`,
    to: ``,
    breaks: 'a number that belongs to another payment pays',
    test: doubleMoney,
    match: 'a number used meanwhile is refused at settlement',
  },
  {
    file,
    from: `await markAttempt(attempt, 'refused', 'payment_third_party_no_used', t);`,
    to: `await markAttempt(attempt, 'settled', 'payment_third_party_no_used', t);`,
    breaks: 'a refused attempt is stored as settled',
    test: doubleMoney,
    match: 'a number used meanwhile is refused at settlement',
  },
  {
    file,
    from: `  if (payment.status !== 'paid')
    return`,
    to: `  if (payment.status !== 'cancelled')
    return`,
    breaks: 'a payment that is paid takes the money of a second number',
    test: doubleMoney,
    match: second,
  },
  {
    file,
    from: `payment.third_party_no === attempt.third_party_no ? alreadyPaid`,
    to: `payment.third_party_no === '' ? alreadyPaid`,
    breaks: 'two attempts under one number at once are flagged as paid twice',
    test: doubleMoney,
    match: 'two attempts under one number*',
  },
  {
    file: attempt,
    from: `'WHERE o.order_no = :order_no AND o.period = :period FOR UPDATE'`,
    to: `'WHERE o.order_no = :order_no AND o.period = :period'`,
    breaks: 'the order is read without its lock: two payments pay it',
    test: doubleMoney,
    match: 'one of two payments in time for a cancelled order pays it',
  },
  {
    file: attempt,
    from: `AND c.id = :id FOR UPDATE'`,
    to: `AND c.id = :id'`,
    breaks: 'a payment that is paid loses the flag that was being set',
    test: doubleMoney,
    match: 'a flag that is set while*',
  },
  {
    file,
    from: `cancelled_at > created_at`,
    to: `cancelled_at < created_at`,
    breaks: 'money that came too late pays a cancelled order',
    test: doubleMoney,
    match: 'money reported just before its order was cancelled still pays it',
  },
  {
    file,
    from: `  if (deleted_at !== null) return false;`,
    to: `  void deleted_at;`,
    breaks: 'a deleted order is paid',
    test: doubleMoney,
    match: 'a deleted order*',
  },
  {
    file,
    from: `  if (payment.needs_attention) await renewPaid(payment_no, t);
`,
    to: '',
    breaks: 'a paid payment that needs attention again is not notified',
    test: attention,
    match: 'attention that a good callback*',
  },
  {
    file,
    from: `  if (await isKnownExtraNumber(attempt, t)) return alreadyPaid(attempt, t);
`,
    to: ``,
    breaks: 'a repeated second number is flagged again after it was cleared',
    test: doubleMoney,
    match: second,
  },
  {
    file: 'src/models/trade/payment-attention.ts',
    from: `SET p.needs_attention = 1, p.fail_reason = :reason`,
    to: `SET p.fail_reason = :reason`,
    breaks: 'money paid twice is not flagged',
    test: doubleMoney,
    match: second,
  },
];
