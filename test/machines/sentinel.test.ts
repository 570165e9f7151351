// Redis with Sentinels: its master dies or goes silent under load, and the service follows to the next one by itself.
import '../support/environment.js';
import test from 'ava';
import { closeDatabase, db } from '../../src/lib/database/db.js';
import { Outages } from '../support/outage.js';
import { killProcesses } from '../support/processes.js';
import { startOwnSentinels, type OwnSentinels } from '../support/sentinel.js';

let redis: OwnSentinels;
let outages: Outages;

test.before(async () => {
  redis = await startOwnSentinels();
  outages = await Outages.prepare(redis.env);
});

test.after.always(async () => {
  outages?.abandon();
  await killProcesses();
  await redis?.remove();
  await db.query(`DROP DATABASE IF EXISTS \`${process.env.DB_NAME}\``);
  await closeDatabase();
});

test.serial('service continues after the master is killed', async (t) => {
  const master = await redis.master();
  await outages.through(t, 'master killed', () => master.stop('SIGKILL'));
  t.not(await redis.master(), master);
  await master.start();
  await redis.isWhole();
});

test.serial('service continues after the master goes silent', async (t) => {
  const master = await redis.master();
  await outages.through(t, 'master silent', () => master.freeze());
  t.not(await redis.master(), master);
  master.thaw();
  await redis.isWhole();
});

test.serial('acknowledged requests are in the database once', async (t) => {
  await outages.mustAddUp(t);
});
