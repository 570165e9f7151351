// Lists of orders and payments: their filters, and totals that are exact on every process right after a write.
import '../support/environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import type { Client } from '../support/client.js';
import {
  makeMethod,
  makeOrder,
  makePayment,
  makeUser,
  mockCallback,
  unique,
  type MadeOrder,
} from '../support/factories.js';
import { startApi } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest();
let callers: Client[];

test.before(async () => {
  const other = await startApi();
  callers = [service.admin, service.admin.at(other.url)];
});

const any = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;

async function totals(path: string): Promise<number[]> {
  return Promise.all(callers.map(async (caller) => (await caller.get(path)).data.total));
}

test('orders are filtered by number, user, status, amount, remark and time', async (t) => {
  const { admin } = service;
  const user_id = (await makeUser(admin)).id;
  const prices = ['1.00', '2.50', '2.51', '10.00'];
  const orders: MadeOrder[] = [];
  for (const [index, price] of prices.entries()) {
    orders.push(
      await makeOrder(admin, price, { user_id, remark: ['50% off', '50x off', 'a_b', 'a\\b'][index] }),
    );
  }
  await admin.put(`/orders/${orders[3]?.order_no}`, { status: 'cancelled' });
  const found = async (query: string) => {
    const { data } = await admin.get(`/orders?user_id=${user_id}&order_by=id:asc&${query}`);
    t.is(data.total, data.list.length);
    return data.list.map(({ amount }: MadeOrder) => amount.toFixed(2));
  };
  t.deepEqual(await found(''), prices);
  t.deepEqual(await found(`order_no=${orders[1]?.order_no.slice(9)}`), ['2.50']);
  t.deepEqual(await found('status=cancelled'), ['10.00']);
  t.deepEqual(await found('status=pending&min_amount=2.50&max_amount=2.51'), ['2.50', '2.51']);
  t.deepEqual(await found('min_amount=2.51'), ['2.51', '10.00']);
  t.deepEqual(await found(`keyword=${encodeURIComponent('50%')}`), ['1.00']);
  t.deepEqual(await found('keyword=a_b'), ['2.51']);
  t.deepEqual(await found(`keyword=${encodeURIComponent('a\\')}`), ['10.00']);
  t.deepEqual(await found('start_time=2000-01-01&end_time=2000-01-02'), []);
  t.deepEqual(await found('start_date=2000-01-01&end_date=9999-12-31'), prices);
  t.deepEqual(await found('order_no='), prices);
  const sorted = await admin.get(
    `/orders?user_id=${user_id}&order_by=status:desc,amount:desc&page_size=2&page=2`,
  );
  t.deepEqual(
    sorted.data.list.map(({ amount }: MadeOrder) => amount),
    [1, 10],
  );
  t.like(sorted.data, { page: 2, page_size: 2, total: 4 });
  t.is((await admin.get(`/orders?page=99&page_size=1000&user_id=${user_id}`)).data.page_size, 100);
});

test('a number that was pasted with spaces is found', async (t) => {
  const { admin } = service;
  const { id } = await makeMethod(admin);
  const payment = await makePayment(admin, id);
  await admin.post('//api/payment/notify/mock', mockCallback(payment));
  const { order_no, payment_no } = payment;
  for (const query of [
    `orders?order_no=${order_no}`,
    `payments?payment_no=${payment_no}`,
    `payments?order_no=${order_no.slice(-20)}`,
    `payments?third_party_no=MOCK-${payment_no}`,
  ])
    t.is((await admin.get(`/${query.replace('=', '=%20')}%20`)).data.total, 1, query);
});

test('a number in small letters is found, as by the search', async (t) => {
  const { admin } = service;
  const { order_no, payment_no } = await makePayment(admin, (await makeMethod(admin)).id);
  const end = order_no.slice(-20).toLowerCase();
  for (const query of [
    `orders?order_no=${order_no.toLowerCase()}`,
    `orders?order_no=${end}`,
    `payments?payment_no=${payment_no.toLowerCase()}`,
    `payments?order_no=${end}`,
  ])
    t.is((await admin.get(`/${query}`)).data.total, 1, query);
  t.is((await admin.get(`/search?q=${end}`)).data.list[0].id, order_no);
  // Its capitals are ASCII.
  t.is((await admin.get(`/orders?order_no=${encodeURIComponent('oﬀ')}`)).data.total, 0);
});

