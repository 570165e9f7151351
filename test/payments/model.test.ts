// Random sequences of everything that can happen to orders and payments, held against a small model (reliability.md R4).
import '../support/environment.js';
import test from 'ava';
import fc from 'fast-check';
import { change, select } from '../../src/lib/db.js';
import { expireOrder } from '../../src/models/order.js';
import { sweep } from '../../src/worker/sweeper.js';
import { stateChanges, watchStates } from '../support/changes.js';
import { makeMethod, makeOrder, makeUser, mockCallback, mockSign, unique } from '../support/factories.js';
import { startService, type Service } from '../support/service.js';
import { until } from '../support/until.js';

let service: Service;
let methodId: number;
let userId: number;

test.before(async () => {
  service = await startService();
  await watchStates();
  methodId = (await makeMethod(service.admin)).id;
  userId = (await makeUser(service.admin)).id;
});

test.after.always(() => service.stop());

interface ModelOrder {
  order_no: string;
  status: 'pending' | 'paid' | 'cancelled';
  isDeleted: boolean;
  paidBy: string | null;
}

interface ModelPayment {
  payment_no: string;
  amount: number;
  order: ModelOrder;
  status: 'pending' | 'paid' | 'cancelled';
  thirdPartyNo: string | null;
  needsAttention: boolean;
}

interface Model {
  orders: ModelOrder[];
  payments: ModelPayment[];
}

const outcome = async (answer: Promise<{ status: number; errorCode?: string }>) => {
  const { status, errorCode } = await answer;
  return errorCode ?? status;
};

const notify = (payment: ModelPayment, more: object = {}) =>
  outcome(service.anonymous.post('//api/payment/notify/mock', { ...mockCallback(payment), ...more }));

/** What the model expects of a good callback. @returns the expected outcome */
function pay(payment: ModelPayment, thirdPartyNo: string): number {
  if (payment.status === 'paid') return 200;
  const { order } = payment;
  Object.assign(payment, {
    status: 'paid',
    thirdPartyNo,
    needsAttention: order.status !== 'pending' || order.isDeleted,
  });
  if (!payment.needsAttention) Object.assign(order, { status: 'paid', paidBy: payment.payment_no });
  return 200;
}

function close(model: Model, order: ModelOrder): void {
  order.status = 'cancelled';
  for (const payment of model.payments) {
    if (payment.order === order && payment.status === 'pending') payment.status = 'cancelled';
  }
}

type Pair = [real: unknown, expected: unknown];

/** Does it to the service and to the model. @returns what came of it and what the model expects */
const onOrders: Record<string, (order: ModelOrder, model: Model) => Promise<Pair>> = {
  async createPayment(order, model) {
    const body = { order_no: order.order_no, payment_method_id: methodId };
    const { status, errorCode, data } = await service.admin.post('/payments', body);
    if (order.isDeleted) return [errorCode, 'order_unknown'];
    if (order.status !== 'pending') return [errorCode, 'order_not_payable'];
    model.payments.push({ ...data, order, status: 'pending', thirdPartyNo: null, needsAttention: false });
    return [status, 200];
  },
  async cancel(order, model) {
    const real = await outcome(service.admin.put(`/orders/${order.order_no}`, { status: 'cancelled' }));
    if (order.isDeleted) return [real, 'order_not_found'];
    if (order.status === 'paid') return [real, 'order_not_cancellable'];
    close(model, order);
    return [real, 200];
  },
  async delete(order, model) {
    const real = await outcome(service.admin.delete(`/orders/${order.order_no}`));
    if (order.isDeleted) return [real, 'order_not_found'];
    if (order.status === 'paid') return [real, 'order_not_deletable'];
    close(model, order);
    order.isDeleted = true;
    return [real, 200];
  },
  async expire(order, model) {
    await change('UPDATE orders SET expire_at = ? WHERE order_no = ?', [
      new Date(Date.now() - 60_000),
      order.order_no,
    ]);
    const real = await expireOrder(order.order_no);
    const isDue = order.status === 'pending' && !order.isDeleted;
    if (isDue) close(model, order);
    // When the worker's sweeper was quicker, the rows tell.
    return [isDue || real === 'cancelled', isDue];
  },
};

