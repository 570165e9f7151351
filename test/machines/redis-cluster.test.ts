// Redis Cluster: the master of the payments' queue and that of everything else die or go silent, slots move, and the service follows.
import '../support/environment.js';
import test from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { queuePrefix } from '../../src/lib/queue/names.js';
import { key } from '../../src/lib/redis/redis.js';
import { Outages } from '../support/outage.js';
import { killProcesses } from '../support/processes.js';
import { startOwnCluster, type OwnCluster } from '../support/redis-cluster.js';

let redis: OwnCluster;
let outages: Outages;

test.before(async () => {
  redis = await startOwnCluster();
  outages = await Outages.prepare(redis.env);
});

test.after.always(async () => {
  outages?.abandon();
  await killProcesses();
  await redis?.remove();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

const keys = [
  ['the queue of payments', queuePrefix('payments')],
  ['what is no queue', key('any')],
] as const;

for (const [what, name] of keys) {
  test.serial(`service continues after the master of ${what} is killed`, async (t) => {
    const master = await redis.masterOf(name);
    await outages.through(t, 'master killed', () => master.stop('SIGKILL')).finally(() => master.start());
    await redis.isWhole();
  });

  test.serial(`service continues after the master of ${what} goes silent`, async (t) => {
    const master = await redis.masterOf(name);
    await outages.through(t, 'master silent', () => master.freeze()).finally(() => master.thaw());
    await redis.isWhole();
  });
}

test.serial('service continues while slots move between masters', async (t) => {
  const name = queuePrefix('payments');
  const master = await redis.masterOf(name);
  await outages.through(t, 'slots moved', () => redis.reshard(name));
  t.not(await redis.masterOf(name), master);
  await outages.through(t, 'slots spread', () => redis.rebalance());
});

test.serial('acknowledged requests are in the database once', async (t) => {
  await outages.mustAddUp(t);
});
