// Batches of an import that are written at the same time: none stays without those before it.
import '../support/environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { Money } from '../../src/lib/values/money.js';
import { findWork, type ImportWork } from '../../src/models/imports/import-progress.js';
import type { OrderDraft } from '../../src/models/imports/order-draft.js';
import { writeBatch } from '../../src/models/imports/import-batch.js';
import { makeUser } from '../support/factories.js';
import { startImport, stateOf } from '../support/imports.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest({ withWorker: false });
const amount = new Money(150n);

function draft(userId: number, row: number): OrderDraft {
  const lines = [{ product_id: null, product_name: 'Tea', price: amount, quantity: 1 }];
  return { rows: [row], problems: [], userId, userRow: row, amount, remark: `row ${row}`, lines };
}

/** An import of two rows that nothing works on, and how to write its second one. */
async function started() {
  const { id: user } = await makeUser(service.admin);
  const id = await startImport(service.admin, `user_id,amount\n${user},1.50\n${user},1.50`);
  const work = (await findWork(id)) as ImportWork;
  const first = draft(user, 2);
  return {
    id,
    first: () => writeBatch(work, [first], { from: 0, rows: 1, progress: 50 }, Promise.resolve(true)),
    second: (before: Promise<boolean>) =>
      writeBatch(work, [draft(user, 3)], { from: 1, rows: 1, progress: 99 }, before),
    remarks: async () => {
      const orders = await select<{ remark: string }>('SELECT remark FROM orders WHERE user_id = ?', [user]);
      return orders.map(({ remark }) => remark).sort();
    },
  };
}

/** A promise that says when somebody waits for it. */
function awaited(): {
  promise: Promise<boolean>;
  isAwaited: Promise<void>;
  resolve: (value: boolean) => void;
} {
  let [resolve, note]: [(value: boolean) => void, () => void] = [() => undefined, () => undefined];
  const result = new Promise<boolean>((done) => (resolve = done));
  const isAwaited = new Promise<void>((done) => (note = done));
  const then: Promise<boolean>['then'] = (...followers) => {
    note();
    return result.then(...followers);
  };
  // A real promise would be followed past its own `then`.
  return { promise: { then } as Promise<boolean>, isAwaited, resolve };
}

test.serial('a batch is written while the one before it commits', async (t) => {
  const { id, first, second, remarks } = await started();
  const before = awaited();
  const later = second(before.promise);
  await before.isAwaited;
  t.deepEqual(await remarks(), [], 'nothing is seen before its turn');
  t.true(await first());
  t.deepEqual(await remarks(), ['row 2']);
  before.resolve(true);
  t.true(await later);
  t.deepEqual(await remarks(), ['row 2', 'row 3']);
  t.like(await stateOf(id), { position: 2 });
});

test.serial('a batch is undone when the one before it was not committed', async (t) => {
  const { id, second, remarks } = await started();
  t.false(await second(Promise.resolve(false)));
  await t.throwsAsync(second(Promise.reject(new Error('the disk is full'))), {
    message: 'the disk is full',
  });
  t.false(await second(Promise.resolve(true)), 'the position is not where it begins');
  t.deepEqual(await remarks(), []);
  t.like(await stateOf(id), { position: 0 });
});
