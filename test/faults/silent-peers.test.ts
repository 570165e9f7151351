// Database and Redis refuse connections or are silent: `/readyz` tells a balancer the truth, and a process that starts
// meanwhile comes up by itself. Established connections go silent while new ones work, as after a lost NAT entry or a
// failover without a word: nothing hangs, nothing is acknowledged that is not true, all is well within 15 s
// (docs/operations.md, Timeouts). Tables that somebody else holds: requests are answered 503 in time, and a migration
// waits for a table that is read without stopping those who come after it.
import '../support/settings/environment.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
import { db, select } from '../../src/lib/database/db.js';
import { migrations } from '../../src/models/migrations/index.js';
import { Client, type Answer } from '../support/client.js';
import { callBack, makeMethod, makeOrder, makePayment, makeUser, unique } from '../support/factories.js';
import { maxAnswerMs, mustHold } from '../support/figures.js';
import { Load, type Kind } from '../support/load.js';
import { holding, otherConnection } from '../support/other-connection.js';
import { startApi, startWorkerProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { beforeDatabase, beforeRedis, type Loss, type FaultyProxy } from '../support/servers/faulty-proxy.js';
import { until } from '../support/until.js';

const recoveryMs = 15_000;

let database: Awaited<ReturnType<typeof beforeDatabase>>;
let redis: Awaited<ReturnType<typeof beforeRedis>>;
let admin: Client;
let methodId: number;
let load: Load;

/** A database that is migrated here. */
const late = `${process.env.DB_NAME}_late`;

const figures = { faults: 0, worstRecoveryMs: 0 };
/** The slowest answer of `/readyz`. */
let readinessMs = 0;

processesTest(() => {
  load?.abandon();
  for (const proxy of [database, redis]) proxy?.close();
  return db.query(`DROP DATABASE IF EXISTS \`${late}\``);
});

test.before(async () => {
  [database, redis] = await Promise.all([beforeDatabase(), beforeRedis()]);
  const env = { ...database.env, ...redis.env };
  const [api] = await Promise.all([startApi(env), startWorkerProcess(env)]);
  admin = await new Client(api.url).signIn();
  methodId = (await makeMethod(admin)).id;
  load = await Load.prepare(admin, methodId);
});

function record(ms: number): number {
  figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, ms);
  return ms;
}

