// A database that answers but takes no writes: demoted, without its cluster, full, locked. Everything is answered 503 with
// Retry-After and never 500, nothing is made twice, and a server that has become read-only is left.
import '../support/settings/environment.js';
import test, { type ExecutionContext } from 'ava';
import type { Connection } from 'mysql2/promise';
import { Client, type Answer } from '../support/client.js';
import { startOwnDatabase, type OwnDatabase } from '../support/servers/database.js';
import { callBack, makeMethod, makePayment, makeUser, unique } from '../support/factories.js';
import {
  killProcesses,
  runCli,
  startApi,
  startWorkerProcess,
  type TestProcess,
} from '../support/processes.js';
import { mustHold } from '../support/figures.js';
import { databaseEnv, FaultyProxy } from '../support/servers/faulty-proxy.js';
import { until } from '../support/until.js';

/** Read-only, a read-only transaction, read-only mode, Galera without its cluster, Group Replication without its group. */
const demoted = [1290, 1792, 1836, 1047, 3100, 3101];
/** Full, also for the files of a sort, which has a number of its own when killed; out of memory or connections, going down, ended, behind a proxy that finds no server. */
const unavailable = [
  3, 1021, 1026, 1028, 1030, 1037, 1040, 1041, 1053, 1114, 1180, 1317, 1927, 1969, 3024, 4031, 9001,
];
/** A deadlock, or a failed certification of Galera; an AUTO_INCREMENT lock: rerun until the deadline. */
const locked = [1213, 1467];

const recoveryMs = 15_000;

let database: OwnDatabase;
let successor: OwnDatabase;
let proxy: FaultyProxy;
let hand: Connection;
let worker: TestProcess;
let admin: Client;
let methodId: number;
let env: Record<string, string>;

const figures = { faults: 0, sent: 0, acknowledged: 0, worstHangMs: 0, worstRecoveryMs: 0 };

test.before(async () => {
  [database, successor] = await Promise.all([startOwnDatabase(), startOwnDatabase(['--autocommit=0'])]);
  proxy = await FaultyProxy.start(database.port);
  env = { ...database.env, ...databaseEnv(proxy.port) };
  const [api, consumer] = await Promise.all([
    startApi(env),
    startWorkerProcess(env, 'payments,logs'),
    // Gives the successor its tables and its administrator.
    runCli(['migrate', 'up'], successor.env),
  ]);
  worker = consumer;
  admin = await new Client(api.url).signIn();
  methodId = (await makeMethod(admin)).id;
  hand = await database.connect();
  await hand.query('CREATE TABLE faults (code INT NOT NULL)');
  await hand.query('INSERT INTO faults VALUES (0)');
  // What is written here stays when the statement fails.
  await hand.query('CREATE TABLE refusals (code INT NOT NULL, connection BIGINT NOT NULL) ENGINE=MyISAM');
  for (const table of ['orders', 'payment_callbacks', 'user_balance_logs']) {
    await hand.query(
      `CREATE TRIGGER refuse_${table} BEFORE INSERT ON ${table} FOR EACH ROW
       BEGIN
         DECLARE fault INT DEFAULT (SELECT code FROM faults);
         IF fault > 0 THEN
           INSERT INTO refusals VALUES (fault, CONNECTION_ID());
           SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = fault, MESSAGE_TEXT = 'provoked';
         END IF;
       END`,
    );
  }
});

test.after.always(async () => {
  await killProcesses();
  hand?.destroy();
  proxy?.close();
  await Promise.all([database, successor].map((server) => server?.remove()));
});

interface Write {
  send: () => Promise<Answer>;
  /** How often it has taken effect. */
  count: () => Promise<number>;
}

/** An order, a callback and a balance change, all of them repeatable. */
async function writes(): Promise<Write[]> {
  const [{ id: user_id }, payment] = await Promise.all([makeUser(admin), makePayment(admin, methodId)]);
  const order = { user_id, details: [{ product_name: 'Tea', price: '1.00', quantity: 1 }] };
  const change = { type: 'income', amount: '1.00', request_id: unique('r') };
  const headers = { 'Idempotency-Key': unique('key') };
  const counted = (sql: string, value: string | number) => async () =>
    (await database.select(sql, [value])).length;
  return [
    {
      send: () => admin.post('/orders', order, headers),
      count: counted('SELECT id FROM orders WHERE user_id = ?', user_id),
    },
    {
      send: () => callBack(admin, payment),
      count: counted(
        `SELECT id FROM payment_callbacks WHERE payment_no = ? AND verdict = 'paid'`,
        payment.payment_no,
      ),
    },
    {
      send: () => admin.post(`/users/${user_id}/update-balance`, change),
      count: counted('SELECT id FROM user_balance_logs WHERE request_id = ?', change.request_id),
    },
  ];
}

