// Faults in refunds: reserving, approving, sending and booking them.
import type { Fault } from './fault.js';

const request = 'src/models/trade/refund-request.ts';
const decision = 'src/models/trade/refund-decision.ts';
const booking = 'src/models/trade/refund-booking.ts';
const run = 'src/models/trade/refund-run.ts';
const tests = 'test/trade/refunds.test.ts';
const held = 'test/trade/held-refunds.test.ts';
const runs = 'test/trade/refund-runs.test.ts';
const elsewhere = 'src/models/trade/refund-elsewhere.ts';

export const refunds: Fault[] = [
  {
    file: request,
    from: `
       AND p.refund_reserved + CAST(:amount AS DECIMAL(18,2)) <= p.amount`,
    to: ``,
    breaks: 'more is refunded than was paid',
    test: tests,
    match: 'forty refunds at once*',
  },
  {
    file: decision,
    from: `if (refund.requested_by === approver?.adminId) fail('refund_own_request');`,
    to: ``,
    breaks: 'somebody approves a refund of their own',
    test: held,
    match: 'nobody approves what they requested*',
  },
  {
    file: decision,
    from: `if (refund.status !== 'waiting') fail('refund_not_waiting');`,
    to: ``,
    breaks: 'a refund that was rejected is approved',
    test: held,
    match: 'a rejected refund releases its amount once',
  },
  {
    file: request,
    from: `return refund_reserved.cents > Money.from(above).cents`,
    to: `return refund_reserved.cents > Money.from(above).cents * 1000n`,
    breaks: 'a large refund needs no approval',
    test: held,
    match: 'a refund above the limit*',
  },
  {
    file: request,
    from: `const isWaiting = await needsApproval(payment, t);`,
    to: `const isWaiting = (await needsApproval(payment, t)) && amount.cents > 1000n;`,
    breaks: 'a large refund is divided into small ones that nobody approves',
    test: held,
    match: 'small refunds of one payment*',
  },
  {
    file: request,
    from: `if ((counted?.count ?? 0) >= maxRefunds)`,
    to: `if ((counted?.count ?? 0) > maxRefunds)`,
    breaks: 'a payment gets one more refund than its channel takes',
    test: runs,
    match: 'a company takes so many refunds*',
  },
  {
    file: booking,
    from: ` AND r.status IN ('pending', 'processing')\``,
    to: `\``,
    breaks: 'a refund is booked twice',
    test: runs,
    match: 'successes that come together*',
  },
  {
    file: booking,
    from: ` AND r.status = :from\``,
    to: `\``,
    breaks: 'the amount of a failed refund is released twice',
    test: runs,
    match: 'failures that come together*',
  },
  {
    file: booking,
    from: `  await applyChange(user_id,`,
    to: `  if (user_id < 0) await applyChange(user_id,`,
    breaks: 'a refund to the balance is booked and not given',
    test: tests,
    match: 'a refund to the balance is given at once*',
  },
  {
    file: run,
    from: `if (!refund.isFirst) {`,
    to: `if (refund.tries > 99) {`,
    breaks: 'a refund is sent again without asking what became of it',
    test: runs,
    match: 'a refund whose answer was lost*',
  },
  {
    file: run,
    from: `return { answer, isFinal: false };`,
    to: `return { answer, isFinal: true };`,
    breaks: 'a refusal is believed without a query',
    test: runs,
    match: 'a refusal that a query contradicts*',
  },
  {
    file: run,
    from: `state === 'succeeded' && !isOther`,
    to: `state === 'succeeded'`,
    breaks: 'a refund of another amount is booked',
    test: runs,
    match: 'a refund is flagged once*',
  },
  {
    file: 'src/models/trade/refund-schedule.ts',
    from: ` AND r.due_at <= :dueBy\`,
      { ...key`,
    to: `\`,
      { ...key`,
    breaks: 'two workers run one refund at the same time',
    test: runs,
    match: 'a refund whose answer was lost*',
  },
  {
    file: 'src/models/trade/refund-schedule.ts',
    from: `isAccepted ? slowMs : unacceptedMs`,
    to: `slowMs`,
    breaks: 'nobody hears of a refund that the channel does not accept',
    test: runs,
    match: 'a refund that is not accepted within four hours*',
  },
  {
    file: 'src/models/trade/refund-schedule.ts',
    from: `  await lockPayment(payment_no, t);`,
    to: ``,
    breaks: 'two workers send two refunds of a payment at the same time',
    test: runs,
    match: 'of two refunds of a payment*',
  },
  {
    file: elsewhere,
    from: `  await lockPayment(paymentNo, t);
  if (await isRefundedElsewhere(`,
    to: `  if (await isRefundedElsewhere(`,
    breaks: 'a refund overlooks one made elsewhere that is being flagged',
    test: held,
    match: 'a refund that is requested while*',
  },
  {
    file: elsewhere,
    from: `if (isNews || (await`,
    to: `if ((await`,
    breaks: 'a refund under a foreign number is not flagged',
    test: held,
    match: 'wechat: a refund that was made in*',
  },
  {
    file: elsewhere,
    from: `isSeen && storedAt < before &&`,
    to: `isSeen && storedAt > before &&`,
    breaks: 'a refund that a person has seen blocks its payment again',
    test: held,
    match: '*a repeated notice of a refund*',
  },
  {
    file: elsewhere,
    from: `refund.refundNo === refundNo && !refund.hasFailed`,
    to: `refund.refundNo === refundNo`,
    breaks: 'a failed refund that was seen hides that it has succeeded',
    test: held,
    match: 'wechat: a refund that failed*',
  },
  {
    file: elsewhere,
    from: `accepted_at !== null || (isTrusting && sent_at !== null)`,
    to: `accepted_at !== undefined`,
    breaks: 'a refund that never arrived explains one by hand',
    test: held,
    match: 'alipay: a refund of ours that never arrived*',
  },
  {
    file: run,
    from: `if (await isRefundedElsewhere(refund.payment_no)) throw new ChannelFailure(heldBack);`,
    to: ``,
    breaks: 'a refund is sent again beside one made elsewhere',
    test: held,
    match: 'a refund is not sent*',
  },
  {
    file: run,
    from: `if (!refund.due_at || refund.due_at <= now())`,
    to: `if (!refund.due_at)`,
    breaks: 'a halted process sends a refund that has been released since',
    test: runs,
    match: 'a run that was halted*',
  },
  {
    file: run,
    from: `IF(r.due_at = :lease, :due, r.due_at)`,
    to: `:due`,
    breaks: 'a notice that comes while its refund is asked about is forgotten',
    test: held,
    match: '*whose notice comes while it is asked about*',
  },
  {
    file: 'src/models/trade/channel-asking.ts',
    from: `  if (answer.isRefunded) await flagForAttention(paymentNo, 'refunded_elsewhere');
  if (state === 'paid') await acceptAnswer(payment, answer);
`,
    to: `  if (state === 'paid') await acceptAnswer(payment, answer);
  if (answer.isRefunded) await flagForAttention(paymentNo, 'refunded_elsewhere');
`,
    breaks: 'refunded money is booked without its flag',
    test: held,
    match: '*money is not booked without the flag*',
  },
];
