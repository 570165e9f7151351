// Lists of orders and payments: their filters, and pages over many months, which equal the slices of the whole list, filtered
// and sorted by hand.
import '../support/environment.js';
import test from 'ava';
import fc from 'fast-check';
import { setClock } from '../../src/lib/values/clock.js';
import { change } from '../../src/lib/database/db.js';
import { newOrderNumber, periodOf, shiftPeriod } from '../../src/lib/values/numbers.js';
import { extendPartitions } from '../../src/models/tables/partitions.js';
import { makeMethod, makeOrder, makePayment, makeUser, type MadeOrder } from '../support/factories.js';
import { paidPayment } from '../support/refunds.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest();

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
  const payment = await paidPayment(admin, id);
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
  const { order_no, payment_no } = await makePayment(admin);
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

interface Row {
  id: number;
  number: string;
  amount: number;
  status: string;
  remark: string;
  created_at: string;
}

/** Of the coming months, all but the fourth. */
const periods = [1, 2, 3, 5, 6, 7].map((ahead) => shiftPeriod(periodOf(new Date()), ahead));
const months = periods.map(
  (period) => `${Math.floor(period / 100)}-${String(period % 100).padStart(2, '0')}`,
);
const [, second, third, , fifth] = months as [string, string, string, string, string];
const perMonth = 40;

let userId: number;
const rows: Row[] = [];

// Ids cross over at the turn of two months, as they do when writers meet there; one is far behind the others of its month.
function idOf(month: number, index: number): number {
  if (month === 2 && index === 20) return 3;
  const id = 1000 + (month * perMonth + index) * 10;
  return month % 2 === 1 && index < 3 ? id - 65 : id;
}

test.before(async () => {
  userId = (await makeUser(service.admin)).id;
  const methodId = (await makeMethod(service.admin)).id;
  setClock(new Date(`${fifth}-15`));
  await extendPartitions();
  setClock();
  for (const [month, name] of months.entries()) {
    for (let index = 0; index < perMonth; index++) {
      const at = new Date(Date.parse(`${name}-01T00:00:00Z`) + index * 40_000_000);
      rows.push({
        id: idOf(month, index),
        number: newOrderNumber(at),
        amount: (index * 7) % 10,
        status: ['pending', 'paid', 'cancelled'][(index * month) % 3] as string,
        remark: index % 9 === 0 ? 'a rare thing' : 'thing',
        created_at: at.toISOString(),
      });
    }
  }
  await change(
    `INSERT INTO orders (id, period, order_no, user_id, amount, status, remark, created_at, updated_at)
     VALUES ${rows.map(() => '(?, ?, ?, ?, ?, ?, ?, ?, ?)').join(', ')}`,
    rows.flatMap(({ id, number, amount, status, remark, created_at }) => {
      const at = new Date(created_at);
      return [id, Number(number.slice(3, 9)), number, userId, amount, status, remark, at, at];
    }),
  );
  await change(
    `INSERT INTO payments (id, period, payment_no, order_no, user_id, payment_method_id, amount, status, remark, created_at, updated_at)
     SELECT id, period, REPLACE(order_no, 'ORD', 'PAY'), order_no, user_id, ?, amount, status, remark, created_at, updated_at
     FROM orders WHERE user_id = ?`,
    [methodId, userId],
  );
});

type Sort = [field: 'id' | 'created_at' | 'amount' | 'status', direction: 'asc' | 'desc'];

interface Question {
  filter: [query: string, matches: (row: Row) => boolean];
  sort: Sort[];
  size: number;
  page: number;
}

const filters: Question['filter'][] = [
  ['', () => true],
  ['status=paid', ({ status }) => status === 'paid'],
  [
    `status=cancelled&start_time=${second}-10&end_time=${fifth}-10`,
    ({ status, created_at }) =>
      status === 'cancelled' && created_at >= `${second}-10` && created_at < `${fifth}-11`,
  ],
  [
    `start_time=${third}-02&end_time=${third}-11`,
    ({ created_at }) => created_at >= `${third}-02` && created_at < `${third}-12`,
  ],
];

const orderFilters: Question['filter'][] = [
  ...filters,
  ['keyword=rare', ({ remark }) => remark.includes('rare')],
  ['min_amount=3&max_amount=4', ({ amount }) => amount >= 3 && amount <= 4],
  ...[`ORD${third.slice(0, 4)}`, `ORD${periods[2]}`, 'ORD'].map((head): Question['filter'] => [
    `order_no=${head}`,
    ({ number }) => number.startsWith(head),
  ]),
  ['keyword=nowhere', () => false],
];

const question = (choice: Question['filter'][]): fc.Arbitrary<Question> =>
  fc.record({
    filter: fc.constantFrom(...choice),
    sort: fc.uniqueArray(
      fc.tuple(fc.constantFrom('id', 'created_at', 'amount', 'status'), fc.constantFrom('asc', 'desc')),
      { minLength: 1, maxLength: 2, selector: ([field]) => field },
    ),
    size: fc.integer({ min: 1, max: 100 }),
    page: fc.integer({ min: 1, max: 30 }),
  });

/** Ids of the page, found by hand. */
function expected({ filter: [, matches], sort, size, page }: Question): { ids: number[]; total: number } {
  const found = rows.filter(matches);
  const all: Sort[] = [...sort, ['id', (sort.at(-1) as Sort)[1]]];
  const compare = (one: Row, other: Row): number => {
    for (const [field, direction] of all) {
      if (one[field] === other[field]) continue;
      return one[field] < other[field] === (direction === 'asc') ? -1 : 1;
    }
    return 0;
  };
  const ids = found.sort(compare).map(({ id }) => id);
  return { ids: ids.slice((page - 1) * size, page * size), total: ids.length };
}

const asked = ({ filter: [query], sort, size, page }: Question): string =>
  `${query}&order_by=${sort.map((order) => order.join(':')).join(',')}&page_size=${size}&page=${page}`;

for (const [list, choice] of [
  ['orders', orderFilters],
  ['payments', filters],
] as const) {
  test.serial(`any page of ${list} holds the rows of its filter and sort`, async (t) => {
    await fc.assert(
      fc.asyncProperty(question([...choice]), async (wanted) => {
        const { data } = await service.admin.get(`/${list}?user_id=${userId}&${asked(wanted)}`);
        const ids = data.list.map(({ id }: Row) => id);
        t.deepEqual({ ids, total: data.total }, expected(wanted), asked(wanted));
      }),
      { numRuns: 60, endOnFailure: true },
    );
  });
}

test.serial('pages follow each other through all months without gaps or repeats', async (t) => {
  for (const direction of ['asc', 'desc'] as const) {
    const seen: number[] = [];
    for (let page = 1; ; page++) {
      const { data } = await service.admin.get(
        `/orders?user_id=${userId}&order_by=id:${direction}&page_size=17&page=${page}`,
      );
      if (data.list.length === 0) break;
      seen.push(...data.list.map(({ id }: Row) => id));
    }
    const whole = expected({
      filter: ['', () => true],
      sort: [['id', direction]],
      size: rows.length,
      page: 1,
    });
    t.deepEqual(seen, whole.ids);
  }
});
