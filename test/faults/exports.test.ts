// Exports survive faults of their worker, of Redis and of its connections: one good file, one notification (docs/promises.md R9).
import '../support/settings/environment.js';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { config } from '../../config/index.js';
import { change, db, insert, select } from '../../src/lib/database/db.js';
import { queuePrefix } from '../../src/lib/queue/names.js';
import { newOrderNumber, periodOf } from '../../src/lib/values/numbers.js';
import { prepareDatabase } from '../../src/models/migrations/schema.js';
import { seed } from '../../src/models/access/seed.js';
import {
  claimExport,
  failExport,
  finishExport,
  type ExportRun,
} from '../../src/models/exports/export-run.js';
import { somePaymentNumber } from '../support/factories.js';
import { Client } from '../support/client.js';
import { openStream } from '../support/events.js';
import { askExport, endOf, fileOf, readCsv } from '../support/exports.js';
import { beforeDatabase } from '../support/servers/faulty-proxy.js';
import { startApi, startWorkerProcess, type TestProcess } from '../support/processes.js';
import { processesTest } from '../support/processes-test.js';
import { startOwnRedis, type OwnRedis } from '../support/servers/redis.js';
import { selectRow } from '../support/rows.js';
import { holding, lockWaits } from '../support/other-connection.js';
import { openSocket, ticketOf } from '../support/socket.js';
import { until } from '../support/until.js';

/** Three pages. */
const orders = 6000;

let redis: OwnRedis;
let admin: Client;
let worker: TestProcess;
let proxy: Awaited<ReturnType<typeof beforeDatabase>>;

const queues = 'exports';

// Without the sweeper's help: what is shown here the queue does by itself, except where a test wants it.
const env = (more: Record<string, string> = {}) => ({
  ...redis.env,
  ...{ SWEEP_SECONDS: '59', SWEEP_AGE_SECONDS: '3600' },
  ...more,
});

processesTest(() => {
  proxy?.close();
  return redis.remove();
});

test.before(async () => {
  [redis, proxy] = await Promise.all([startOwnRedis(), beforeDatabase()]);
  await prepareDatabase(seed);
  await fill();
  const [api, consumer] = await Promise.all([
    startApi(env()),
    // One test holds the row of an export for longer than statements wait.
    startWorkerProcess(env({ DB_LOCK_WAIT_SECONDS: '20' }), queues),
  ]);
  worker = consumer;
  admin = await new Client(api.url).signIn();
});

/** Pending orders of this month, each of one line and with a pending payment. */
async function fill(): Promise<void> {
  const at = new Date();
  const period = periodOf(at);
  await change(
    "INSERT INTO users (id, username, nickname, created_at, updated_at) VALUES (1, 'buyer', 'Buyer', NOW(3), NOW(3))",
  );
  for (let first = 0; first < orders; first += 3000) {
    const numbers = Array.from({ length: 3000 }, () => [newOrderNumber(at), somePaymentNumber(at)] as const);
    await change(
      `INSERT INTO orders (period, order_no, user_id, amount, created_at, updated_at) VALUES
       ${numbers.map(() => '(?, ?, 1, 2.5, ?, ?)').join(', ')}`,
      numbers.flatMap(([order]) => [period, order, at, at]),
    );
    await change(
      `INSERT INTO order_details (period, order_no, product_name, price, quantity, subtotal) VALUES
       ${numbers.map(() => "(?, ?, 'Tea', 2.5, 1, 2.5)").join(', ')}`,
      numbers.flatMap(([order]) => [period, order]),
    );
    await change(
      `INSERT INTO payments (period, payment_no, order_no, user_id, payment_method_id, amount, created_at, updated_at) VALUES
       ${numbers.map(() => '(?, ?, ?, 1, 1, 2.5, ?, ?)').join(', ')}`,
      numbers.flatMap(([order, payment]) => [period, payment, order, at, at]),
    );
  }
}

interface Row {
  status: number;
  storage_key: string | null;
  total_rows: number | null;
}

const rowOf = async (id: number): Promise<Row | undefined> =>
  (await select<Row>('SELECT status, storage_key, total_rows FROM exports WHERE id = ?', [id]))[0];

