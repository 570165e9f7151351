// Payments to be refunded, and a payment company with a ledger of its own in place of the mock channel's.
import { ChannelFailure, type RefundAnswer, type RefundOrder } from '../../src/lib/channels/channel.js';
import { mock } from '../../src/lib/channels/mock.js';
import { Money } from '../../src/lib/values/money.js';
import { select } from '../../src/lib/database/db.js';
import type { Client } from './client.js';
import { makePayment, mockCallback, type MadePayment } from './factories.js';

/** A payment that is paid. */
export async function paidPayment(
  admin: Client,
  methodId: number,
  price: string | number = '12.30',
): Promise<MadePayment> {
  const payment = await makePayment(admin, methodId, price);
  const { status, text } = await admin
    .with({ Authorization: '' })
    .post('//api/payment/notify/mock', mockCallback(payment));
  if (status !== 200) throw new Error(`the callback was refused: ${text}`);
  return payment;
}

export interface Books {
  amount: string;
  status: string;
  refund_reserved: string;
  refunded_amount: string;
}

/** What the payment says of its refunds. */
export async function booksOf({ payment_no }: { payment_no: string }): Promise<Books> {
  const [row] = await select<Books>(
    'SELECT amount, status, refund_reserved, refunded_amount FROM payments WHERE payment_no = ?',
    [payment_no],
  );
  return row as Books;
}

type Step = 'silent' | 'refusing' | 'losing' | 'holding' | 'wrong amount' | 'stuck';

/** A company that refunds what it is sent once per number. */
export class RefundCompany {
  /** Amount by number of what it has. */
  readonly ledger = new Map<string, { amount: string; state: RefundAnswer['state'] }>();
  /** What it was asked, in order. */
  readonly calls: string[] = [];
  /** How it answers sendings; each step once, then well. */
  steps: Step[] = [];
  /** Runs when a refund was sent, before it is answered. */
  onSent: (refundNo: string) => Promise<void> = () => Promise.resolve();

  /** Queries are answered after it. */
  gate: Promise<void> = Promise.resolve();

  /** Takes the place of the mock channel's refunds in this thread. */
  install(limits = { withinDays: 365, most: 50, apartMs: 0 }): void {
    mock.refunds = {
      limits,
      send: (order) => this.#send(order),
      query: (order) => this.#query(order),
    };
  }

  async #send({ refundNo, refund }: RefundOrder): Promise<RefundAnswer> {
    this.calls.push(`send ${refundNo} ${refund.toString()}`);
    const step = this.steps.shift();
    if (step === 'silent') throw new ChannelFailure('it does not answer');
    if (step === 'refusing') return { state: 'failed', code: 'ACCOUNT_CLOSED' };
    const known = this.ledger.get(refundNo);
    if (known && known.amount !== refund.toString()) return { state: 'failed', code: 'OTHER_AMOUNT' };
    const state = step === 'holding' ? 'processing' : step === 'stuck' ? 'stuck' : 'succeeded';
    const amount = step === 'wrong amount' ? '0.01' : refund.toString();
    if (!known) this.ledger.set(refundNo, { amount, state });
    await this.onSent(refundNo);
    if (step === 'losing') throw new ChannelFailure({ zh: '应答丢失', en: 'its answer was lost' });
    return this.#answer(refundNo);
  }

  async #query({ refundNo }: RefundOrder): Promise<RefundAnswer> {
    this.calls.push(`query ${refundNo}`);
    await this.gate;
    return this.ledger.has(refundNo) ? this.#answer(refundNo) : { state: 'absent', code: 'NOT_THERE' };
  }

  #answer(refundNo: string): RefundAnswer {
    const { amount, state } = this.ledger.get(refundNo) as { amount: string; state: RefundAnswer['state'] };
    const code = state.toUpperCase();
    return { state, code, channelNo: `C-${refundNo}`, amount: Money.from(amount), at: new Date() };
  }
}