test('an invalid filter is refused', async (t) => {
  for (const [query, status, code] of [
    ['status=unknown', 422, 30001],
    ['min_amount=1.234', 422, 30001],
    ['user_id=x', 400, 30001],
    ['user_id=1&user_id=2', 400, 30001],
    ['start_time=yesterday', 422, 30004],
    ['order_by=remark:asc', 422, 30004],
    ['timezone=Mars/Olympus', 422, 30004],
  ] as const) {
    const answer = await service.admin.get(`/orders?${query}`);
    t.deepEqual([answer.status, answer.code], [status, code], query);
  }
  for (const query of ['time_field=updated_at', 'status=settled', 'order_by=third_party_no:asc']) {
    t.is((await service.admin.get(`/payments?${query}`)).status, 422, query);
  }
});

test('the totals after a write are exact on every process', async (t) => {
  const method = await makeMethod(service.admin);

  async function actor(): Promise<void> {
    const user_id = (await makeUser(any(callers))).id;
    const remark = unique('remark');
    const states: Record<string, 'pending' | 'cancelled' | 'paid'> = {};
    const expect = async () => {
      const caller = any(callers);
      const values = Object.values(states);
      const filter = any([
        '',
        'status=pending',
        'status=cancelled',
        'status=paid',
        `keyword=${remark}`,
        'min_amount=0',
      ]);
      const wanted = filter.startsWith('status=')
        ? values.filter((state) => `status=${state}` === filter)
        : values;
      t.is((await caller.get(`/orders?user_id=${user_id}&${filter}`)).data.total, wanted.length, filter);
      // Every order here has one payment, whose state is the order's.
      const paymentFilter = any(['', 'status=pending', 'status=paid', 'status=cancelled']);
      const payments = paymentFilter ? values.filter((state) => `status=${state}` === paymentFilter) : values;
      const { data } = await caller.get(`/payments?user_id=${user_id}&${paymentFilter}`);
      t.is(
        data.total,
        payments.length + (paymentFilter === '' || paymentFilter === 'status=cancelled' ? deleted : 0),
        paymentFilter,
      );
      t.true((await caller.get('/orders')).data.total >= values.length);
    };
    let deleted = 0;
    for (let step = 0; step < 12; step++) {
      const pending = Object.keys(states).filter((order) => states[order] === 'pending');
      const order = pending[0];
      const action = order ? any(['create', 'cancel', 'delete', 'pay', 'create']) : 'create';
      if (action === 'create' || !order) {
        const { order_no } = await makeOrder(any(callers), '7.10', { user_id, remark });
        await any(callers).post('/payments', { order_no, payment_method_id: method.id });
        states[order_no] = 'pending';
      } else if (action === 'pay') {
        const { data } = await any(callers).get(`/payments?order_no=${order}`);
        await any(callers).post('//api/payment/notify/mock', mockCallback(data.list[0]));
        states[order] = 'paid';
      } else if (action === 'cancel') {
        await any(callers).put(`/orders/${order}`, { status: 'cancelled' });
        states[order] = 'cancelled';
      } else {
        await any(callers).delete(`/orders/${order}`);
        delete states[order];
        deleted++;
      }
      await expect();
    }
  }

  await Promise.all([actor(), actor(), actor(), actor()]);
  const [orders] = await select<{ total: number }>(
    'SELECT COUNT(*) AS total FROM orders WHERE deleted_at IS NULL',
  );
  const [payments] = await select<{ total: number }>('SELECT COUNT(*) AS total FROM payments');
  t.deepEqual(await totals('/orders'), [orders?.total, orders?.total]);
  t.deepEqual(await totals('/payments'), [payments?.total, payments?.total]);
});
