// Tables that somebody else holds: requests are answered 503 in time and well as soon as it ends; a migration waits for a
// table that is read without stopping those who come after it.
import '../support/environment.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
import { db, select } from '../../src/lib/database/db.js';
import { migrations } from '../../src/models/migrations/index.js';
import { Client, type Answer } from '../support/client.js';
import { callBack, makeMethod, makePayment } from '../support/factories.js';
import { mustHold } from '../support/figures.js';
import { Load, type Kind } from '../support/load.js';
import { startApi, startWorkerProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { beforeDatabase } from '../support/faulty-proxy.js';
import { holding, otherConnection } from '../support/other-connection.js';
import { until } from '../support/until.js';

const recoveryMs = 5000;
/** Every caller may be at its callback when the fault comes, and repeats it until it is over. */
const writes: Kind[] = ['order', 'callback'];

/** A database that is migrated here. */
const late = `${process.env.DB_NAME}_late`;

let load: Load;
let admin: Client;
let methodId: number;
const figures = { faults: 0, worstRecoveryMs: 0 };

test.before(async () => {
  const [api] = await Promise.all([startApi(), startWorkerProcess()]);
  admin = await new Client(api.url).signIn();
  methodId = (await makeMethod(admin)).id;
  load = await Load.prepare(admin, methodId);
});

processesTest(() => {
  load?.abandon();
  return db.query(`DROP DATABASE IF EXISTS \`${late}\``);
});

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
  const ms = await load.isWell(Date.now());
  figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, ms);
  t.true(ms < recoveryMs, `well ${ms} ms after it ended`);
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

test.serial('acknowledged requests are in the database once', async (t) => {
  await load.stop();
  const counted = await load.figures();
  mustHold(t, { ...figures, ...counted });
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
