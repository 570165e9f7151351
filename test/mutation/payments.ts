// Faults in payments: making, placing, flagging, listing them.
import type { Fault } from './fault.js';

const file = 'src/models/trade/payment.ts';
const attention = 'src/models/trade/payment-attention.ts';
const handling = 'src/models/trade/payment-handling.ts';
const placement = 'src/models/trade/payment-placement.ts';
const paymentTests = 'test/trade/orders.test.ts';
const attentionTests = 'test/trade/attention.test.ts';
const doubleMoney = 'test/trade/double-money.test.ts';

export const payments: Fault[] = [
  {
    file: attention,
    from: `eventsOf(paymentNo).filter(({ reason }) => reason !== 'refunded_elsewhere')`,
    to: `eventsOf(paymentNo)`,
    breaks: 'paying clears a refund that was made elsewhere',
    test: 'test/trade/held-refunds.test.ts',
    match: 'paying clears every other reason',
  },
  {
    file,
    from: `AND o.deleted_at IS NULL FOR UPDATE'`,
    to: `AND o.deleted_at IS NULL'`,
    breaks: 'a payment is made while its order is cancelled',
    test: 'test/trade/concurrency.test.ts',
    match: 'a payment created while its order is being cancelled is cancelled or refused',
  },
  {
    file,
    from: `...toPayable(order, at)`,
    to: `amount: order.amount, expireAt: order.expire_at`,
    breaks: 'an order that is paid, cancelled or expired gets a payment',
    test: paymentTests,
    match: 'an order that cannot be paid*',
  },
  {
    file,
    from: `!payment.amount.equals(order.amount)`,
    to: `payment.amount.equals(new Money(0n))`,
    breaks: 'a payment over another amount is made',
    test: paymentTests,
    match: 'an order that cannot be paid*',
  },
  {
    file,
    from: `if (!is_active) fail('payment_method_disabled');`,
    to: ``,
    breaks: 'a method that is switched off is used',
    test: paymentTests,
    match: 'an order that cannot be paid*',
  },
  {
    file,
    from: `WHERE m.id = :id LOCK IN SHARE MODE`,
    to: `WHERE m.id = :id`,
    breaks: 'a method is deleted while a payment with it is made',
    test: 'test/trade/payment-methods.test.ts',
    match: 'a method cannot be deleted and used concurrently',
  },
  {
    file,
    from: `AND p.period >= :period AND p.status = 'pending'\``,
    to: `AND p.period = :period AND p.status = 'pending'\``,
    breaks: 'a payment of the next month is not cancelled with its order',
    test: 'test/trade/months.test.ts',
    match: 'an order is paid by a payment of the next month',
  },
  {
    file,
    from: `\`p.status = 'pending' AND p.created_at < ?\``,
    to: `'p.created_at < ?'`,
    breaks: 'paid payments are listed as waiting too long',
    test: attentionTests,
    match: 'payments pending for too long are listed',
  },
  {
    file: 'src/lib/input/list-query.ts',
    from: 'undefined, last)',
    to: 'last, last)',
    breaks: 'what was made last month and paid this month is not found',
    test: 'test/trade/months.test.ts',
    match: 'payments are found by the day they were paid*',
  },
  {
    file: placement,
    from: `both?.payment_status === 'pending' ?`,
    to: `both ?`,
    breaks: 'a payment that is not pending is placed again',
    test: doubleMoney,
    match: 'a payment that ended*',
  },
  {
    file: placement,
    from: `if (status !== 'pending' || isExpired) fail`,
    to: `if (isExpired) fail`,
    breaks: 'a payment of a paid order is placed again: a second charge',
    test: doubleMoney,
    match: 'only a pending payment is placed',
  },
  {
    file: placement,
    from: `if (status !== 'pending' || isExpired) fail`,
    to: `if (status !== 'pending') fail`,
    breaks: 'a payment is placed although the time of its order is up',
    test: doubleMoney,
    match: 'a payment is not placed again*',
  },
  {
    file: handling,
    from: `|| payment.fail_reason !== fail_reason)`,
    to: `|| payment.fail_reason === null)`,
    breaks: 'what nobody has seen is put aside',
    test: attentionTests,
  },
  {
    file: handling,
    from: `    if (seen) await renewEvents([seen], t);`,
    to: '',
    breaks: 'what is flagged again after it was put aside is not notified',
    test: attentionTests,
    match: 'a payment that needs attention is notified once until it is cleared',
  },
  {
    file: handling,
    from: `const next = open.find((event) => event !== seen);`,
    to: `const next = open.find((event) => event !== seen && event.key === '');`,
    breaks: 'clearing one reason hides an earlier one',
    test: attentionTests,
    match: 'clearing one reason*',
  },
  {
    file: handling,
    from: `if (seen) await renewEvents([seen], t);`,
    to: `await renewEvents(open, t);`,
    breaks: 'clearing one reason clears all',
    test: attentionTests,
    match: 'clearing one reason*',
  },
  {
    file: attention,
    from: `if (flagged > 0) await notifyAttention(`,
    to: `if (flagged < 0) await notifyAttention(`,
    breaks: 'nobody is notified of a flag',
    test: attentionTests,
    match: 'a payment that needs attention is notified once*',
  },
  {
    file: 'src/models/office/notification.ts',
    from: `undelivered_since: { [Op.lt]: before }`,
    to: `undelivered_since: { [Op.gt]: before }`,
    breaks: 'an undelivered notification is never delivered',
    test: attentionTests,
    match: 'the sweeper notifies of a payment flagged*',
  },
  {
    file: 'src/models/office/notification.ts',
    from: `:created_at, :created_at
     FROM admins a`,
    to: `:created_at, NULL
     FROM admins a`,
    breaks: 'a notification is not known to be undelivered',
    test: 'test/faults/merges.test.ts',
    match: 'work whose worker is killed between commit*',
  },
];
