// Totals: exact while counting is quick, else at most twenty times as old as counting takes.
import '../support/environment.js';
import test from 'ava';
import { change, db } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { unique } from '../support/factories.js';
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
