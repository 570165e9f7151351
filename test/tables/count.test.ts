// Totals: exact while counting is quick, else at most twenty times as old as counting takes.
import '../support/environment.js';
import test from 'ava';
import { change, db } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { makeOrder, makeUser, unique } from '../support/factories.js';
import { startApi } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';
import { statementsDuring } from '../support/statements.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
let callers: Client[];

test.before(async () => {
  callers = [service.admin, service.admin.at((await startApi()).url)];
});

const add = (): Promise<number> =>
  change(`INSERT INTO real_users (username, created_at, updated_at) VALUES (?, NOW(3), NOW(3))`, [
    unique('slow'),
  ]);

test.serial('every process counts what another has just written', async (t) => {
  for (let users = 0; users < 10; users++) {
    const username = unique('counted');
    const [writer, reader] = users % 2 === 0 ? callers : callers.toReversed();
    const before = (await reader?.get('/users?username=counted&page_size=1'))?.data.total as number;
    await writer?.post('/users', { username });
    for (const caller of callers)
      t.is((await caller.get('/users?username=counted&page_size=1')).data.total, before + 1);
  }
});

test.serial('a list with one row shows either that row or nothing', async (t) => {
  const user_id = (await makeUser(service.admin)).id;
  const [one, other] = callers as [Client, Client];
  let isOver = false;
  const reading = [one, other, one, other].map(async (reader) => {
    const seen = new Set<string>();
    while (!isOver) {
      const { status, data } = await reader.get(`/orders?user_id=${user_id}`);
      const rows = data.list.map((row: { user_id: number }) => row.user_id === user_id);
      seen.add(`${status} ${data.total} ${rows}`);
    }
    return [...seen];
  });
  for (let round = 0; round < 20; round++) {
    const { order_no } = await makeOrder(one, '1', { user_id });
    await other.delete(`/orders/${order_no}`);
  }
  isOver = true;
  t.deepEqual([...new Set((await Promise.all(reading)).flat())].sort(), ['200 0 ', '200 1 true']);
});

test.serial('a slow count is cached for twenty times as long as it takes', async (t) => {
  const rowMs = 30;
  await db.query('RENAME TABLE users TO real_users');
  await change('DELETE FROM real_users');
  for (let rows = 0; rows < 4; rows++) await add();
  await db.query(`CREATE VIEW users AS SELECT * FROM real_users WHERE SLEEP(${rowMs / 1000}) = 0`);
  const path = '/users?page_size=1';
  const { total } = (await service.admin.get(path)).data;
  // Three slow runs are no accident.
  for (let runs = 0; runs < 3; runs++) await service.admin.get(path);
  await add();
  const addedAt = performance.now();
  const countMs = (total + 1) * rowMs;
  t.is((await service.admin.get(path)).data.total, total);
  t.is((await service.admin.get('/users')).data.total, total + 1, 'a page that is not full says its total');
  await until(async () => (await service.admin.get(path)).data.total === total + 1);
  t.true(performance.now() - addedAt < 30 * countMs);
  const [since, watchMs] = [performance.now(), 50 * countMs];
  const statements = await statementsDuring(async () => {
    while (performance.now() - since < watchMs) await service.admin.get(path);
  });
  const counts = statements.filter((sql) => sql.includes('COUNT(*) AS total FROM users'));
  t.true(counts.length >= 1 && counts.length <= 4, `${counts.length} counts`);
});