async function timed(send: () => Promise<Answer>): Promise<Answer> {
  const begun = Date.now();
  figures.sent++;
  const answer = await send();
  figures.worstHangMs = Math.max(figures.worstHangMs, Date.now() - begun);
  if (answer.status === 200) figures.acknowledged++;
  return answer;
}

function isRefused(t: ExecutionContext, { status, errorCode, headers, text }: Answer, why: string): void {
  t.deepEqual([status, headers.get('retry-after') !== null], [503, true], `${why}: ${text}`);
  t.true(['database_unavailable', 'database_busy'].includes(errorCode ?? ''), `${why}: ${text}`);
}

/** All are refused while the fault lasts, and take effect once after it. */
async function areRefused(
  t: ExecutionContext,
  why: string,
  { provoke, repair }: { provoke: () => Promise<unknown>; repair: () => Promise<unknown> },
): Promise<void> {
  const prepared = await writes();
  await provoke();
  figures.faults++;
  try {
    for (const answer of await Promise.all(prepared.map(({ send }) => timed(send))))
      isRefused(t, answer, why);
  } finally {
    await repair();
  }
  const begun = Date.now();
  for (const { send, count } of prepared) {
    t.is(await count(), 0, `${why}: refused, so not made`);
    await until(async () => (await timed(send)).status === 200, recoveryMs);
    t.is((await timed(send)).status, 200);
    await until(async () => (await count()) > 0);
    t.is(await count(), 1, `${why}: made once`);
  }
  figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, Date.now() - begun);
}

for (const [name, codes] of Object.entries({ demoted, unavailable, locked })) {
  test.serial(`${name}: every error of that kind is answered 503 with Retry-After`, async (t) => {
    for (const code of codes) {
      await hand.query('TRUNCATE refusals');
      await areRefused(t, String(code), {
        provoke: () => hand.query('UPDATE faults SET code = ?', [code]),
        repair: () => hand.query('UPDATE faults SET code = 0'),
      });
      const rows = await database.select<{ connection: number }>('SELECT connection FROM refusals');
      const refusing = new Set(rows.map(({ connection }) => connection));
      t.true(refusing.size > 0, `${code} was provoked`);
      if (codes === demoted)
        await until(async () => !(await database.connections()).some(({ id }) => refusing.has(id)));
    }
  });
}

test.serial('a row locked too long is answered 503 with Retry-After', async (t) => {
  const balance = (await writes())[2] as Write;
  await hand.query('START TRANSACTION');
  await hand.query('SELECT id FROM users FOR UPDATE');
  figures.faults++;
  isRefused(t, await timed(balance.send), '1205');
  await hand.query('ROLLBACK');
  t.is(await balance.count(), 0);
  t.is((await timed(balance.send)).status, 200);
  t.is(await balance.count(), 1);
});

test.serial('a read-only database is answered 503 until it takes writes again', async (t) => {
  t.is((await admin.get('//readyz')).status, 200);
  await areRefused(t, 'read-only', {
    provoke: () => hand.query('SET GLOBAL read_only = 1'),
    async repair() {
      const { status, code } = await admin.get('//readyz');
      t.deepEqual([status, code], [503, 50002]);
      t.is((await admin.get('//healthz')).status, 200);
      await hand.query('SET GLOBAL read_only = 0');
      t.is((await admin.get('//readyz')).status, 200);
    },
  });
});

test.serial('commands say in one sentence that a read-only database takes no writes', async (t) => {
  await hand.query('SET GLOBAL read_only = 1');
  figures.faults++;
  const [doctor, renewal] = await Promise.all(
    [['doctor'], ['cache', 'renew']].map((args) => runCli(args, env)),
  );
  await hand.query('SET GLOBAL read_only = 0');
  t.regex(doctor?.output ?? '', /^database +fault .*takes no writes/m);
  t.is(renewal?.errors.match(/read-only/g)?.length, 1, renewal?.errors);
  t.is(renewal?.errors.trim().split('\n').length, 1, renewal?.errors);
  t.deepEqual([doctor?.code, renewal?.code], [1, 1]);
});

