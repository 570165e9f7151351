// 100,000 random balance changes from 64 clients over two API processes add up to the cent (docs/promises.md R15).
import '../support/settings/environment.js';
import test from 'ava';
import { select } from '../../src/lib/database/db.js';
import { changeBalances, mustAddUp } from '../support/model/balances.js';
import { makeUser } from '../support/factories.js';
import { startApi } from '../support/processes.js';
import { serviceTest } from '../support/service-test.js';

const changes = 100_000;

const service = serviceTest();

test('concurrent balance changes each count once', async (t) => {
  t.timeout(1_800_000);
  const callers = (await Promise.all([startApi(), startApi()])).map(({ url }) => service.admin.at(url));
  const users = await Promise.all(Array.from({ length: 20 }, () => makeUser(service.admin)));
  const userIds = users.map(({ id }) => id);
  const tally = await changeBalances(callers, userIds, changes);
  const counts = await Promise.all(userIds.map(mustAddUp));
  t.is(
    counts.reduce((sum, count) => sum + count, 0),
    tally.applied,
  );
  t.is(tally.applied + tally.insufficient + tally.repeated, changes);
  t.true(tally.insufficient > 0 && tally.repeated > changes / 20);
  const [rows] = await select<{ total: number }>('SELECT COUNT(*) AS total FROM user_balance_logs');
  t.is(rows?.total, tally.applied);
});
