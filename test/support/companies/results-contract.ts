// Which answers of a payment company about payments and refunds are trusted, for every company. One call per
// company declares the tests; they run in sequence, because they make it fail in between.
import test, { type ExecutionContext } from 'ava';
import {
  ChannelFailure,
  type Channel,
  type ChannelPayment,
  type MethodConfig,
  type RefundAnswer,
  type RefundOrder,
} from '../../../src/lib/channels/channel.js';
import { Money } from '../../../src/lib/values/money.js';
import { newOrderNumber, newPaymentNumber, newRefundNumber } from '../../../src/lib/values/numbers.js';
import type { ResultDials, ResultMood } from './result-dials.js';

/** Common parts of the companies' emulators. */
interface Platform {
  ledger: { pay: (paymentNo: string) => string };
  refunds: { refundedOf: (paymentNo: string) => string | number; stateOf: (refundNo: string) => unknown };
  results: ResultDials & { refusal: unknown };
  reset: () => void;
  stop: () => void;
}

interface ResultsSample {
  channel: Channel;
  start: () => Promise<Platform>;
  config: () => MethodConfig;
  /** What the customer does before the company knows the payment. */
  open?: (placed: PlacedPayment) => void;
  /** The moods in which nothing is learned, with the words of the failure. */
  failures: [ResultMood, RegExp][];
  /** Those of them in which no closing is proven. */
  silences: ResultMood[];
  /** Those in which a refund is made all the same. */
  lost: ResultMood[];
  /** Those in which a refusal has no valid signature. */
  forged: ResultMood[];
  /** What such a refusal says: about a payment, a refund that is sent, and one that is asked about. */
  unsigned: Record<'payment' | 'sent' | 'asked', RegExp>;
  codes: Record<'paid' | 'refunded' | 'repeatedOtherwise' | 'tooMuch', string>;
  /** What is answered to a refund of 2.30, and to the same once more. */
  accepted: RefundAnswer;
  repeated: RefundAnswer;
  /** How a number is written that `refundedOf` returns. */
  sum: (yuan: string) => string | number;
  /** Leaves that much for refunds. */
  fund: (yuan: string) => void;
  noFunds: RegExp;
  /** Refusals of a refund by code. */
  finals: [string, unknown][];
  undecided: [string, unknown][];
}

export interface PlacedPayment extends ChannelPayment {
  gateway: Record<string, unknown>;
}

const signal = () => AbortSignal.timeout(1500);

/** The number of a payment that no company knows. */
export const strangeNumber = '4200000000000000';

/** Asserts that a request to a company ends in a ChannelFailure with those words: nothing was learned about the payment. */
export async function failsWith(t: ExecutionContext, asked: Promise<unknown>, words: RegExp): Promise<void> {
  const error = await t.throwsAsync(asked, { instanceOf: ChannelFailure });
  t.regex(error?.message ?? '', words);
}

/** What an answer says, without time and number. */
export const said = ({ state, code, amount }: RefundAnswer): RefundAnswer => ({
  ...{ state, code, ...(amount && { amount }) },
});

