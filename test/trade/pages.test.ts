// Pages over many months: whatever is asked for, a page holds what the whole list, filtered and sorted by hand, has there.
import '../support/environment.js';
import test from 'ava';
import fc from 'fast-check';
import { setClock } from '../../src/lib/values/clock.js';
import { change } from '../../src/lib/database/db.js';
import { newOrderNumber, periodOf, shiftPeriod } from '../../src/lib/values/numbers.js';
import { extendPartitions } from '../../src/models/tables/partitions.js';
import { makeMethod, makeUser, somePaymentNumber } from '../support/factories.js';
import { serviceTest } from '../support/service-test.js';

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

const service = serviceTest({ withWorker: false });
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
  for (const row of rows) {
    const at = new Date(row.created_at);
    const period = Number(row.number.slice(3, 9));
    await change(
      `INSERT INTO orders (id, period, order_no, user_id, amount, status, remark, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [row.id, period, row.number, userId, row.amount, row.status, row.remark, at, at],
    );
    await change(
      `INSERT INTO payments (id, period, payment_no, order_no, user_id, payment_method_id, amount, status, remark, created_at, updated_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        ...[row.id, period, somePaymentNumber(at), row.number, userId, methodId, row.amount, row.status],
        ...[row.remark, at, at],
      ],
    );
  }
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
      { numRuns: 150, endOnFailure: true },
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