test.serial('entries of the log that a read-only database refuses make no further ones', async (t) => {
  const before = worker.output().length;
  const output = () => worker.output().slice(before);
  await hand.query('SET GLOBAL read_only = 1');
  figures.faults++;
  isRefused(t, await timed(() => admin.post('/users', { username: unique() })), 'read-only');
  await until(() => /"job":"write-logs".*"attempt":2,.*"outcome":"failed"/.test(output()));
  t.notRegex(output(), /Rolling back transaction/);
  await hand.query('SET GLOBAL read_only = 0');
  const kept = `SELECT id FROM system_logs WHERE message LIKE 'jobs failed%'`;
  await until(async () => (await database.select(kept)).length > 0);
});

test.serial('a demoted primary is left for its successor', async (t) => {
  await worker.stop();
  t.is((await admin.get('/orders?keyword=x')).status, 200);
  const [order] = await writes();
  await hand.query('SET GLOBAL read_only = 1');
  isRefused(t, await timed((order as Write).send), 'demoted');
  proxy.leadTo(successor.port);
  figures.faults++;
  const begun = Date.now();
  const promoted = await until(() => admin.signIn().catch(() => undefined), recoveryMs);
  await until(async () => {
    const paths = ['/orders?keyword=x', '/users', '//readyz'];
    const answers = await Promise.all(paths.map((path) => promoted.get(path)));
    const isLeft = (await database.connections()).every(({ restedSeconds }) => restedSeconds >= 3);
    return isLeft && answers.every(({ status }) => status === 200);
  }, recoveryMs);
  const ms = Date.now() - begun;
  figures.worstRecoveryMs = Math.max(figures.worstRecoveryMs, ms);
  t.true(ms < recoveryMs, `left after ${ms} ms`);
  const { id } = await makeUser(promoted);
  t.is((await successor.select('SELECT id FROM users WHERE id = ?', [id])).length, 1);
  // Without a transaction each statement commits, also where the server does not commit by itself.
  const kept = `SELECT trx_id FROM information_schema.innodb_trx
    JOIN information_schema.processlist ON id = trx_mysql_thread_id WHERE command = 'Sleep'`;
  await until(async () => (await successor.select(kept)).length === 0, 2000);
});

test.serial('no request hung', (t) => {
  mustHold(t, figures);
});

test('a full disk is answered 503 until there is room again', async (t) => {
  // Its log (MariaDB's option, and MySQL's) and the steps in which it grows are within what a file may have.
  const small = [
    ...['--loose-innodb-log-file-size=16M', '--loose-innodb-redo-log-capacity=16M'],
    '--innodb-autoextend-increment=4',
  ];
  const full = await startOwnDatabase(small, 40 * 1024);
  try {
    const api = await startApi(full.env);
    const caller = await new Client(api.url).signIn();
    const { id: user_id } = await makeUser(caller);
    const details = Array.from({ length: 50 }, () => ({
      product_name: 'x'.repeat(100),
      price: '1',
      quantity: 1,
    }));
    const place = () => caller.post('/orders', { user_id, details });
    t.is((await place()).status, 200);
    const connection = await full.connect();
    for (const lines of [10_000, 100]) {
      const fill = `INSERT INTO order_details (period, order_no, product_name, price, quantity, subtotal)
        SELECT one.period, one.order_no, one.product_name, 1, 1, 1 FROM order_details one
        JOIN order_details other LIMIT ${lines}`;
      await t.throwsAsync(
        until(() => connection.query(fill).then(() => false), 60_000),
        { code: 'ER_RECORD_FILE_FULL' },
      );
    }
    const refused = await until(async () => {
      const answer = await place();
      return answer.status === 200 ? undefined : answer;
    });
    isRefused(t, refused, 'full');
    connection.destroy();
    await full.stop('SIGKILL');
    full.fileLimit = undefined;
    await full.start();
    await until(async () => (await place()).status === 200);
  } finally {
    await full.remove();
  }
});
