// Everything that can happen to orders and payments, applied to the service and to the model (docs/promises.md R4).
import fc from 'fast-check';
import { change, select } from '../../../src/lib/database/db.js';
import { paymentKey } from '../../../src/lib/values/numbers.js';
import { expireOrder } from '../../../src/models/trade/order.js';
import { recordVerified } from '../../../src/models/trade/callback-intake.js';
import { verdictOf, type CallbackKey } from '../../../src/models/trade/payment-callback.js';
import { settle } from '../../../src/models/trade/payment-settlement.js';
import { sweep } from '../../../src/worker/sweeper.js';
import type { Answer, Client } from '../client.js';
import { callBack, makeOrder, mockSign, placePayment, unique } from '../factories.js';
import { leftOf, type Model, type ModelOrder, type ModelPayment } from './payment-model.js';
import { selectRow } from '../rows.js';
import type { SystemUnderTest } from './system-under-test.js';
import { until } from '../until.js';

/** What came of a command, and what the model expects. */
type Pair = [real: unknown, expected: unknown];

/** A command, and a number that decides what it is done to. */
type Step = [name: string, pick: number];

type Act<T> = (subject: T, model: Model, system: SystemUnderTest) => Promise<Pair>;

const slugOf = async (answer: Promise<Answer>): Promise<string | number> => {
  const { status, errorCode } = await answer;
  return errorCode ?? status;
};

const notify = ({ anonymous }: SystemUnderTest, payment: ModelPayment, more: object = {}) =>
  slugOf(callBack(anonymous, payment, more));

const overdue = ({ order_no }: ModelOrder) =>
  change('UPDATE orders SET expire_at = ? WHERE order_no = ?', [new Date(Date.now() - 60_000), order_no]);

/** A verified callback in the inbox that no process knows of. */
async function store({ payment_no }: ModelPayment, third_party_no: string): Promise<CallbackKey> {
  const attempt = { type: 'mock', ...paymentKey(payment_no), third_party_no, fields: {}, ip: '127.0.0.1' };
  return (await recordVerified({ ...attempt, trace_id: 'model' })) as CallbackKey;
}

async function isPaid({ order_no }: ModelOrder): Promise<boolean> {
  const sql = 'SELECT status FROM orders WHERE order_no = ?';
  return (await selectRow<{ status: string }>(sql, [order_no])).status === 'paid';
}

const refund = (admin: Client, { payment_no }: ModelPayment, destination: string, cents: number) =>
  admin.post('/refunds', { payment_no, destination, amount: (cents / 100).toFixed(2), reason: 'model' });

/** No refund of the payment is under way any more, though its job may have been lost. */
const refundsEnded = ({ payment_no }: ModelPayment): Promise<true> =>
  until(async () => {
    const open = await select(
      `SELECT id FROM refunds WHERE payment_no = ? AND status IN ('pending', 'processing')`,
      [payment_no],
    );
    if (open.length > 0) await sweep();
    return open.length === 0 || undefined;
  });

const isOpen = ({ status, isDeleted }: ModelOrder): boolean => status === 'pending' && !isDeleted;

const onOrders: Record<string, Act<ModelOrder>> = {
  async createPayment(order, model, { admin, methodId }) {
    const body = { order_no: order.order_no, payment_method_id: methodId };
    const { status, errorCode, data } = await admin.post('/payments', body);
    if (order.isDeleted) return [errorCode, 'order_unknown'];
    if (order.status !== 'pending') return [errorCode, 'order_not_payable'];
    model.addPayment(order, data);
    return [status, 200];
  },
  async cancel(order, model, { admin }) {
    const real = await slugOf(admin.put(`/orders/${order.order_no}`, { status: 'cancelled' }));
    if (order.isDeleted) return [real, 'order_not_found'];
    if (order.status === 'paid') return [real, 'order_not_cancellable'];
    model.close(order);
    return [real, 200];
  },
  async delete(order, model, { admin }) {
    const real = await slugOf(admin.delete(`/orders/${order.order_no}`));
    if (order.isDeleted) return [real, 'order_not_found'];
    if (order.status === 'paid') return [real, 'order_not_deletable'];
    model.close(order);
    order.isDeleted = true;
    return [real, 200];
  },
  async expire(order, model) {
    await overdue(order);
    const real = await expireOrder(order.order_no);
    const isDue = isOpen(order);
    if (isDue) model.close(order);
    // When the worker's sweeper was quicker, the rows show it.
    return [isDue || real === 'cancelled', isDue];
  },
  async expireBySweep(order, model, { admin }) {
    await overdue(order);
    if (!isOpen(order)) return [await sweep(), undefined];
    await until(async () => {
      await sweep();
      return (await admin.get(`/orders/${order.order_no}`)).data.status === 'cancelled';
    });
    model.close(order);
    return ['expired', 'expired'];
  },
};