/** Declares the tests of a company. @returns what they ask it, for more tests */
export function resultsContract(sample: ResultsSample) {
  const { channel, codes, repeated } = sample;
  const { results, refunds } = channel;
  if (!results || !refunds) throw new Error('the channel has no results');
  const words = new Map(sample.failures);
  let platform: Platform;

  /** A payment that was placed and not yet opened. */
  async function place(more: { config?: MethodConfig; expireAt?: Date } = {}): Promise<PlacedPayment> {
    const { config = sample.config(), expireAt = null } = more;
    const payment = { paymentNo: newPaymentNumber(new Date()), amount: Money.from('12.30'), config };
    const placement = { ...payment, orderNo: newOrderNumber(new Date()), expireAt };
    const gateway = await channel.place?.({ ...placement, notifyUrl: 'https://back-office.test/' }, signal());
    return { ...payment, gateway: gateway ?? {} };
  }
  /** One that the company knows. */
  async function open(): Promise<PlacedPayment> {
    const payment = await place();
    sample.open?.(payment);
    return payment;
  }
  /** A refund of one that was paid. */
  async function order(refund = '2.30'): Promise<RefundOrder> {
    const payment = await open();
    const thirdPartyNo = platform.ledger.pay(payment.paymentNo);
    const refundNo = newRefundNumber(new Date());
    return { ...payment, thirdPartyNo, refundNo, refund: Money.from(refund), reason: '多付了' };
  }
  const query = (payment: ChannelPayment) => results.query(payment, signal());
  const close = (payment: ChannelPayment) => results.close(payment, signal());
  const send = (one: RefundOrder) => refunds.send(one, signal());
  const queryRefund = (one: RefundOrder) => refunds.query(one, signal());

  const found: RefundAnswer = { state: 'succeeded', code: codes.refunded, amount: Money.from('2.30') };

  test.before(async () => {
    platform = await sample.start();
  });
  test.afterEach.always(() => platform.reset());
  test.after.always(() => platform.stop());

  test.serial('an incomplete answer is returned as such, and another amount as it is', async (t) => {
    const payment = await open();
    platform.ledger.pay(payment.paymentNo);
    platform.results.mood = 'incomplete';
    const { fields: _, ...answer } = await query(payment);
    t.deepEqual(answer, { state: 'paid', code: codes.paid });
    platform.results.mood = 'otherAmount';
    t.deepEqual((await query(payment)).amount, Money.from('12.31'));
  });

  for (const [mood, reason] of sample.failures) {
    test.serial(`from a company that is ${mood} nothing is learned`, async (t) => {
      const payment = await open();
      platform.ledger.pay(payment.paymentNo);
      platform.results.mood = mood;
      await failsWith(t, query(payment), reason);
      platform.results.mood = 'well';
      t.is((await query(payment)).state, 'paid');
    });
  }

  test.serial('a refusal without a valid signature does not make a payment absent', async (t) => {
    const unknown = { ...(await open()), paymentNo: newPaymentNumber(new Date()) };
    for (const mood of sample.forged) {
      platform.results.mood = mood;
      await failsWith(t, query(unknown), sample.unsigned.payment);
    }
  });

  test.serial('a slow answer within the time counts', async (t) => {
    platform.results.mood = 'slow';
    t.is((await query(await open())).state, 'waiting');
  });

  test.serial('what is paid between query and close is not closed', async (t) => {
    const payment = await open();
    platform.results.before = (operation) => operation === 'close' && platform.ledger.pay(payment.paymentNo);
    t.is((await query(payment)).state, 'waiting');
    t.is(await close(payment), 'ask');
    t.is((await query(payment)).state, 'paid');
  });

  for (const mood of sample.silences) {
    test.serial(`a company that is ${mood} proves no closing`, async (t) => {
      const payment = await open();
      platform.results.moods.close = mood;
      await failsWith(t, close(payment), words.get(mood) as RegExp);
      t.is((await query(payment)).state, ['failing', 'busy'].includes(mood) ? 'waiting' : 'closed');
    });
  }

  test.serial('one number refunds once, however often it is sent', async (t) => {
    const one = await order();
    t.deepEqual(said(await send(one)), sample.accepted);
    for (let round = 0; round < 3; round++) t.deepEqual(said(await send(one)), repeated);
    t.is(platform.refunds.refundedOf(one.paymentNo), sample.sum('2.30'));
    const other = await send({ ...one, refund: Money.from('2.31') });
    t.deepEqual(other, { state: 'failed', code: codes.repeatedOtherwise });
    t.is(platform.refunds.refundedOf(one.paymentNo), sample.sum('2.30'));
  });

  test.serial('more than was paid is not refunded', async (t) => {
    const one = await order('12.00');
    await send(one);
    const more = { ...one, refundNo: newRefundNumber(new Date()), refund: Money.from('0.31') };
    t.deepEqual(await send(more), { state: 'failed', code: codes.tooMuch });
    t.is(platform.refunds.refundedOf(one.paymentNo), sample.sum('12.00'));
    await send({ ...more, refundNo: newRefundNumber(new Date()), refund: Money.from('0.30') });
    t.is(platform.refunds.refundedOf(one.paymentNo), sample.sum('12.30'));
  });

  test.serial('without funds nothing is decided until the merchant has paid in', async (t) => {
    const one = await order();
    sample.fund('2.29');
    await failsWith(t, send(one), sample.noFunds);
    t.is((await queryRefund(one)).state, 'absent');
    sample.fund('2.30');
    t.deepEqual(said(await send(one)), sample.accepted);
    t.deepEqual(said(await queryRefund(one)), found);
  });

  for (const [code, refusal] of sample.finals) {
    test.serial(`${code} is final`, async (t) => {
      const one = await order();
      Object.assign(platform.results, { mood: 'refusing', refusal });
      t.deepEqual(await send(one), { state: 'failed', code });
      await failsWith(t, queryRefund(one), new RegExp(`^${code}: 不$`));
    });
  }

  test.serial('other refusals decide nothing', async (t) => {
    const one = await order();
    for (const [code, refusal] of sample.undecided) {
      Object.assign(platform.results, { mood: 'refusing', refusal });
      await failsWith(t, send(one), new RegExp(`^${code}: 不$`));
      await failsWith(t, queryRefund(one), new RegExp(`^${code}: 不$`));
    }
  });

  for (const mood of sample.lost) {
    test.serial(`a refund is done once while the company is ${mood}, and found by its number`, async (t) => {
      const one = await order();
      platform.results.moods = { refund: mood, queryRefund: mood };
      await failsWith(t, send(one), words.get(mood) as RegExp);
      await failsWith(t, queryRefund(one), words.get(mood) as RegExp);
      platform.results.reset();
      t.deepEqual(said(await queryRefund(one)), found);
      t.deepEqual(said(await send(one)), repeated);
      t.is(platform.refunds.refundedOf(one.paymentNo), sample.sum('2.30'));
    });
  }

  test.serial('for trouble of the moment nothing was done', async (t) => {
    const one = await order();
    for (const mood of ['failing', 'busy'] as const) {
      platform.results.mood = mood;
      await failsWith(t, send(one), words.get(mood) as RegExp);
      await failsWith(t, queryRefund(one), words.get(mood) as RegExp);
    }
    t.is(platform.refunds.stateOf(one.refundNo), undefined);
  });

  test.serial('an unsigned refusal is not final, nor does it make a refund absent', async (t) => {
    const one = await order();
    platform.results.mood = 'unsigned';
    await failsWith(t, send({ ...one, thirdPartyNo: strangeNumber }), sample.unsigned.sent);
    await failsWith(t, queryRefund(one), sample.unsigned.asked);
  });

  test.serial('another refunded amount is returned as it is, a missing one not made up', async (t) => {
    const one = await order();
    await send(one);
    platform.results.mood = 'otherAmount';
    t.deepEqual((await queryRefund(one)).amount, Money.from('2.31'));
    platform.results.mood = 'incomplete';
    const { at: _, ...answer } = await queryRefund(one);
    t.deepEqual(answer, { state: 'succeeded', code: codes.refunded });
  });
  return { place, open, order, query, close, send, queryRefund };
}
