// A snapshot whose connection goes silent: its run times out, another run completes the export, and no other job waits.
import '../support/environment.js';
import test from 'ava';
import { Queue } from 'bullmq';
import { select } from '../../src/lib/database/db.js';
import { queuePrefix } from '../../src/lib/queue/names.js';
import { closeConnection, openConnection } from '../../src/lib/redis/connection.js';
import { askExport, endOf, fileOf, readCsv } from '../support/exports.js';
import { makeOrder } from '../support/factories.js';
import { startWorkerProcess, type TestProcess } from '../support/processes.js';
import { beforeDatabase } from '../support/faulty-proxy.js';
import { selectRow } from '../support/rows.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const orders = 5;

const connection = openConnection('test', {});
const queue = new Queue('exports', { prefix: queuePrefix('exports'), connection });

const service = serviceTest({ withWorker: false });
let proxy: Awaited<ReturnType<typeof beforeDatabase>>;
let worker: TestProcess;

test.before(async () => {
  proxy = await beforeDatabase();
  // A read of an export may take as long as this; by default it is longer.
  worker = await startWorkerProcess({ ...proxy.env, DB_BULK_SECONDS: '5' }, 'exports');
  await Promise.all(Array.from({ length: orders }, () => makeOrder(service.admin)));
});

test.after.always(async () => {
  proxy?.close();
  await queue.close();
  closeConnection(connection);
});

for (const loss of ['everything', 'answers'] as const) {
  test.serial(`an export completes after its snapshot goes silent (${loss} lost)`, async (t) => {
    proxy.forgetAt('CONSISTENT SNAPSHOT', loss);
    const begun = Date.now();
    const silent = await askExport(service.admin, '/orders', {}, { 'X-Timezone': 'Asia/Shanghai' });
    await until(() => proxy.armed === 0);
    const other = await askExport(service.admin, '/users');
    t.is((await endOf(service.admin, other)).status, 1);
    const otherMs = Date.now() - begun;
    const rows = readCsv(await fileOf(service.admin, silent));
    const ms = Date.now() - begun;
    t.is(rows.length, orders + 1);
    t.true(ms < 60_000, `completed after ${ms} ms`);
    const notifications = await select('SELECT id FROM notifications WHERE event_key LIKE ?', [
      `export-${silent}-%`,
    ]);
    t.true(notifications.length <= 1);
    t.log(`faults injected 1, exports asked 2, the other after ${otherMs} ms, recovery ${ms} ms`);
  });
}

test.serial('deleted exports whose reads are silent leave their slots to others', async (t) => {
  const silent: number[] = [];
  for (const status of ['cancelled', 'paid']) {
    proxy.forgetAt('FROM orders');
    silent.push(await askExport(service.admin, '/orders', { status }));
    await until(() => proxy.armed === 0);
  }
  for (const id of silent) t.is((await service.admin.delete(`/exports/${id}`)).status, 200);
  for (const id of silent) await until(async () => (await queue.getJob(`write-export-${id}`)) === undefined);
  t.is((await endOf(service.admin, await askExport(service.admin, '/users'))).status, 1);
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
  const id = await askExport(service.admin, '/orders', { status: 'cancelled' });
  t.is((await endOf(service.admin, id)).status, 1);
  // The job runs again, and finds nothing to do.
  await until(async () => (await queue.getJob(`write-export-${id}`)) === undefined, 20_000);
  t.is(readCsv(await fileOf(service.admin, id)).length, 1);
});

test.serial('a lone worker frozen past its lock runs the export once more', async (t) => {
  await worker.kill();
  worker = await startWorkerProcess({ ...proxy.env, JOB_LOCK_SECONDS: '2' }, 'exports');
  proxy.forgetAt('COUNT(*) FROM orders o');
  const id = await askExport(service.admin, '/orders', { status: 'cancelled' });
  const rowOf = () =>
    selectRow<{ storage_key: string; age: number }>(
      'SELECT storage_key, TIMESTAMPDIFF(SECOND, created_at, updated_at) AS age FROM exports WHERE id = ?',
      [id],
    );
  await until(() => proxy.armed === 0);
  const first = await rowOf();
  worker.child.kill('SIGSTOP');
  const lock = `${queuePrefix('exports')}:exports:write-export-${id}:lock`;
  await until(async () => (await connection.exists(lock)) === 0);
  proxy.forgetAt('COUNT(*) FROM orders o');
  worker.child.kill('SIGCONT');
  await until(() => proxy.armed === 0);
  const second = await rowOf();
  t.not(second.storage_key, first.storage_key);
  // The first run has ended: whose lock is renewed shows when that of the second one has had time to expire.
  await until(async () => (await rowOf()).age > second.age + 8);
  t.is((await rowOf()).storage_key, second.storage_key);
  t.is((await service.admin.delete(`/exports/${id}`)).status, 200);
  await until(async () => (await queue.getJob(`write-export-${id}`)) === undefined);
});
