// An import whose worker is killed or stopped, and whose Redis is emptied: each good row once, none lost (R9).
import '../support/settings/environment.js';
import { truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { config } from '../../config/index.js';
import { select } from '../../src/lib/database/db.js';
import { makeUser } from '../support/factories.js';
import { beforeDatabase } from '../support/servers/faulty-proxy.js';
import {
  beyond,
  concluded,
  errorFileOf,
  expected,
  outcomeOf,
  sheet,
  startImport,
  startImporter,
  startSheet,
  stateOf,
} from '../support/imports.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { emptyRedis } from '../support/servers/redis.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });
let worker: TestProcess;
/** A way to the database that takes its time, so that a short file outlasts what happens to its worker. */
let slow: Awaited<ReturnType<typeof beforeDatabase>>;

test.before(async () => {
  worker = await startImporter();
  slow = await beforeDatabase();
  slow.slow(10);
});

test.after.always(() => slow?.close());

test.serial('an import waits while the storage holds only a part of its file', async (t) => {
  worker.child.kill('SIGSTOP');
  const { user, file, id } = await startSheet(service.admin, 20);
  const [row] = await select<{ key: string }>('SELECT storage_key AS `key` FROM imports WHERE id = ?', [id]);
  const path = join(config.storage.root, row?.key as string);
  await truncate(path, file.content.length - 2);
  worker.child.kill('SIGCONT');
  await until(
    async () => /a stored file lacks 2 bytes/.test(worker.output()) || (await stateOf(id)).concluded,
  );
  t.like(await stateOf(id), { status: 0, position: 0 });
  await writeFile(path, file.content);
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, 20));
});

test.serial('a stored import is answered though the database goes away before it is read', async (t) => {
  const user = (await makeUser(service.admin)).id;
  const file = sheet(user, 20);
  const proxy = await beforeDatabase();
  t.teardown(() => proxy.close());
  const api = await startApi(proxy.env);
  worker.child.kill('SIGSTOP');
  const stored = () => select<{ id: number }>('SELECT MAX(id) AS id FROM imports');
  const [before] = await stored();
  const upload = service.admin.at(api.url).upload('/orders/import', file.content, { filename: 'orders.csv' });
  const id = await until(async () => {
    const [last] = await stored();
    return last?.id === before?.id ? undefined : last?.id;
  });
  proxy.refuse();
  const { status, data, text } = await upload;
  t.is(status, 200, text);
  t.like(data, { import_id: id, status: 0, status_text: '等待处理', total_rows: null, order_count: 0 });
  worker.child.kill('SIGCONT');
  await concluded(data.import_id);
  t.deepEqual(await outcomeOf(data.import_id, user), expected(file, 20));
});

test.serial('an import killed twice imports every valid row once', async (t) => {
  const orders = 7000;
  // A running one might end the import before the upload is answered.
  await worker.kill();
  const { user, file, id } = await startSheet(service.admin, orders);
  let position = 0;
  for (let death = 0; death < 2; death++) {
    worker = await startImporter(slow.env);
    await beyond(id, position);
    await worker.kill();
    ({ position } = await stateOf(id));
    t.true(position < file.rows, 'it was killed in the middle');
    // Without this the job is found when its lock has expired; with it only the sweeper can find the row.
    if (death === 0) await emptyRedis();
  }
  worker = await startImporter();
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));

  // Each row that was not imported is in the error file, once, so that its correction makes the orders that are missing.
  const { bytes, rows } = await errorFileOf(service.admin, id);
  const failed = rows.slice(1).map((cells) => cells.slice(0, 6).join(','));
  const isRefused = (row: string): boolean => /,R\d*9,/.test(row);
  t.deepEqual(failed, file.content.split('\n').filter(isRefused));
  const corrected = await startImport(service.admin, bytes.toString().replaceAll(',bad,', ',1.00,'));
  await concluded(corrected);
  const { order_count } = (await service.admin.get(`/imports/${corrected}`)).data;
  t.is(order_count, orders / 10);
  t.like(await outcomeOf(corrected, user), { failed_count: 0, orders, different: orders });
});

test.serial('a stopped worker hands its import to the next one', async (t) => {
  // Far longer than the test waits: only a job that was given back is taken so soon. The file outlasts
  // half of SHUTDOWN_SECONDS, which the batch at hand has to end.
  const patient = { ...slow.env, JOB_LOCK_SECONDS: '60', SWEEP_AGE_SECONDS: '600', SHUTDOWN_SECONDS: '2' };
  const orders = 15_000;
  await worker.stop();
  const { user, file, id } = await startSheet(service.admin, orders);
  const first = await startImporter(patient);
  await beyond(id, 0);
  t.is(await first.stop(), 0);
  const { status, position } = await stateOf(id);
  t.is(status, 0);
  t.true(position > 0 && position < file.rows, `${position} of ${file.rows} rows`);
  const [, stopping] = first.output().split('"msg":"shutting down"');
  t.notRegex(
    stopping as string,
    /"level":"(error|fatal)"(?!.*"msg":"Redis is)|"level":"warn".*"queue":"imports"/,
  );
  const begun = Date.now();
  await startImporter(patient);
  await beyond(id, position);
  t.true(Date.now() - begun < 30_000, `it went on after ${Date.now() - begun} ms`);
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));
});
