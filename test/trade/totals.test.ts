// Totals of lists after every kind of change, at both of two processes.
import '../support/environment.js';
import test from 'ava';
import { change, select } from '../../src/lib/database/db.js';
import { paymentPeriod } from '../../src/lib/values/numbers.js';
import { expireOrder } from '../../src/models/trade/order.js';
import { recordVerified } from '../../src/models/trade/callback-intake.js';
import type { CallbackKey } from '../../src/models/trade/payment-callback.js';
import { settle } from '../../src/models/trade/payment-settlement.js';
import type { Client } from '../support/client.js';
import {
  makeMethod,
  makeOrder,
  makeUser,
  mockCallback,
  unique,
  type MadePayment,
} from '../support/factories.js';
import { startApi } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest();
let callers: Client[];
let methodId: number;

test.before(async () => {
  callers = [service.admin, service.admin.at((await startApi()).url)];
  methodId = (await makeMethod(service.admin)).id;
});

const remark = unique('remark');

/** Lists as callers ask for them, each with the rows it must count. */
const lists: [path: string, table: 'orders' | 'payments', rows: string][] = [
  ['/orders?', 'orders', 'TRUE'],
  ['/orders?status=pending', 'orders', `status = 'pending'`],
  ['/orders?status=paid', 'orders', `status = 'paid'`],
  ['/orders?status=cancelled', 'orders', `status = 'cancelled'`],
  [`/orders?keyword=${remark}`, 'orders', `remark = '${remark}'`],
  [`/orders?keyword=${remark}&order_by=amount`, 'orders', `remark = '${remark}'`],
  ['/payments?', 'payments', 'TRUE'],
  ['/payments?status=pending', 'payments', `status = 'pending'`],
  ['/payments?status=paid', 'payments', `status = 'paid'`],
  ['/payments?status=cancelled', 'payments', `status = 'cancelled'`],
  ['/payments?needs_attention=1', 'payments', 'needs_attention = 1'],
  ['/payments?third_party_no=OLD-', 'payments', `third_party_no LIKE 'OLD-%'`],
  ['/payments?time_field=pay_time&start_time=2000-01-01', 'payments', 'pay_time IS NOT NULL'],
];

async function counted(userId: number): Promise<number[]> {
  const counts = lists.map(async ([, table, rows]) => {
    const visible = table === 'orders' ? 'deleted_at IS NULL AND ' : '';
    const sql = `SELECT COUNT(*) AS total FROM ${table} WHERE ${visible}user_id = ? AND ${rows}`;
    return (await select<{ total: number }>(sql, [userId]))[0]?.total as number;
  });
  return Promise.all(counts);
}

const listed = (caller: Client, userId: number): Promise<number[]> =>
  Promise.all(
    lists.map(async ([path]) => {
      const { data } = await caller.get(`${path}&page_size=100&user_id=${userId}`);
      return data.total === data.list.length ? data.total : -1;
    }),
  );

const transaction = () => ({ transaction_id: unique('OLD-') });

test('every change updates the totals of both processes at once', async (t) => {
  const [one, other] = callers as [Client, Client];
  const user_id = (await makeUser(one)).id;
  const payment = async (order_no: string): Promise<MadePayment> =>
    (await one.post('/payments', { order_no, payment_method_id: methodId })).data;
  const orders: string[] = [];
  const payments: MadePayment[] = [];
  for (let count = 0; count < 10; count++) {
    const { order_no } = await makeOrder(one, '3.00', { user_id });
    orders.push(order_no);
    payments.push(await payment(order_no));
  }
  await makeOrder(one, '3.00', { user_id, remark });
  const second = await payment(orders[0] as string);
  const [p0, p1, p2, p3, p4, p5] = payments as [
    MadePayment,
    MadePayment,
    MadePayment,
    MadePayment,
    MadePayment,
    MadePayment,
  ];
  const path = ({ order_no }: MadePayment): string => `/orders/${order_no}`;
  const notify = (paid: MadePayment, more: object) =>
    other.post('//api/payment/notify/mock', { ...mockCallback(paid), ...more });
  const changes: [string, () => Promise<unknown>][] = [
    ['placed', async () => orders.push((await makeOrder(other, '3.00', { user_id })).order_no)],
    ['a payment made', () => payment(orders.at(-1) as string)],
    ['paid, the other payment cancelled', () => notify(p0, transaction())],
    ['late money on the cancelled payment', () => notify(second, transaction())],
    ['paid a second time', () => notify(p0, transaction())],
    ['cancelled', () => one.put(path(p1), { status: 'cancelled' })],
    ['money for a cancelled order', () => notify(p1, transaction())],
    ['remark', () => other.put(path(p1), { remark })],
    ['remark taken away', () => other.put(path(p1), { remark: '' })],
    ['deleted while cancelled', () => one.delete(path(p1))],
    ['deleted while pending', () => other.delete(path(p2))],
    ['flagged', () => notify(p3, { amount: '0.01' })],
    ['flagged again', () => notify(p3, { amount: '0.01' })],
    [
      'put aside',
      () =>
        one.put(`/payments/${p3.payment_no}`, {
          needs_attention: false,
          fail_reason: 'payment_amount_mismatch',
        }),
    ],
    ['flagged once more', () => notify(p3, { amount: '0.01' })],
    ['paid while flagged', () => notify(p3, transaction())],
    ['expired', () => expire(p4)],
    ['paid by money that was in time', () => payInTime(p5)],
  ];
  const exact = async (title: string) => {
    const wanted = await counted(user_id);
    t.deepEqual(await listed(one, user_id), wanted, title);
    t.deepEqual(await listed(other, user_id), wanted, `${title}, at the other process`);
  };
  await exact('before');
  for (const [title, work] of changes) {
    await work();
    await exact(title);
  }
});

async function expire({ order_no }: MadePayment): Promise<void> {
  await change('UPDATE orders SET expire_at = NOW(3) - INTERVAL 1 SECOND WHERE order_no = ?', [order_no]);
  await expireOrder(order_no);
}

/** Money that was reported an instant before its order was cancelled. */
async function payInTime(payment: MadePayment): Promise<void> {
  await service.admin.put(`/orders/${payment.order_no}`, { status: 'cancelled' });
  const key = (await recordVerified({
    ...{ type: 'mock', period: paymentPeriod(payment.payment_no), paymentNo: payment.payment_no },
    ...{ thirdPartyNo: unique('OLD-'), fields: {}, ip: '127.0.0.1' },
    ...{ state: 'pending', verdict: 'verified', traceId: 'old' },
  })) as CallbackKey;
  const before = 'SELECT cancelled_at - INTERVAL 5000 MICROSECOND FROM orders WHERE order_no = ?';
  await change(`UPDATE payment_callbacks SET created_at = (${before}) WHERE id = ? AND period = ?`, [
    ...[payment.order_no, key.id, key.period],
  ]);
  await settle(key);
}