const onPayments: Record<string, Act<ModelPayment>> = {
  async payGood(payment, model, system) {
    const transaction_id = payment.thirdPartyNo ?? unique('T-');
    model.pay(payment, transaction_id);
    return [await notify(system, payment, { transaction_id, amount: payment.amount }), 200];
  },
  async payManyTimesAtOnce(payment, model, system) {
    const transaction_id = payment.thirdPartyNo ?? unique('T-');
    model.pay(payment, transaction_id);
    const answers = await Promise.all([1, 2, 3].map(() => notify(system, payment, { transaction_id })));
    return [answers, [200, 200, 200]];
  },
  async payAgainUnderAnotherNumber(payment, model, system) {
    const transaction_id = unique('T-');
    model.pay(payment, transaction_id);
    return [await notify(system, payment, { transaction_id }), 200];
  },
  async payWhileCancelling(payment, model, system) {
    const { order } = payment;
    if (!isOpen(order)) return [0, 0];
    const transaction_id = payment.thirdPartyNo ?? unique('T-');
    const [paid, cancelled] = await Promise.all([
      notify(system, payment, { transaction_id }),
      slugOf(system.admin.put(`/orders/${order.order_no}`, { status: 'cancelled' })),
    ]);
    // Either may come first; the rows show which one did. Money reported before the order was cancelled wins.
    const wasClosed = cancelled === 200 && !(await isPaid(order));
    if (wasClosed) model.close(order);
    model.pay(payment, transaction_id);
    const refusals = ['order_not_cancellable', 'order_being_paid'];
    return [
      [paid, cancelled === 200 || refusals.includes(cancelled as string)],
      [200, true],
    ];
  },
  // Money that was reported in time wins over the end of its order, whichever comes first.
  async expireWhileStored(payment, model, { admin }) {
    const { order } = payment;
    if (!isOpen(order)) return [0, 0];
    const thirdPartyNo = payment.thirdPartyNo ?? unique('T-');
    const key = await store(payment, thirdPartyNo);
    await overdue(order);
    const path = `/orders/${order.order_no}`;
    const ends = [
      await expireOrder(order.order_no),
      await slugOf(admin.put(path, { status: 'cancelled' })),
      await slugOf(admin.delete(path)),
    ];
    await settle(key);
    model.pay(payment, thirdPartyNo);
    const early = ['not_due', 'order_being_paid', 'order_being_paid'];
    const late = ['not_due', 'order_not_cancellable', 'order_not_deletable'];
    // The sweeper of the worker may have settled it before.
    return [ends.every((end, index) => [early[index], late[index]].includes(end as string)), true];
  },
  async placeAgainUnderItsKey(payment, model, system) {
    const { admin, methodId } = system;
    const { order } = payment;
    if (order.isDeleted) return [0, 0];
    const headers = { 'Idempotency-Key': unique('key-') };
    const place = () => placePayment(admin, order, methodId, headers);
    const first = await place();
    if (!isOpen(order)) return [first.errorCode, 'order_not_payable'];
    model.addPayment(order, first.data);
    const again = await place();
    const transaction_id = payment.thirdPartyNo ?? unique('T-');
    model.pay(payment, transaction_id);
    await notify(system, payment, { transaction_id });
    const late = await place();
    return [
      [again.data?.payment_no, again.data?.gateway !== undefined, late.data?.gateway],
      [first.data.payment_no, true, undefined],
    ];
  },
  // The API process died when the callback was stored and not yet queued, or the queue was lost.
  async payByStoredCallback(payment, model) {
    const thirdPartyNo = payment.thirdPartyNo ?? unique('T-');
    const key = await store(payment, thirdPartyNo);
    // Before this sequence began: money that was reported before its order was cancelled wins.
    const longAgo = new Date(Date.now() - 600_000);
    await change('UPDATE payment_callbacks SET created_at = ? WHERE id = ? AND period = ?', [
      longAgo,
      key.id,
      key.period,
    ]);
    await until(async () => {
      await sweep();
      return (await verdictOf(key))?.state === 'settled';
    });
    model.pay(payment, thirdPartyNo, true);
    await until(async () => JSON.stringify(await model.stored()) === JSON.stringify(model.expected()));
    return ['settled', 'settled'];
  },
  payWithWrongSignature: async (payment, _, system) => [
    await notify(system, payment, { sign: mockSign(payment.payment_no, '0.01') }),
    'payment_sign_invalid',
  ],
  async payWithWrongAmount(payment, model, system) {
    model.flag(payment, 'payment_amount_mismatch');
    return [await notify(system, payment, { amount: payment.amount + 1 }), 'payment_amount_mismatch'];
  },
  async payWithNumberOfAnother(payment, model, system) {
    const other = model.payments.find((one) => one !== payment && one.thirdPartyNo);
    if (!other) return [0, 0];
    const numbers = [other.thirdPartyNo, ...other.furtherNos];
    const transaction_id = numbers.at(-1);
    const real = await notify(system, payment, { transaction_id });
    model.flag(payment, 'third_party_no_used');
    return [real, 'payment_third_party_no_used'];
  },
  async putAside(payment, model, { admin }) {
    const body = { needs_attention: false, fail_reason: payment.reason ?? 'none' };
    model.putAside(payment);
    return [await slugOf(admin.put(`/payments/${payment.payment_no}`, body)), 200];
  },
  async putAsideUnseen(payment, _, { admin }) {
    const body = { needs_attention: false, fail_reason: 'another' };
    const real = await slugOf(admin.put(`/payments/${payment.payment_no}`, body));
    return [real, payment.needsAttention ? 'payment_attention_changed' : 200];
  },
  async refundToBalance(payment, model, { admin }) {
    const real = await slugOf(refund(admin, payment, 'balance', 50));
    return [real, model.refund(payment, 50) ?? 200];
  },
  async refundToChannel(payment, model, { admin }) {
    const real = await slugOf(refund(admin, payment, 'channel', 70));
    const expected = model.refund(payment, 70) ?? 200;
    await refundsEnded(payment);
    return [real, expected];
  },
  async refundAllTwiceAtOnce(payment, model, { admin }) {
    const left = leftOf(payment);
    const both = ['channel', 'balance'].map((to) => slugOf(refund(admin, payment, to, Math.max(left, 1))));
    const real = await Promise.all(both);
    await refundsEnded(payment);
    const expected = [0, 1].map(() => model.refund(payment, Math.max(left, 1)) ?? 200);
    // Either may come first.
    return [real.sort(), expected.sort()];
  },
  async query(payment, _, { admin }) {
    const { data } = await admin.post(`/payments/${payment.payment_no}/query`);
    const states = { pending: 'NOTPAY', paid: 'SUCCESS', cancelled: 'CLOSED' };
    return [
      [data.trade_state, data.third_party_no],
      [states[payment.status], payment.thirdPartyNo],
    ];
  },
};