/** Status, business code and data of the answer. */
async function readiness(query = ''): Promise<[number, number, unknown]> {
  const begun = Date.now();
  const { status, code, data } = await admin.get(`//readyz${query}`);
  readinessMs = Math.max(readinessMs, Date.now() - begun);
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
  record(Date.now() - begun);
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
    t.is((await admin.get('//readyz?strict=1')).errorCode, 'cache_unavailable');
    t.is((await admin.get('//healthz')).status, 200);
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
    t.is((await admin.get('//healthz')).status, 200);
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

/** An order runs out although nobody asks for it: the worker works. */
async function expires(): Promise<void> {
  const order = await until(() => makeOrder(admin, '1', { expire_in_seconds: 1 }).catch(() => undefined));
  const isCancelled = async () =>
    (await select(`SELECT 1 FROM orders WHERE order_no = ? AND status = 'cancelled'`, [order.order_no]))
      .length === 1;
  await until(isCancelled, 45_000);
}

async function staysHonest(t: ExecutionContext, proxy: FaultyProxy, loss: Loss): Promise<void> {
  const since = Date.now();
  t.true(proxy.forget(loss) > 0, 'there were connections to lose');
  figures.faults++;
  const worker = expires().then(() => Date.now() - since);
  load.start();
  const callerMs = record(await load.isWell(since));
  const workerMs = record(await worker);
  t.true(callerMs < recoveryMs, `callers were served well after ${callerMs} ms`);
  t.true(workerMs < recoveryMs, `the worker worked after ${workerMs} ms`);
  await until(async () => (await admin.get('//readyz')).data?.redis === 'ok', recoveryMs);
  await load.stop();
  t.deepEqual(load.unexpected, []);
}

const peers = [
  ['the database', () => database],
  ['Redis', () => redis],
] as const;

for (const [name, proxy] of peers) {
  test.serial(`the first requests after an idle silence of ${name} are answered`, async (t) => {
    await load.stop();
    await staysHonest(t, proxy(), 'everything');
  });

  for (const loss of ['everything', 'answers'] as const) {
    const lost = loss === 'everything' ? 'neither side is heard' : 'its answers are lost';
    test.serial(`requests under load are answered within 15 s of silence of ${name}, ${lost}`, async (t) => {
      load.start();
      await load.flows();
      await staysHonest(t, proxy(), loss);
    });
  }
}

/** After which all is well once a lock has ended. */
const unlockedMs = 5000;
/** Every caller may be at its callback when the fault comes, and repeats it until it is over. */
const writes: Kind[] = ['order', 'callback'];

/** Requests of each of these groups are refused while it lasts; all are well soon after. */
async function refusedMeanwhile(
  t: ExecutionContext,
  groups: Kind[][],
  hold: () => Promise<() => Promise<unknown>>,
): Promise<void> {
  load.start();
  await load.flows();
  const refused = () => groups.map((kinds) => kinds.reduce((count, kind) => count + load.refused(kind), 0));
  const before = refused();
  const letGo = await hold();
  figures.faults++;
  await until(() => refused().every((count, index) => count > (before[index] as number) + 1), 45_000)
    .catch((error: unknown) => {
      throw new Error(`refused before: ${before.join()}, now: ${refused().join()}`, { cause: error });
    })
    .finally(letGo);
  const ms = record(await load.isWell(Date.now()));
  t.true(ms < unlockedMs, `well ${ms} ms after it ended`);
  t.deepEqual(load.unexpected, []);
}

test.serial('lists and order writes are refused in time while orders is locked', (t) =>
  refusedMeanwhile(t, [['list'], writes], () => holding('LOCK TABLES orders WRITE')),
);

test.serial('callbacks are refused in time while the inbox is locked', async (t) => {
  const payment = await makePayment(admin, methodId);
  const notify = () => callBack(admin, payment);
  const answers: Answer[] = [];
  // Whether an order is being paid stands there as well, so callers may wait at their payments.
  await refusedMeanwhile(t, [writes], async () => {
    const letGo = await holding('LOCK TABLES payment_callbacks WRITE');
    answers.push(await notify());
    return letGo;
  });
  const [refused] = answers;
  t.is(refused?.status, 503);
  // The second when the deadline of the callback comes before that of the lock.
  t.true(['database_busy', 'database_unavailable'].includes(refused?.errorCode ?? ''), refused?.errorCode);
  t.is((await notify()).status, 200);
});

test.serial('lists and payment writes are refused in time while an ALTER waits behind a long read', (t) =>
  refusedMeanwhile(t, [['list'], writes], async () => {
    const endReading = await holding('SELECT COUNT(*) FROM payments');
    const other = await otherConnection();
    const altering = other.query("ALTER TABLE payments COMMENT = 'altered'");
    return async () => {
      await endReading();
      await altering;
      await other.end();
    };
  }),
);

/** `npm run migrate`, with its output so far. */
function migrate(env: Record<string, string> = {}): { ended: Promise<number>; output: () => string } {
  const command = [resolve(config.root, 'build/src/api/cli/main.js'), '--log', 'migrate', 'up'];
  const child = spawn(process.execPath, command, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data: Buffer) => (output += data.toString()));
  return { ended: once(child, 'close').then(([code]) => code as number), output: () => output };
}

test.serial('a migration that meets an open snapshot does not block others', async (t) => {
  const name = '0032-sales-index';
  const migration = migrations.find((one) => one.name === name);
  await load.stop();
  const other = await otherConnection();
  await migration?.down(async (sql) => void (await other.query(sql)));
  await other.query('DELETE FROM migrations WHERE name = ?', [name]);
  await other.end();
  const isMade = async () => (await select('SELECT 1 FROM migrations WHERE name = ?', [name])).length === 1;

  load.start();
  const endReading = await holding('SELECT COUNT(*) FROM orders');
  figures.faults++;
  const { ended, output } = migrate();
  const turns = () => output().split('a migration waits').length - 1;
  try {
    await until(() => turns() >= 1, 60_000);
    await load.flows();
    await until(() => turns() >= 3, 30_000);
    await load.flows();
    t.false(await isMade());
  } finally {
    await endReading();
  }
  t.is(await ended, 0, output());
  t.true(await isMade());
  await load.flows();
  t.deepEqual(load.unexpected, []);
});

test.serial('requests acknowledged under load are in the database once', async (t) => {
  await load.stop();
  const counted = await load.figures();
  const worstHangMs = Math.max(counted.worstHangMs, readinessMs);
  mustHold(t, { ...figures, ...counted, worstHangMs });
  t.true(counted.acknowledged > 100, `${counted.acknowledged} were acknowledged`);
});