const onPayments: Record<string, (payment: ModelPayment, model: Model) => Promise<Pair>> = {
  async payGood(payment) {
    const number = payment.thirdPartyNo ?? unique('T-');
    return [await notify(payment, { transaction_id: number, amount: payment.amount }), pay(payment, number)];
  },
  async payTwiceAtOnce(payment) {
    const number = payment.thirdPartyNo ?? unique('T-');
    const answers = await Promise.all([1, 2].map(() => notify(payment, { transaction_id: number })));
    return [answers, [pay(payment, number), 200]];
  },
  payAgainUnderAnotherNumber: async (payment) => {
    const number = unique('T-');
    return [await notify(payment, { transaction_id: number }), pay(payment, number)];
  },
  payWithWrongSignature: async (payment) => [
    await notify(payment, { sign: mockSign(payment.payment_no, '0.01') }),
    'payment_sign_invalid',
  ],
  async payWithWrongAmount(payment) {
    const real = await notify(payment, { amount: payment.amount + 1 });
    payment.needsAttention = true;
    return [real, 'payment_amount_mismatch'];
  },
  async payWithNumberOfAnother(payment, model) {
    const other = model.payments.find(
      ({ thirdPartyNo }) => thirdPartyNo && thirdPartyNo !== payment.thirdPartyNo,
    );
    if (!other) return [0, 0];
    const real = await notify(payment, { transaction_id: other.thirdPartyNo });
    if (payment.status === 'paid') return [real, 200];
    payment.needsAttention = true;
    return [real, 'third_party_no_used'];
  },
  async query(payment) {
    const { data } = await service.admin.post(`/payments/${payment.payment_no}/query`);
    const states = { pending: 'NOTPAY', paid: 'SUCCESS', cancelled: 'CLOSED' };
    return [
      [data.trade_state, data.third_party_no],
      [states[payment.status], payment.thirdPartyNo],
    ];
  },
};

/** Every order and payment of the model as the database has them. */
async function stored({ orders, payments }: Model): Promise<unknown[]> {
  const numbers = (items: string[]) => (items.length > 0 ? items : ['']);
  return [
    ...(await select<object>(
      `SELECT order_no, status, deleted_at IS NOT NULL AS isDeleted, payment_no AS paidBy, paid_at IS NOT NULL AS hasTime
       FROM orders WHERE order_no IN (?) ORDER BY order_no`,
      [numbers(orders.map(({ order_no }) => order_no))],
    )),
    ...(await select<object>(
      `SELECT payment_no, status, third_party_no AS thirdPartyNo, needs_attention AS needsAttention,
         pay_time IS NOT NULL AS hasTime
       FROM payments WHERE payment_no IN (?) ORDER BY payment_no`,
      [numbers(payments.map(({ payment_no }) => payment_no))],
    )),
  ];
}

function expected({ orders, payments }: Model): unknown[] {
  const byNumber = (one: object, other: object) => (Object.values(one)[0] < Object.values(other)[0] ? -1 : 1);
  const flag = (is: boolean) => (is ? 1 : 0);
  return [
    ...orders
      .map(({ order_no, status, isDeleted, paidBy }) => ({
        order_no,
        status,
        isDeleted: flag(isDeleted),
        paidBy,
        hasTime: flag(status === 'paid'),
      }))
      .sort(byNumber),
    ...payments
      .map(({ payment_no, status, thirdPartyNo, needsAttention }) => ({
        payment_no,
        status,
        thirdPartyNo,
        needsAttention: flag(needsAttention),
        hasTime: flag(status === 'paid'),
      }))
      .sort(byNumber),
  ];
}

type Step = [name: string, pick: number];

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom('createOrder', 'createPayment', 'payGood') },
    { weight: 5, arbitrary: fc.constantFrom(...Object.keys(onOrders), ...Object.keys(onPayments), 'sweep') },
  ),
  fc.nat(),
);

async function perform(model: Model, [name, pick]: Step): Promise<Pair> {
  const any = <T>(items: T[]): T | undefined => items[pick % Math.max(1, items.length)];
  if (name === 'sweep') return [await sweep(), undefined];
  const order = any(model.orders);
  const payment = any(model.payments);
  if (name in onOrders && order) return (onOrders[name] as any)(order, model);
  if (name in onPayments && payment) return (onPayments[name] as any)(payment, model);
  const { order_no } = await makeOrder(service.admin, `${(pick % 1000) + 1}.10`, { user_id: userId });
  model.orders.push({ order_no, status: 'pending', isDeleted: false, paidBy: null });
  return ['created', 'created'];
}

test('whatever happens in whatever order, rows and answers are as the model says', async (t) => {
  let total = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
      const model: Model = { orders: [], payments: [] };
      for (const next of steps) {
        const [real, wanted] = await perform(model, next);
        t.deepEqual(real, wanted, `${next[0]} among ${JSON.stringify(steps)}`);
        t.deepEqual(await stored(model), expected(model), `rows after ${next[0]}`);
        total++;
      }
    }),
    { numRuns: 12, endOnFailure: true },
  );
  t.true(total >= 240);
  const moves = new Set(
    (await stateChanges()).map(({ number, before, after }) => `${number.slice(0, 3)} ${before} → ${after}`),
  );
  const forward = [
    'ORD pending → cancelled',
    'ORD pending → paid',
    'PAY cancelled → paid',
    'PAY pending → cancelled',
    'PAY pending → paid',
  ];
  t.deepEqual([...moves].sort(), forward);
  const unsettled = `SELECT id FROM payment_callbacks WHERE state = 'pending'`;
  await t.notThrowsAsync(until(async () => (await select(unsettled)).length === 0));
});