const onEverything: Record<string, (model: Model, system: SystemUnderTest) => Promise<Pair>> = {
  sweep: async () => [await sweep(), undefined],
  emptyRedis: async (_, system) => [await system.emptyRedis(), undefined],
  async list(model, { admin }) {
    const states = ['pending', 'paid', 'cancelled'];
    const totals = (list: string) =>
      Promise.all(
        states.map(
          async (state) =>
            (await admin.get(`/${list}?user_id=${model.userId}&status=${state}`)).data.total as number,
        ),
      );
    const of = (items: { status: string }[]) =>
      states.map((state) => items.filter(({ status }) => status === state).length);
    return [
      [await totals('orders'), await totals('payments')],
      [of(model.orders.filter(({ isDeleted }) => !isDeleted)), of(model.payments)],
    ];
  },
};

// Rare: a process takes seconds to start.
const restarts: typeof onEverything = {
  restartApi: async (_, system) => [await system.restartApi(), undefined],
  restartWorker: async (_, system) => [await system.restartWorker(), undefined],
};

/** Names of all commands. */
export const commandNames = [
  'createOrder',
  ...[onOrders, onPayments, onEverything, restarts].flatMap((commands) => Object.keys(commands)),
];

/** Any command; one in that many restarts a process. */
export const anyStep = (restartOneIn: number): fc.Arbitrary<Step> =>
  fc.tuple(
    fc.oneof(
      {
        weight: 3 * restartOneIn,
        arbitrary: fc.constantFrom('createOrder', 'createPayment', 'payGood'),
      },
      {
        weight: 7 * restartOneIn,
        arbitrary: fc.constantFrom(
          ...[onOrders, onPayments, onEverything].flatMap((one) => Object.keys(one)),
        ),
      },
      { weight: 10, arbitrary: fc.constantFrom(...Object.keys(restarts)) },
    ),
    fc.nat(),
  );

/** Does a step; what it needs and does not find yet becomes a new order. */
export async function perform(model: Model, [name, pick]: Step, system: SystemUnderTest): Promise<Pair> {
  const any = <T>(items: T[]): T | undefined => items[pick % Math.max(1, items.length)];
  const alone = onEverything[name] ?? restarts[name];
  if (alone) return alone(model, system);
  const [order, payment] = [any(model.orders), any(model.payments)];
  if (onOrders[name] && order) return onOrders[name](order, model, system);
  if (onPayments[name] && payment) return onPayments[name](payment, model, system);
  const made = await makeOrder(system.admin, `${(pick % 1000) + 1}.10`, { user_id: model.userId });
  model.addOrder(made.order_no);
  return ['created', 'created'];
}
