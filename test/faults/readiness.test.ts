// What `/readyz` says, and starts that meet a database which is away or goes away: a process comes up by itself within
// DB_STARTUP_WAIT_SECONDS, and a balancer gets the truth.
import '../support/environment.js';
import test from 'ava';
import { db, select } from '../../src/lib/database/db.js';
import { Client } from '../support/client.js';
import { startApi, startWorkerProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { mustHold } from '../support/figures.js';
import { beforeDatabase, beforeRedis } from '../support/faulty-proxy.js';
import { until } from '../support/until.js';

type Proxied = Awaited<ReturnType<typeof beforeDatabase>>;

let database: Proxied;
let redis: Proxied;
let caller: Client;

const recoveryMs = 15_000;
const figures = { faults: 0, sent: 0, worstHangMs: 0, worstRecoveryMs: 0 };

test.before(async () => {
  [database, redis] = await Promise.all([beforeDatabase(), beforeRedis()]);
  caller = new Client((await startApi({ ...database.env, ...redis.env })).url);
});

processesTest(() => {
  for (const proxy of [database, redis]) proxy?.close();
});

/** Status, business code and data of the answer. */
async function readiness(query = ''): Promise<[number, number, unknown]> {
  const begun = Date.now();
  const { status, code, data } = await caller.get(`//readyz${query}`);
  figures.sent++;
  figures.worstHangMs = Math.max(figures.worstHangMs, Date.now() - begun);
  return [status, code, data];
}

const ready = [200, 200, { status: 'ok', database: 'ok', redis: 'ok' }] as const;
const withoutRedis = [200, 200, { status: 'ok', database: 'ok', redis: 'away' }] as const;
const noDatabase = [503, 50002, null] as const;
const noCache = [503, 50003, null] as const;

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Waits for that word. */
async function says(expected: readonly unknown[]): Promise<void> {
  const begun = Date.now();
  await until(async () => isSame(await readiness(), expected), recoveryMs, 200);
  figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, Date.now() - begun);
}

for (const how of ['refuse', 'drop'] as const) {
  const name = how === 'refuse' ? 'refuses' : 'is silent';
  test.serial(`Redis ${name}: an API is ready unless asked strictly`, async (t) => {
    await says(ready);
    redis[how]();
    figures.faults++;
    await says(withoutRedis);
    t.deepEqual(await readiness(), [...withoutRedis]);
    t.deepEqual(await readiness('?strict=1'), [...noCache]);
    t.is((await caller.get('//readyz?strict=1')).errorCode, 'cache_unavailable');
    t.is((await caller.get('//healthz')).status, 200);
    redis.pass();
    await says(ready);
    t.deepEqual(await readiness('?strict=1'), [...ready]);
  });

  test.serial(`the database ${name}: an API is not ready`, async (t) => {
    await says(ready);
    database[how]();
    figures.faults++;
    t.deepEqual(await readiness(), [...noDatabase]);
    t.deepEqual(await readiness('?strict=1'), [...noDatabase]);
    t.is((await caller.get('//healthz')).status, 200);
    database.pass();
    await says(ready);
  });
}

const steps = ['CREATE TABLE IF NOT EXISTS users', 'innodb_flush_log_at_trx_commit', "'STORAGE'"];

for (const [start, name, how, cuts] of [
  [startApi, 'an API', 'refuse', steps],
  [startWorkerProcess, 'a worker', 'drop', [...steps, 'payment_methods m']],
] as const) {
  const away = how === 'refuse' ? 'refuses' : 'is silent';
  test.serial(
    `${name} comes up although the database ${away} at first and each step is cut off`,
    async (t) => {
      const proxy = await beforeDatabase();
      const DB_NAME = `${process.env.DB_NAME}_${how}`;
      try {
        const statements = proxy.listenIn();
        proxy[how]();
        for (const text of cuts) proxy.cutAt(text);
        if (start === startApi) proxy.forgetAt('INSERT INTO `permissions`', 'answers');
        figures.faults += 1 + proxy.armed;
        const starting = start({ ...proxy.env, DB_NAME });
        await until(() => proxy.tried >= 2, 60_000);
        proxy.pass();
        const started = await starting;
        t.is(proxy.armed, 0, 'all faults were met');
        for (const text of cuts)
          t.true(statements.filter((sql) => sql.includes(text)).length >= 2, `${text} is asked again`);
        await until(() => started.output().includes('waiting for the database'));
        const [row] = await select<{ admins: number; repeated: number }>(
          `SELECT (SELECT COUNT(*) FROM \`${DB_NAME}\`.admins) AS admins,
           (SELECT COUNT(*) - COUNT(DISTINCT slug) FROM \`${DB_NAME}\`.permissions) AS repeated`,
        );
        t.deepEqual(row, { admins: 1, repeated: 0 });
        if (start === startApi) await new Client(started.url).signIn();
        await started.kill();
      } finally {
        proxy.close();
        await db.query(`DROP DATABASE IF EXISTS \`${DB_NAME}\``);
      }
    },
  );
}

test.serial('no answer took long', (t) => {
  mustHold(t, figures);
});
