// Deadlocks and lock timeouts: the whole transaction is rolled back and run again, for some seconds (docs/promises.md).
import '../support/settings/environment.js';
import '../support/settings/short-deadlines.js';
import test from 'ava';
import { config } from '../../config/index.js';
import { afterCommit, change, db, select, transact } from '../../src/lib/database/db.js';
import { periodOf } from '../../src/lib/values/numbers.js';
import { DatabaseBusy, errno, isDatabaseDown } from '../../src/lib/database/errors.js';
import { callBack, makeMethod, makeOrder, makePayment, makeUser } from '../support/factories.js';
import { lockWaits, otherConnection } from '../support/other-connection.js';
import { selectRow } from '../support/rows.js';
import { until } from '../support/until.js';
import { serviceTest } from '../support/service-test.js';

const service = serviceTest();

test.before(async () => {
  await db.query('CREATE TABLE accounts (id INT NOT NULL PRIMARY KEY, balance INT NOT NULL) ENGINE=InnoDB');
  await db.query('INSERT INTO accounts VALUES (1, 0), (2, 0), (3, 0), (4, 0)');
});

const balances = async (...ids: number[]) => {
  const rows = await select<{ balance: number }>('SELECT balance FROM accounts WHERE id IN (?) ORDER BY id', [
    ids,
  ]);
  return rows.map(({ balance }) => balance);
};

test('two deadlocked transactions both take effect once', async (t) => {
  let runs = 0;
  const followed: number[] = [];
  let meet = (): void => undefined;
  const bothHoldOne = new Promise<void>((resolve) => (meet = resolve));
  const move = (first: number, second: number) =>
    transact(async (transaction) => {
      await change('UPDATE accounts SET balance = balance + 1 WHERE id = ?', [first], transaction);
      afterCommit(transaction, () => Promise.resolve(void followed.push(first)));
      if (++runs === 2) meet();
      await bothHoldOne;
      await change('UPDATE accounts SET balance = balance + 10 WHERE id = ?', [second], transaction);
    });
  await Promise.all([move(1, 2), move(2, 1)]);
  t.is(runs, 3, 'one of them ran twice');
  t.deepEqual(await balances(1, 2), [11, 11]);
  t.deepEqual(followed.sort(), [1, 2], 'the run that was rolled back is not followed');
});

test('a transaction that timed out on a lock is run again as a whole', async (t) => {
  const holder = await db.transaction();
  await db.query('UPDATE accounts SET balance = 100 WHERE id = 4', { transaction: holder });
  let runs = 0;
  const waiting = transact(async (transaction) => {
    runs++;
    await change('UPDATE accounts SET balance = balance + 1 WHERE id = 3', [], transaction);
    await change('UPDATE accounts SET balance = balance + 1 WHERE id = 4', [], transaction);
  });
  await until(() => runs === 2);
  await holder.commit();
  await waiting;
  t.deepEqual(await balances(3, 4), [1, 101]);
});

test('an order locked for a moment delays its callback', async (t) => {
  const payment = await makePayment(service.admin);
  const holder = await db.transaction();
  await db.query('SELECT id FROM orders WHERE order_no = ? FOR UPDATE', {
    replacements: [payment.order_no],
    transaction: holder,
  });
  const answering = callBack(service.anonymous, payment);
  await until(async () => (await lockWaits('orders')) > 0);
  await holder.rollback();
  t.is((await answering).data.status, 'paid');
});

test('a table that somebody else fills delays its writers', async (t) => {
  const { id: user_id } = await makeUser(service.admin);
  const other = await otherConnection();
  await other.query('START TRANSACTION');
  // INSERT … SELECT keeps the AUTO_INCREMENT lock until it ends: here for longer than a statement waits.
  const filling = other.query(
    `INSERT INTO orders (period, order_no, user_id, amount, created_at, updated_at)
     SELECT ?, CONCAT('ORD', line), 0, 0, NOW(), NOW() FROM (SELECT 1 AS line UNION ALL SELECT 2) two
     WHERE line = 1 OR SLEEP(?) = 0`,
    [periodOf(new Date()), 2 * config.database.lockWaitSeconds],
  );
  const sleepers = `SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND state = 'User sleep'`;
  await until(async () => (await select(sleepers)).length > 0);
  const details = [{ product_name: 'Tea', price: '1.20', quantity: 1 }];
  const { status } = await service.admin.post('/orders', { user_id, details });
  t.is(status, 200);
  await filling;
  await other.query('ROLLBACK');
  await other.end();
});

test('every error of a lock is run again, and fails as busy in the end', async (t) => {
  const provoke = async ([state, code, isRerun]: readonly [string, number, boolean]): Promise<void> => {
    let runs = 0;
    const error = await t.throwsAsync(
      transact(async (transaction) => {
        runs++;
        await db.query(`SIGNAL SQLSTATE '${state}' SET MYSQL_ERRNO = ${code}, MESSAGE_TEXT = 'provoked'`, {
          transaction,
        });
      }),
    );
    t.is(errno(isRerun ? error.cause : error), code);
    t.deepEqual([error instanceof DatabaseBusy, runs > 5, runs > 1], [isRerun, isRerun, isRerun]);
    t.is(isDatabaseDown(error), isRerun);
  };
  const errors = [
    ['40001', 1213, true],
    ['HY000', 1205, true],
    ['HY000', 1467, true],
    ['HY000', 1644, false],
  ] as const;
  await Promise.all(errors.map(provoke));
});

test('concurrent creates, cancels and payments of thirty orders never fail on a deadlock', async (t) => {
  const { admin, anonymous } = service;
  const { id } = await makeMethod(admin);
  const order = await makeOrder(admin);
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, index) => {
      if (index % 10 === 9) return admin.put(`/orders/${order.order_no}`, { remark: String(index) });
      const made = await admin.post('/payments', { order_no: order.order_no, payment_method_id: id });
      return made.status === 200 ? callBack(anonymous, made.data) : made;
    }),
  );
  const refusals = ['order_not_payable', 'order_being_paid'];
  t.true(answers.every(({ status, errorCode }) => status === 200 || refusals.includes(errorCode ?? '')));
  const { paid, flagged } = await selectRow<{ paid: number; flagged: number }>(
    `SELECT SUM(status = 'paid') AS paid, SUM(needs_attention) AS flagged FROM payments WHERE order_no = ?`,
    [order.order_no],
  );
  t.is(Number(flagged), Number(paid) - 1, 'one payment paid the order, the others are flagged');
});
