// Two runs of one import at once, one of them frozen past its lock; and a file larger than the memory it may take.
import '../support/settings/environment.js';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { config } from '../../config/index.js';
import { patientRedis as redis } from '../../src/lib/redis/redis.js';
import { makeUser } from '../support/factories.js';
import {
  beyond,
  concluded,
  errorFileOf,
  expected,
  outcomeOf,
  startImporter,
  startSheet,
} from '../support/imports.js';
import { startApi, type TestProcess } from '../support/processes.js';
import { emptyRedis } from '../support/servers/redis.js';
import { serviceTest } from '../support/service-test.js';
import { until } from '../support/until.js';

const service = serviceTest({ withWorker: false });

test.serial('a run frozen past its lock imports nothing twice', async (t) => {
  const orders = 20_000;
  const { user, file, id } = await startSheet(service.admin, orders);
  const first = await startImporter();
  await beyond(id, 0);
  first.child.kill('SIGSTOP');
  const lock = `{${config.redis.prefix}-imports}:imports:import-orders-${id}:lock`;
  const held = await redis.get(lock);
  const second = await startImporter();
  // The second one has the job now; it may have to wait for rows that the frozen one has locked.
  await until(async () => ![null, held].includes(await redis.get(lock)), 60_000);
  first.child.kill('SIGCONT');
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));
  for (const worker of [first, second]) t.is(await worker.stop(), 0);
});

test.serial('two workers with one import share it without duplicates', async (t) => {
  const orders = 10_000;
  const { user, file, id } = await startSheet(service.admin, orders);
  const first = await startImporter();
  await beyond(id, 0);
  await emptyRedis();
  const second = await startImporter();
  await concluded(id);
  t.deepEqual(await outcomeOf(id, user), expected(file, orders));
  for (const worker of [first, second]) await worker.stop();
});

/** The largest resident set it ever had, in MB. */
function peakOf({ child }: TestProcess): number {
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1000;
}

test.serial('a large file is never held in memory as a whole', async (t) => {
  const user = (await makeUser(service.admin)).id;
  const env = { NODE_OPTIONS: '--max-old-space-size=128' };
  const [api, worker] = [await startApi(env), await startImporter(env)];
  const row = `${user},${'长'.repeat(20_000)}\n`;
  const content = `user_id,remark,amount\n${row.repeat(3400)}`;
  t.true(Buffer.byteLength(content) > 200e6);
  const caller = service.admin.at(api.url);
  const { data, text } = await caller.upload('/orders/import', content, { filename: 'large.csv' });
  t.truthy(data, text);
  // Nearly a minute alone, on two slow cores.
  await concluded(data.import_id, 300_000);
  t.like((await caller.get(`/imports/${data.import_id}`)).data, { status: 1, failed_count: 3400 });
  t.is((await errorFileOf(caller, data.import_id)).rows.length, 1 + 3400);
  for (const process of [api, worker]) {
    t.true(peakOf(process) < 320, `${peakOf(process)} MB`);
    await process.stop();
  }
});
