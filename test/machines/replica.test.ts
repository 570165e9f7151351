// A primary and a replica behind HAProxy: big reads go to the replica and yet see every write; it lags, dies, goes silent; the two
// change places, by plan and because the primary died.
import '../support/environment.js';
import { databasePort } from '../support/own-address.js';
import test from 'ava';
import { closeDatabase } from '../../src/lib/database/db.js';
import { exportedCsv } from '../support/exports.js';
import { makeOrder, makeUser, unique } from '../support/factories.js';
import { Outages } from '../support/outage.js';
import { killProcesses, runCli } from '../support/processes.js';
import { startOwnReplication, type OwnReplication } from '../support/replication.js';
import { until } from '../support/until.js';

let servers: OwnReplication;
let outages: Outages;
let env: Record<string, string>;

test.before(async () => {
  servers = await startOwnReplication(databasePort);
  const hosts = [servers.primary, servers.replica].map(({ port }) => `127.0.0.1:${port}`);
  env = { DB_READ_HOSTS: hosts.join(','), DB_READ_WAIT_MS: '500' };
  outages = await Outages.prepare(env);
});

test.after.always(async () => {
  outages?.abandon();
  await killProcesses();
  await closeDatabase();
  await servers?.remove();
});

/** Orders placed one after the other, each counted at once. @returns how many counts were wrong */
async function staleTotals(): Promise<number> {
  const { admin } = outages;
  const user_id = (await makeUser(admin)).id;
  let wrong = 0;
  for (let count = 1; count <= 10; count++) {
    await makeOrder(admin, '1', { user_id });
    if ((await admin.get(`/orders?user_id=${user_id}`)).data.total !== count) wrong++;
  }
  return wrong;
}

test.serial('lists and exports read from the replica see the latest writes', async (t) => {
  const { replica } = servers;
  // Left alone for a moment if it was not ready at first.
  await until(async () => {
    const before = await replica.reads();
    t.is(await staleTotals(), 0);
    // Beside a position and a wait for each.
    return (await replica.reads()) - before >= 20;
  }, 30_000);
  const username = unique();
  await makeUser(outages.admin, { username });
  const before = await replica.reads();
  t.is((await exportedCsv(outages.admin, '/users', { username })).length, 2);
  // The wait, the count of its rows, and a page of them.
  t.true((await replica.reads()) - before >= 3);
});

test.serial('a lagging replica is not read until it has caught up', async (t) => {
  const { replica, primary } = servers;
  await replica.run('STOP SLAVE SQL_THREAD');
  t.is(await staleTotals(), 0);
  await outages.through(t, 'replica lags', () => undefined);
  await replica.run('START SLAVE');
  await replica.catchUp(primary);
  await until(async () => {
    const before = await replica.reads();
    await staleTotals();
    return (await replica.reads()) - before >= 20;
  }, 30_000);
});

test.serial('lists continue after the replica is killed', async (t) => {
  const { replica, primary } = servers;
  await outages.through(t, 'replica killed', () => replica.stop('SIGKILL')).finally(() => replica.start());
  await replica.follow(primary);
  await replica.catchUp(primary);
});

test.serial('lists continue after the replica goes silent', async (t) => {
  const { replica, primary } = servers;
  await outages.through(t, 'replica silent', () => replica.freeze()).finally(() => replica.thaw());
  await replica.catchUp(primary);
});

test.serial('service continues through a planned switch of primary and replica', async (t) => {
  const { replica, primary } = servers;
  await outages.through(t, 'switch-over', async () => {
    await primary.run('SET GLOBAL read_only = ON');
    await replica.catchUp(primary);
    await replica.promote();
    await primary.follow(replica);
  });
  servers = { ...servers, primary: replica, replica: primary };
  t.is(await staleTotals(), 0);
});

test.serial('service continues after the replica is promoted', async (t) => {
  const { replica, primary } = servers;
  await outages.through(t, 'fail-over', async () => {
    await primary.stop('SIGKILL');
    await replica.promote();
  });
  servers = { ...servers, primary: replica, replica: primary };
  t.is(await staleTotals(), 0);
});

test.serial('the doctor reports the replication state of each server', async (t) => {
  const { output } = await runCli(['--json', 'doctor'], env);
  const { findings } = JSON.parse(output) as { findings: { check: string; says: string }[] };
  const said = (name: string) => findings.find(({ check }) => check === name)?.says ?? '';
  t.regex(said('database durability'), /binlog on/);
  t.regex(said('database replication'), /no replica acknowledges/);
  t.regex(said('read hosts'), /takes writes, so it is no replica; .*ECONNREFUSED/);
});

test.serial('acknowledged requests are in the database once', async (t) => {
  await outages.mustAddUp(t);
});