/** Every file below the storage, also unfinished ones. */
function files(): string[] {
  if (!existsSync(config.storage.root)) return [];
  const entries = readdirSync(config.storage.root, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
}

/** Holds every export that has begun its file before its first page. @returns how to let them continue */
const holdPages = () => holding('LOCK TABLES order_details WRITE');

/** Waits until a run has begun its file, next to the files that were there. @returns its key, and what it writes */
async function running(id: number, before: string[]): Promise<{ key: string; written: string[] }> {
  return until(async () => {
    const row = await rowOf(id);
    if (row?.status !== 0) throw new Error('the export ended before it could be disturbed');
    const written = files().filter((file) => !before.includes(file));
    return row.storage_key !== null && written.length > 0 ? { key: row.storage_key, written } : undefined;
  });
}

/** The export ended well: one whole file of its own, one notification. */
async function isWhole(t: ExecutionContext, id: number): Promise<void> {
  const rows = readCsv(await fileOf(admin, id));
  t.is(rows.length, orders + 1);
  t.is(new Set(rows.map(([number]) => number)).size, orders + 1);
  const row = await rowOf(id);
  t.is(row?.total_rows, orders);
  t.true(files().includes(join(config.storage.root, row?.storage_key ?? '')));
  const notifications = () =>
    select('SELECT id FROM notifications WHERE event_key LIKE ?', [`export-${id}-%`]);
  await until(async () => (await notifications()).length > 0);
  t.is((await notifications()).length, 1);
}

/** Files of runs that ended badly do not count; everything that counts has its row. */
const countedFiles = async (): Promise<number> => {
  const [row] = await select<{ total: number }>(
    "SELECT COUNT(*) AS total FROM stored_files WHERE state = 'kept' AND storage_key LIKE 'exports/%'",
  );
  return row?.total ?? 0;
};

test.serial('progress that waited for its row is stored once, not once for each second', async (t) => {
  const resume = await holdPages();
  const { frames, socket } = await openSocket(admin.url, await ticketOf(admin));
  const id = await askExport(admin, '/orders');
  const key = await until(async () => (await rowOf(id))?.storage_key);
  const release = await holding('SELECT id FROM exports WHERE id = ? FOR UPDATE', [id]);
  await until(async () => (await lockWaits('UPDATE `exports`')) === 1);
  // Six more fall due meanwhile.
  const waitingSince = Date.now();
  await until(() => Date.now() > waitingSince + 6000);
  await release();
  await resume();
  t.is((await endOf(admin, id)).status, 1);
  const steps = (): { status: number }[] =>
    frames.flatMap(({ type, data }) => (type === 'export' ? [data as { status: number }] : []));
  await until(() => steps().some(({ status }) => status === 1));
  t.true(steps().length <= 4, `${steps().length} steps`);
  t.is((await rowOf(id))?.storage_key, key, 'one run, whose lock in the queue was renewed');
  socket.close();
  t.is((await admin.delete(`/exports/${id}`)).status, 200);
});

test.serial('the export of a killed worker is run once by another', async (t) => {
  const before = files();
  const resume = await holdPages();
  const id = await askExport(admin, '/orders');
  const { key } = await running(id, before);
  await worker.kill();
  await resume();
  worker = await startWorkerProcess(env(), queues);
  const begun = Date.now();
  await until(async () => (await rowOf(id))?.storage_key !== key, 30_000);
  t.true(Date.now() - begun < 20_000, 'taken up within 20 s');
  await isWhole(t, id);
  t.is(await countedFiles(), 1);
});

test.serial('a worker frozen past its lock leaves the export to another', async (t) => {
  const before = files();
  const resume = await holdPages();
  const id = await askExport(admin, '/orders');
  const { written } = await running(id, before);
  worker.child.kill('SIGSTOP');
  await resume();
  const second = await startWorkerProcess(env({ SWEEP_SECONDS: '1', SWEEP_AGE_SECONDS: '2' }), queues);
  await until(async () => (await rowOf(id))?.status === 1, 40_000);
  worker.child.kill('SIGCONT');
  await until(() => !files().some((file) => written.includes(file)));
  await isWhole(t, id);
  await worker.kill();
  worker = second;
});

test.serial('of two runs of an export at once the later one ends it', async (t) => {
  const id = await insert(
    `INSERT INTO exports (admin_id, type, format, filter, language, filename, created_at, updated_at)
     VALUES (1, 'users', 'csv', '{}', 'en-US', 'f.csv', NOW(3), NOW(3))`,
  );
  const [earlier, later] = [await claimExport(id), await claimExport(id)] as [ExportRun, ExportRun];
  t.false(await finishExport(earlier, 1, 1));
  t.true(await finishExport(later, 1, 1));
  await failExport(id);
  t.like(await rowOf(id), { status: 1, storage_key: later.key });
  const stored = await select('SELECT storage_key, state FROM stored_files WHERE storage_key IN (?)', [
    [earlier.key, later.key],
  ]);
  t.deepEqual(stored, [{ storage_key: later.key, state: 'kept' }]);
  t.is((await admin.delete(`/exports/${id}`)).status, 200);
});

test.serial('an export continues while Redis is emptied', async (t) => {
  const before = files();
  const resume = await holdPages();
  const first = await askExport(admin, '/orders');
  const second = await askExport(admin, '/orders', { status: 'pending' });
  await running(first, before);
  await redis.run('FLUSHALL');
  await resume();
  await isWhole(t, first);
  await isWhole(t, second);
});

test.serial('an export continues while Redis restarts', async (t) => {
  const before = files();
  const resume = await holdPages();
  const id = await askExport(admin, '/orders');
  await running(id, before);
  await redis.stop('SIGKILL');
  await redis.start();
  await resume();
  await isWhole(t, id);
});

test.serial('a repeated request joins the running export', async (t) => {
  const [one, same, other] = await Promise.all([
    askExport(admin, '/orders', { user_id: 1 }),
    askExport(admin, '/orders', { user_id: 1 }),
    askExport(admin, '/orders', { user_id: 1 }, { 'X-Timezone': 'Asia/Shanghai' }),
  ]);
  t.is(one, same);
  t.not(one, other);
  await Promise.all([endOf(admin, one), endOf(admin, other)]);
  const later = await askExport(admin, '/orders', { user_id: 1 });
  t.not(later, one, 'an ended one is not asked for again');
  await endOf(admin, later);
  // An open snapshot would hold up every ALTER. InnoDB looks anew only when nobody has asked for 100 ms.
  const open = () =>
    select(
      `SELECT p.id FROM information_schema.innodb_trx t JOIN information_schema.processlist p ON p.id = t.trx_mysql_thread_id
       WHERE p.db = DATABASE()`,
    );
  t.true(await until(async () => (await open()).length === 0, 45_000, 200));
});

for (const format of ['csv', 'xlsx']) {
  test.serial(`a running ${format} export stops when it is deleted`, async (t) => {
    const before = files();
    const resume = await holdPages();
    const id = await askExport(admin, '/orders', { format });
    const stream = await openStream(admin, `/exports/${id}/progress`);
    await running(id, before);
    t.is((await admin.delete(`/exports/${id}`)).status, 200);
    // It does not wait for what it reads, which would fail after 30 s.
    await until(() => files().length === before.length, 20_000);
    await resume();
    await stream.ended;
    t.like(stream.events.at(-1)?.data, { id, status: 2, error_msg: '导出已取消' });
    t.deepEqual(files(), before);
    t.is((await admin.get(`/exports/${id}`)).status, 404);
    t.is((await select('SELECT 1 FROM notifications WHERE event_key LIKE ?', [`export-${id}-%`])).length, 0);
  });
}

test.serial('an export is a snapshot of one instant', async (t) => {
  let flips = 0;
  let over = false;
  // Order and payment change together; every transaction leaves all of them in one state.
  const flipping = (async () => {
    while (!over) {
      const status = flips % 2 === 0 ? 'paid' : 'pending';
      await db.transaction(async (transaction) => {
        const t = transaction;
        await change('UPDATE orders SET status = ?', [status], t);
        await change('UPDATE payments SET status = ?', [status], t);
        await change(
          'INSERT INTO orders (period, order_no, user_id, amount, status, created_at, updated_at) VALUES (?, ?, 1, 1, ?, NOW(3), NOW(3))',
          [periodOf(new Date()), newOrderNumber(new Date()), status],
          t,
        );
      });
      flips++;
    }
  })();
  let sizes = 0;
  for (const path of ['/orders', '/payments', '/orders', '/payments']) {
    const before = flips;
    const rows = readCsv(
      await fileOf(admin, await askExport(admin, path, {}, { 'Accept-Language': 'en-US' })),
    ).slice(1);
    const states = new Set(rows.map((row) => row[path === '/orders' ? 4 : 7]));
    t.is(states.size, 1, `${path} is in one state: ${[...states].join()}`);
    if (path === '/orders') t.true(rows.length >= orders && rows.length <= orders + flips + 1);
    sizes += flips - before;
  }
  over = true;
  await flipping;
  t.true(sizes > 0, 'changes were made while the files were written');
});

/** Whether the queue has that job, or what it stores beside it. */
const isQueued = async (id: number, part = '') =>
  (await redis.run('EXISTS', `${queuePrefix('exports')}:exports:write-export-${id}${part}`)) === 1;

test.serial('an export completes after its snapshot goes silent', async (t) => {
  await worker.stop();
  // A read of an export may take as long as this; by default it is longer.
  worker = await startWorkerProcess({ ...redis.env, ...proxy.env, DB_BULK_SECONDS: '5' }, queues);
  const { count } = await selectRow<{ count: number }>('SELECT COUNT(*) AS count FROM orders');
  for (const loss of ['everything', 'answers'] as const) {
    proxy.forgetAt('CONSISTENT SNAPSHOT', loss);
    const begun = Date.now();
    const silent = await askExport(admin, '/orders', {}, { 'X-Timezone': 'Asia/Shanghai' });
    await until(() => proxy.armed === 0);
    const other = await askExport(admin, '/users');
    t.is((await endOf(admin, other)).status, 1);
    const otherMs = Date.now() - begun;
    const rows = readCsv(await fileOf(admin, silent));
    const ms = Date.now() - begun;
    t.is(rows.length, count + 1);
    t.true(ms < 60_000, `completed after ${ms} ms`);
    const notifications = await select('SELECT id FROM notifications WHERE event_key LIKE ?', [
      `export-${silent}-%`,
    ]);
    t.true(notifications.length <= 1);
    t.log(`${loss} lost: the other after ${otherMs} ms, recovery ${ms} ms`);
  }
});

test.serial('deleted exports whose reads are silent leave their slots to others', async (t) => {
  const silent: number[] = [];
  for (const status of ['cancelled', 'paid']) {
    proxy.forgetAt('FROM orders');
    silent.push(await askExport(admin, '/orders', { status }));
    await until(() => proxy.armed === 0);
  }
  for (const id of silent) t.is((await admin.delete(`/exports/${id}`)).status, 200);
  for (const id of silent) await until(async () => !(await isQueued(id)));
  t.is((await endOf(admin, await askExport(admin, '/users'))).status, 1);
});

test.serial('an export whose last COMMIT was not answered keeps its file', async (t) => {
  let isEnding = false;
  proxy.decide((said) => {
    // The transaction also stores the notification.
    isEnding ||= said.includes('导出完成');
    if (!isEnding || !said.includes('COMMIT')) return undefined;
    proxy.decide();
    return 'cut by the answer';
  });
  const id = await askExport(admin, '/orders', { status: 'cancelled' });
  t.is((await endOf(admin, id)).status, 1);
  // The job runs again, and finds nothing to do.
  await until(async () => !(await isQueued(id)), 20_000);
  t.is(readCsv(await fileOf(admin, id)).length, 1);
});

test.serial('a lone worker frozen past its lock runs the export once more', async (t) => {
  await worker.kill();
  worker = await startWorkerProcess({ ...redis.env, ...proxy.env, JOB_LOCK_SECONDS: '2' }, queues);
  proxy.forgetAt('COUNT(*) FROM orders o');
  const id = await askExport(admin, '/orders', { status: 'cancelled' });
  const rowOf = () =>
    selectRow<{ storage_key: string; age: number }>(
      'SELECT storage_key, TIMESTAMPDIFF(SECOND, created_at, updated_at) AS age FROM exports WHERE id = ?',
      [id],
    );
  await until(() => proxy.armed === 0);
  const first = await rowOf();
  worker.child.kill('SIGSTOP');
  await until(async () => !(await isQueued(id, ':lock')));
  proxy.forgetAt('COUNT(*) FROM orders o');
  worker.child.kill('SIGCONT');
  await until(() => proxy.armed === 0);
  const second = await rowOf();
  t.not(second.storage_key, first.storage_key);
  // The first run has ended: whose lock is renewed shows when that of the second one has had time to expire.
  await until(async () => (await rowOf()).age > second.age + 8);
  t.is((await rowOf()).storage_key, second.storage_key);
  t.is((await admin.delete(`/exports/${id}`)).status, 200);
  await until(async () => !(await isQueued(id)));
});
