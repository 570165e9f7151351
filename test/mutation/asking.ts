// Faults in asking payment companies what became of a payment.
import type { Fault } from './fault.js';

const asking = 'src/models/trade/channel-asking.ts';
const followUp = 'src/models/trade/payment-follow-up.ts';
const placing = 'src/api/flows/payment-placing.ts';
const wechatApi = 'src/lib/channels/wechat-api.ts';
const asked = 'test/trade/results.test.ts';
const closing = 'test/trade/closing.test.ts';

export const questions: Fault[] = [
  {
    file: wechatApi,
    from: `  if (!(await isSignedAnswer(answer, config, signal)))
    throw new ChannelFailure(status < 300`,
    to: `  if (!(await isSignedAnswer(answer, config, signal)) && status < 100)
    throw new ChannelFailure(status < 300`,
    breaks: 'what nobody signed is booked',
    test: closing,
    match: 'an answer of * that does not count*',
  },
  {
    file: asking,
    from: `  return state !== 'waiting';`,
    to: `  return true;`,
    breaks: 'a payment that waits is failed',
    test: asked,
    match: 'a callback of no money*',
  },
  {
    file: asking,
    from: `if (!amount.equals(expected)) {`,
    to: `if (!expected) {`,
    breaks: 'another amount is booked',
    test: closing,
    match: 'another amount*',
  },
  {
    file: asking,
    from: `return end === 'closed' ? { ...answer, state: 'closed', code: 'CLOSED' } : query();`,
    to: `return { ...answer, state: 'closed', code: String(end) };`,
    breaks: 'whatever a closing is answered counts as closed',
    test: closing,
    match: 'a customer who is still paying*',
  },
  {
    file: asking,
    from: `  if (answer.state !== 'waiting' || !isClosing) return answer;
`,
    to: `  if (answer.state !== 'waiting' || isClosing) return answer;
`,
    breaks: 'what is cancelled here stays open there',
    test: closing,
    match: 'a payment of a cancelled order*',
  },
  {
    file: asking,
    from: `    await flagForAttention(paymentNo, 'channel_unanswered');
`,
    to: ``,
    breaks: 'a payment is forgotten that its company never spoke of',
    test: closing,
    match: 'a company that never says*',
  },
  {
    file: followUp,
    from: ` AND f.due_at = :due`,
    to: ``,
    breaks: 'two runs ask at the same time',
    test: closing,
    match: 'two runs*',
  },
  {
    file: followUp,
    from: `IF(f.due_at = :due_at, :next, f.due_at)`,
    to: `:next`,
    breaks: 'a closing that is requested during a question is put off',
    test: closing,
    match: 'a closing that is requested*',
  },
  {
    file: asking,
    from: `    await flagUnverified(paymentNo, followUp);
    await askLater`,
    to: `    await askLater`,
    breaks: 'a wrong key silences callbacks and answers',
    test: closing,
    match: 'a callback that cannot be verified flags*',
  },
  {
    file: 'src/models/trade/payment-attention.ts',
    from: ` AND NOT (:isDoubt AND p.status = 'paid')`,
    to: ``,
    breaks: 'a payment that is paid meanwhile is flagged as unanswered',
    test: closing,
    match: 'a payment that becomes paid during*',
  },
  {
    file: placing,
    from: `openResults(channel) ? await follow(payment_no, channel.type, until) : undefined`,
    to: `false ? await follow(payment_no, channel.type, until) : undefined`,
    breaks: 'nobody is asked when the callback is lost',
    test: asked,
    match: 'payments become paid by the answers*',
  },
  {
    file: followUp,
    from: `p.status IN ('pending', 'cancelled') AND`,
    to: `p.status = 'pending' AND`,
    breaks: 'money of an order that expired meanwhile is not asked about',
    test: closing,
    match: 'what was cancelled with*',
  },
  {
    file: 'src/models/trade/payment-method.ts',
    from: `LOCK IN SHARE MODE', { id })`,
    to: `', { id })`,
    breaks: 'a payment is placed in an account that its method is leaving',
    test: closing,
    match: 'placing waits*',
  },
  {
    file: 'src/models/trade/order.ts',
    from: `    if (await closeBeforeExpiry(orderNo, t)) return 'closing';
`,
    to: `    await closeBeforeExpiry(orderNo, t);
`,
    breaks: 'an order expires while its payment can still be paid',
    test: closing,
    match: 'an order expires once*',
  },
];
