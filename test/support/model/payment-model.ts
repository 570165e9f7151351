// Orders and payments by the rules, in memory, to compare the service with.
import { select } from '../../../src/lib/database/db.js';

export interface ModelOrder {
  order_no: string;
  status: 'pending' | 'paid' | 'cancelled';
  isDeleted: boolean;
  paidBy: string | null;
}

export interface ModelPayment {
  payment_no: string;
  amount: number;
  order: ModelOrder;
  status: 'pending' | 'paid' | 'cancelled';
  thirdPartyNo: string | null;
  /** Third-party numbers of further money. */
  furtherNos: Set<string>;
  needsAttention: boolean;
  /** Why it last needed attention. */
  reason: string | null;
  /** Notified reasons that nobody has dismissed yet, oldest first, each with its number. */
  notified: Set<string>;
  /** Number of its notifications. */
  notifications: number;
  /** Cents that were given back. */
  refunded: number;
}

/** Cents that can be given back of a paid payment. */
export const leftOf = ({ amount, refunded }: ModelPayment): number => Math.round(amount * 100) - refunded;

export class Model {
  readonly orders: ModelOrder[] = [];
  readonly payments: ModelPayment[] = [];
  readonly userId: number;
  readonly #notificationsAfter: number;

  /** @param notificationsAfter the newest notification that is none of its own */
  constructor(userId: number, notificationsAfter: number) {
    this.userId = userId;
    this.#notificationsAfter = notificationsAfter;
  }

  addOrder(order_no: string): void {
    this.orders.push({ order_no, status: 'pending', isDeleted: false, paidBy: null });
  }

  addPayment(order: ModelOrder, { payment_no, amount }: { payment_no: string; amount: number }): void {
    this.payments.push({
      ...{ payment_no, amount, order, status: 'pending', thirdPartyNo: null, furtherNos: new Set() },
      ...{ needsAttention: false, reason: null, notified: new Set(), notifications: 0, refunded: 0 },
    });
  }

  /** A valid callback arrives. @param isEarlier before the order could have been cancelled */
  pay(payment: ModelPayment, thirdPartyNo: string, isEarlier = false): void {
    if (payment.status === 'paid') {
      if (payment.thirdPartyNo !== thirdPartyNo && !payment.furtherNos.has(thirdPartyNo))
        this.flag(payment, 'paid_twice', payment.furtherNos.size + 1);
      if (payment.thirdPartyNo !== thirdPartyNo) payment.furtherNos.add(thirdPartyNo);
      return;
    }
    const { order } = payment;
    const isOpen = order.status === 'pending' || (order.status === 'cancelled' && isEarlier);
    const isPayable = isOpen && !order.isDeleted;
    Object.assign(payment, { status: 'paid', thirdPartyNo, needsAttention: false, reason: null });
    if (!isPayable) return this.flag(payment, 'order_not_payable');
    payment.notified.clear();
    Object.assign(order, { status: 'paid', paidBy: payment.payment_no });
    this.#cancelPayments(order);
  }

  /** It needs attention; administrators are notified once for each reason, and for each further payment. */
  flag(payment: ModelPayment, reason: string, nth = 1): void {
    payment.needsAttention = true;
    payment.reason = reason;
    const event = `${reason} ${Math.min(nth, 10)}`;
    if (!payment.notified.has(event)) payment.notifications++;
    payment.notified.add(event);
  }

  /** The reason it shows is put aside, of further payments the first; what is left shows again. */
  putAside(payment: ModelPayment): void {
    if (!payment.needsAttention) return;
    const seen = [...payment.notified].find((event) => event.startsWith(`${payment.reason} `));
    payment.notified.delete(seen as string);
    const before = [...payment.notified].at(-1)?.split(' ')[0];
    payment.needsAttention = before !== undefined;
    payment.reason = before ?? payment.reason;
  }

  /** Refunds cents. @returns the refusal, if any */
  refund(payment: ModelPayment, cents: number): string | undefined {
    if (payment.status !== 'paid') return 'payment_not_refundable';
    if (cents > leftOf(payment)) return 'refund_exceeds_payment';
    payment.refunded += cents;
    return undefined;
  }

  /** The order ends unpaid, and its waiting payments with it. */
  close(order: ModelOrder): void {
    order.status = 'cancelled';
    this.#cancelPayments(order);
  }

  #cancelPayments(order: ModelOrder): void {
    for (const payment of this.payments) {
      if (payment.order === order && payment.status === 'pending') payment.status = 'cancelled';
    }
  }

  /** Every order and payment as the database should have them. */
  expected(): unknown[] {
    const flag = (is: boolean) => (is ? 1 : 0);
    const byNumber = (one: object, other: object) =>
      Object.values(one)[0] < Object.values(other)[0] ? -1 : 1;
    const orders = this.orders.map(({ order_no, status, isDeleted, paidBy }) => {
      return { order_no, status, isDeleted: flag(isDeleted), paidBy, hasTime: flag(status === 'paid') };
    });
    const payments = this.payments.map(
      ({ payment_no, status, thirdPartyNo, needsAttention, notifications, refunded }) => {
        const hasTime = flag(status === 'paid');
        return {
          payment_no,
          status,
          thirdPartyNo,
          needsAttention: flag(needsAttention),
          hasTime,
          reserved: (refunded / 100).toFixed(2),
          refunded: (refunded / 100).toFixed(2),
          notifications,
        };
      },
    );
    return [...orders.sort(byNumber), ...payments.sort(byNumber)];
  }

  /** The same as the database has them. */
  async stored(): Promise<unknown[]> {
    const numbers = (items: string[]) => (items.length > 0 ? items : ['']);
    const orders = await select<object>(
      `SELECT order_no, status, deleted_at IS NOT NULL AS isDeleted, payment_no AS paidBy, paid_at IS NOT NULL AS hasTime
       FROM orders WHERE order_no IN (?) ORDER BY order_no`,
      [numbers(this.orders.map(({ order_no }) => order_no))],
    );
    const payments = await select<{ payment_no: string }>(
      `SELECT payment_no, status, third_party_no AS thirdPartyNo, needs_attention AS needsAttention,
         pay_time IS NOT NULL AS hasTime, refund_reserved AS reserved, refunded_amount AS refunded
       FROM payments WHERE payment_no IN (?) ORDER BY payment_no`,
      [numbers(this.payments.map(({ payment_no }) => payment_no))],
    );
    const counted = await select<{ payment_no: string; total: number }>(
      'SELECT LEFT(content, 37) AS payment_no, COUNT(*) AS total FROM notifications WHERE id > ? GROUP BY 1',
      [this.#notificationsAfter],
    );
    const totals = new Map(counted.map(({ payment_no, total }) => [payment_no, total]));
    return [
      ...orders,
      ...payments.map((row) => ({ ...row, notifications: totals.get(row.payment_no) ?? 0 })),
    ];
  }
}
