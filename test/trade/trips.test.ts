// How often what is done most goes to the database: by trips, which no slow machine changes.
import '../support/environment.js';
import test from 'ava';
import { makeMethod, makeOrder, makeUser, unique } from '../support/factories.js';
import { serviceTest } from '../support/service-test.js';
import { tripsDuring } from '../support/statements.js';
import { select } from '../../src/lib/database/db.js';

const service = serviceTest({ withWorker: false, isAlone: true });

/** Trips of the request itself; log entries are completed, and copies looked after, by many requests together. */
async function tripsOf(work: () => Promise<unknown>): Promise<string[]> {
  await work();
  const trips = await tripsDuring(work);
  return trips
    .map((sql) => sql.replace(/\s+/g, ' '))
    .filter((sql) => sql.startsWith('START TRANSACTION; ') || !/log_outbox|FROM versions|_logs/.test(sql));
}

test.serial('placing an order takes two trips to the database', async (t) => {
  const { id: user_id } = await makeUser(service.admin);
  const body = {
    user_id,
    details: [
      { product_name: 'Tea', price: '2.50', quantity: 2 },
      { product_name: 'Cup', price: '7.25', quantity: 1 },
    ],
  };
  let made: { id: number; order_no: string } | undefined;
  const place = async (headers = {}) => {
    const answer = await service.admin.post('/orders', body, headers);
    t.is(answer.status, 200, answer.text);
    made = answer.data;
  };
  const trips = await tripsOf(() => place());
  t.is(trips.length, 2, trips.join('\n'));
  t.regex(trips[0] ?? '', /FROM users/);
  t.regex(trips[1] ?? '', /INSERT INTO orders.*log_outbox.*INSERT INTO order_details.*COMMIT/);
  const key = unique('key');
  await place({ 'Idempotency-Key': key });
  const first = made;
  await place({ 'Idempotency-Key': key });
  t.deepEqual(made, first);
  const lines = await select('SELECT id FROM order_details WHERE order_no = ?', [first?.order_no ?? '']);
  t.is(lines.length, 2);
  const kept = await select('SELECT result_no FROM idempotency_keys WHERE idempotency_key = ?', [key]);
  t.deepEqual(kept, [{ result_no: String(first?.id) }]);
});

test.serial('creating a payment takes five trips to the database', async (t) => {
  const { order_no } = await makeOrder(service.admin);
  const { id } = await makeMethod(service.admin);
  const trips = await tripsOf(() => service.admin.post('/payments', { order_no, payment_method_id: id }));
  t.is(trips.length, 5, trips.join('\n'));
  t.false(
    trips.some((sql) => /FROM payments p\b/.test(sql)),
    'it is not read again',
  );
});

test.serial('signing in takes two trips to the database', async (t) => {
  const trips = await tripsOf(() => service.anonymous.signIn());
  t.is(trips.length, 2, trips.join('\n'));
  t.regex(trips[1] ?? '', /UPDATE admins.*INSERT INTO admin_sessions.*COMMIT/);
});