test.serial('every ALTER of the migrations allows concurrent reads and writes', async (t) => {
  const proxy = await beforeDatabase();
  const statements = proxy.listenIn();
  const { ended, output } = migrate({ ...proxy.env, DB_NAME: late });
  t.is(await ended, 0, output());
  proxy.close();
  const altering = statements.filter((sql) =>
    /^\s*(ALTER|CREATE (UNIQUE )?INDEX|DROP INDEX|RENAME)/i.test(sql),
  );
  t.true(altering.length >= 5, `${altering.length} statements alter tables`);
  for (const sql of altering) t.regex(sql, /ALGORITHM=(INSTANT|INPLACE), LOCK=NONE$/);
});

test.serial('a start succeeds without a partition that is not needed yet', async (t) => {
  const [other, proxy] = await Promise.all([otherConnection(), beforeDatabase()]);
  t.teardown(async () => {
    proxy.close();
    await other.end();
  });
  await other.changeUser({ database: late });
  const [rows] = await other.query(
    `SELECT PARTITION_NAME AS name FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = ? AND
     TABLE_NAME = 'login_logs' ORDER BY PARTITION_ORDINAL_POSITION DESC LIMIT 1`,
    [late],
  );
  await other.query(`ALTER TABLE login_logs DROP PARTITION ${(rows as { name: string }[])[0]?.name}`);
  await other.query('START TRANSACTION');
  await other.query('SELECT COUNT(*) FROM login_logs');
  const statements = proxy.listenIn();
  const { url } = await startApi({ ...proxy.env, DB_NAME: late });
  t.true(statements.some((sql) => /PARTITION_DESCRIPTION/.test(sql)));
  // It would wait for the reader.
  t.deepEqual(
    statements.filter((sql) => sql.includes('ALTER TABLE')),
    [],
  );
  t.is((await new Client(url).get('//readyz')).status, 200);
});

test.serial('a commit whose reply is lost is answered truthfully', async (t) => {
  const { id } = await makeUser(admin);
  for (const loss of ['answers', 'everything'] as const) {
    const body = { type: 'income', amount: '1.00', request_id: unique('r') };
    const count = async () =>
      (await select('SELECT id FROM user_balance_logs WHERE request_id = ?', [body.request_id])).length;
    database.forgetAt('COMMIT', loss);
    const begun = Date.now();
    const first = await admin.post(`/users/${id}/update-balance`, body);
    t.true(Date.now() - begun < maxAnswerMs);
    t.true([200, 503].includes(first.status), first.text);
    if (first.status === 200) t.is(await count(), 1);
    await until(
      async () => (await admin.post(`/users/${id}/update-balance`, body)).status === 200,
      recoveryMs,
    );
    t.is(await count(), 1);
  }
});

test.serial('an order whose commit is unconfirmed is placed once', async (t) => {
  const { id: user_id } = await makeUser(admin);
  for (const loss of ['answers', 'everything'] as const) {
    const key = { 'Idempotency-Key': unique('key') };
    const body = {
      user_id,
      remark: unique('o'),
      details: [{ product_name: 'Tea', price: '1.00', quantity: 1 }],
    };
    const made = () => select<{ id: number }>('SELECT id FROM orders WHERE remark = ?', [body.remark]);
    database.forgetAt('INSERT INTO orders', loss);
    const first = await admin.post('/orders', body, key);
    t.true([200, 503].includes(first.status), first.text);
    if (first.status === 200) t.deepEqual(await made(), [{ id: first.data.id }]);
    let again: Answer | undefined;
    await until(async () => (again = await admin.post('/orders', body, key)).status === 200, recoveryMs);
    t.deepEqual(await made(), [{ id: again?.data.id }]);
    const lines =
      'SELECT d.id FROM order_details d JOIN orders o ON o.order_no = d.order_no WHERE o.remark = ?';
    t.is((await select(lines, [body.remark])).length, 1);
  }
});

test.serial('a file whose second transaction is lost is refused', async (t) => {
  const name = `${unique('f')}.csv`;
  // The first one reserves the file; this one gives it its import, and does not arrive.
  let seen = 0;
  const parts = [name, 'INSERT INTO operation_logs', 'COMMIT'];
  database.decide((said) => {
    if (said.includes(parts[seen] as string)) seen++;
    if (seen < parts.length) return undefined;
    database.decide();
    return 'cut';
  });
  const answer = await admin.upload('/orders/import', 'user_id,amount\n1,1.00', { filename: name });
  t.is(seen, parts.length);
  t.deepEqual([answer.status, answer.errorCode], [503, 'database_unavailable'], answer.text);
  t.is((await select('SELECT id FROM imports WHERE filename = ?', [name])).length, 0);
});
